package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// AmendOptions of a skip or an edit. The zero value means the defaults.
type AmendOptions struct {
	Reason string // for the audit; it may be any text
	// Proof and Unproven are as in ResetOptions. Neither is needed if no event is taken back.
	Proof        *Node
	Unproven     bool
	KeepChildren bool // as in ResetOptions
	DryRun       bool // only say what would be done
}

// StepResult names the step that an edit is about. One of its fields is set.
type StepResult struct {
	Event journal.Seq // the number of its outcome in the present generation
	Cmd   journal.Cmd // as descriptions and histories have it
	Name  string      // of a step without an outcome; if no such step has the name, of the first outcome
}

// SkipMessage leaves a message out of a run, such as a signal on which its code panics, and lets it
// go on as its next generation (J13). The message is known by its number: that of Description.Inbox
// while the run has not consumed it, else that of the event that did. Such an event and all behind
// it are taken back, as by [Client.Reset]; else nothing is. All other messages come, in their
// order, requests to cancel too. The message and its idempotency key stay in the store; who has
// sent an update hears an error that matches [ErrAborted], unless it was answered before. To have a
// message that was meant otherwise, send that, and skip the other. Only a reset of the run to
// [RunStart] has the message again, since that begins with all there ever were.
//
// Answers of children and of signals cannot be left out: code waits for them.
//
// Errors: those of [Client.Reset]; a *[PointError] if there is no such message.
func SkipMessage(ctx context.Context, c *Client, run journal.RunID, message journal.InboxSeq, o *AmendOptions) (*Rewinding, error) {
	return skip(ctx, c, run, func(ctx context.Context, dry bool) (*plan, error) { return skipPlan(ctx, c, run, message, dry) }, o)
}

// SkipMessageNamed is [SkipMessage] for a signal or an update that is known by its name: the one
// that the run has yet to consume, or if there is none, the one that its present generation has
// consumed. It is for many runs that have got the same.
//
// Errors: those of SkipMessage; a *[PointError] also if there are several, with their numbers;
// journal.ErrInvalid for what is no name.
func SkipMessageNamed(ctx context.Context, c *Client, run journal.RunID, name string, o *AmendOptions) (*Rewinding, error) {
	if err := journal.CheckName("message", name); err != nil {
		return nil, fmt.Errorf("skip run %s: %w", run, err)
	}
	return skip(ctx, c, run, func(ctx context.Context, _ bool) (*plan, error) { return skipNamedPlan(ctx, c, run, name) }, o)
}

func skip(ctx context.Context, c *Client, run journal.RunID, point func(ctx context.Context, dry bool) (*plan, error), o *AmendOptions) (*Rewinding, error) {
	if o == nil {
		o = &AmendOptions{}
	}
	plan := func(ctx context.Context) (*plan, error) {
		p, err := point(ctx, o.DryRun)
		if err != nil {
			return nil, err
		}
		p.names = o.DryRun
		return p, o.prove(ctx, p)
	}
	call := Call{Kind: SkipCall, Run: run, Payload: o.Reason}
	return rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminSkip, Reason: o.Reason}, plan, o.DryRun)
}

// EditStep gives a step of a run another result, or one that it has not got and perhaps never gets,
// and lets the run go on as its next generation (J13): the step is not executed for it, nor tried
// again. Its outcome, if it has one, and all events behind that are taken back, as by
// [Client.Reset]; all messages come again. An attempt of the step that a node executes ends as by
// [Client.Terminate], and so do those of other steps, which begin anew. A paused run stays paused,
// and several steps of it can be edited one after the other: what each was given stays.
//
// To have the result in another run instead, fork it with ForkOptions.Results.
//
// Errors: those of [Client.Reset]; a *[PointError] if there is no such step, or more than one.
func EditStep(ctx context.Context, c *Client, run journal.RunID, step StepResult, result any, o *AmendOptions) (*Rewinding, error) {
	if o == nil {
		o = &AmendOptions{}
	}
	if err := step.check(); err != nil {
		return nil, fmt.Errorf("edit run %s: %w", run, err)
	}
	plan := func(ctx context.Context) (*plan, error) {
		h, err := rewindable(ctx, c, run, o.DryRun)
		if err != nil {
			return nil, err
		}
		cmd, ev, err := step.find(h)
		if err != nil {
			return nil, err
		}
		p := newPlan(h, latest(h), true)
		edited := ReplacedStep{Name: p.issued(cmd).Name}
		if ev != nil {
			p = newPlan(h, ev.Seq-1, true)
			edited.Seq, edited.Was, edited.Failed = ev.Seq, ev.Payload, ev.Kind == journal.StepFailed
			p.out.Steps = slices.DeleteFunc(p.out.Steps, func(s RepeatedStep) bool { return s.Seq == ev.Seq })
		}
		if edited.New, err = c.j.Encode("result of step "+edited.Name, result); err != nil {
			return nil, err
		}
		p.w.Given = []driver.Given{{Cmd: cmd, Name: edited.Name, Output: edited.New}}
		p.w.Messages, p.out.Replaced = driver.Again{Cancel: true}, []ReplacedStep{edited}
		p.keepGiven()
		p.names = o.DryRun
		return p, o.prove(ctx, p)
	}
	call := Call{Kind: EditCall, Run: run, Payload: o.Reason}
	return rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminEdit, Reason: o.Reason}, plan, o.DryRun)
}

func (s StepResult) check() error {
	set := 0
	for _, is := range []bool{s.Event != 0, s.Cmd != 0, s.Name != ""} {
		if is {
			set++
		}
	}
	if set != 1 || s.Event < 0 || s.Cmd < 0 {
		return fmt.Errorf("a step is named by its event, its command or its name, and by one of them: %w", journal.ErrInvalid)
	}
	return nil
}

// find returns the command of the step, and the event that has its outcome; nil if it has none.
func (s StepResult) find(h *driver.History) (cmd journal.Cmd, outcome *journal.Event, err error) {
	if s.Event > 0 {
		if int(s.Event) > len(h.Events) {
			return 0, nil, refusePoint(h, "there is no event %d: its present generation has %d", s.Event, len(h.Events))
		}
		ev := &h.Events[s.Event-1]
		if !ev.Kind.EndsStep() {
			return 0, nil, refusePoint(h, "event %d is %s %s: only outcomes of steps can be replaced", s.Event, ev.Kind, ev.Name)
		}
		return ev.Cmd, ev, nil
	}
	if s.Cmd == 0 {
		var open []string
		for _, p := range openSteps(h) {
			if p.Name == s.Name {
				cmd, open = p.Cmd, append(open, fmt.Sprint(p.Cmd))
			}
		}
		if len(open) > 1 {
			return 0, nil, refusePoint(h, "%d steps %s have no outcome: choose one by its command, of %s", len(open), s.Name, strings.Join(open, ", "))
		}
	}
	for i := range h.Events {
		if ev := &h.Events[i]; cmd == 0 && ev.Kind.EndsStep() && (ev.Cmd == s.Cmd || s.Cmd == 0 && ev.Name == s.Name) {
			return ev.Cmd, ev, nil
		}
	}
	for _, p := range openSteps(h) {
		if p.Cmd == s.Cmd || p.Cmd == cmd {
			return p.Cmd, nil, nil
		}
	}
	if s.Cmd != 0 {
		return 0, nil, refusePoint(h, "command %d of its present generation is no step", s.Cmd)
	}
	return 0, nil, refusePoint(h, "no step %q is in its present generation", s.Name)
}

// openSteps are the steps without an outcome: those of a closed run get none.
func openSteps(h *driver.History) []PendingStep {
	if h.Run.Task == nil {
		return nil
	}
	d := &Description{}
	d.pending(h.Run.Task, h.Events)
	return d.Steps
}

// issued is a command of the kept events.
func (p *plan) issued(cmd journal.Cmd) journal.Issued {
	for i := range p.h.Events {
		if issued := p.h.Events[i].Issued; int(cmd) <= len(issued) {
			return issued[cmd-1]
		} else {
			cmd -= journal.Cmd(len(issued))
		}
	}
	return journal.Issued{}
}

// prove refuses a plan whose kept events, with the results that are given, do not fit the code.
func (o *AmendOptions) prove(ctx context.Context, p *plan) error {
	p.w.KeepChildren = o.KeepChildren
	p.w.AtEnd = int(p.seq) == len(p.h.Events)
	switch {
	case o.Proof != nil:
		return p.prove(ctx, o.Proof)
	case !p.w.AtEnd && !o.Unproven:
		return fmt.Errorf("events from %d on are taken back: %w: %w", p.seq+1, ErrUnproven, journal.ErrInvalid)
	}
	return nil
}
