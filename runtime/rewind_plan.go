package runtime

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// plan is a point of a history, and what follows from it.
type plan struct {
	h   *driver.History // of the present generation, whole
	seq journal.Seq     // events that are kept
	w   *driver.Rewind
	out *Rewinding

	retries bool // the child that the run has failed by goes on too
	again   bool // as in RetryOptions, for children
	names   bool // of messages are asked for: h has the beginning of the inbox

	// Of a fork.
	fork  *driver.Fork
	kept  []journal.Event // as the fork has them
	began time.Time       // when about it begins
}

func newPlan(h *driver.History, seq journal.Seq, again bool) *plan {
	p := &plan{h: h, seq: seq, w: driver.NewRewind(&h.Run, h.Events, seq, again)}
	p.out = &Rewinding{Run: h.Run.ID, Generation: h.Run.Generation, Kept: seq}
	cmds := p.commands()
	for i := range h.Events[seq:] {
		if ev := &h.Events[int(seq)+i]; ev.Kind.EndsStep() {
			p.out.Steps = append(p.out.Steps, RepeatedStep{
				Name: ev.Name, Seq: ev.Seq, Attempts: ev.Attempt, Outcome: ev.Payload, Failed: ev.Kind == journal.StepFailed, Certain: ev.Cmd <= cmds,
			})
		}
	}
	return p
}

// commands is how many commands the kept events have issued.
func (p *plan) commands() (n journal.Cmd) {
	for i := range p.h.Events[:p.seq] {
		n += journal.Cmd(len(p.h.Events[i].Issued))
	}
	return n
}

func (p *plan) refuse(format string, args ...any) error { return refusePoint(p.h, format, args...) }

func refusePoint(h *driver.History, format string, args ...any) error {
	return &PointError{Run: h.Run.ID, Text: fmt.Sprintf(format, args...)}
}

// next is the run as the plan leaves it.
func (p *plan) next() journal.Run {
	next := p.h.Run
	next.Generation, next.Rewound = next.Generation+1, p.w.Next
	if f := p.fork; f != nil {
		next.ID, next.Key, next.Queue, next.Version, next.Parent, next.StartAt = f.Run, f.Key, f.Queue, f.Version, nil, p.began
	}
	return next
}

// prove refuses a plan whose kept events, with the results that are given, do not fit the code of a
// node.
func (p *plan) prove(ctx context.Context, proof *Node) error {
	if p.seq == 0 {
		return nil
	}
	kept := p.kept
	if p.fork == nil {
		kept = p.h.Events[:p.seq]
	}
	var given []journal.Event
	for _, g := range p.w.Given {
		given = append(given, journal.Event{Kind: journal.StepCompleted, Cmd: g.Cmd, Name: g.Name, Payload: g.Output})
	}
	if _, err := proof.fits(ctx, p.next(), kept, given...); err != nil {
		return fmt.Errorf("the kept events, with the results that are given, do not fit the code; nothing was changed: %w", err)
	}
	return nil
}

// anew fills in with what a run begins that keeps no event.
func (p *plan) anew(c *Client, to Point, o *ResetOptions) error {
	if to != RunStart && to != GenerationStart {
		return nil
	}
	p.w.Whole = to == RunStart && !forkOfLater(&p.h.Run)
	if to == RunStart && o.Input == nil && !firstInput(&p.h.Run) {
		return p.refuse("it has continued as new, so its first input is not the present one: give it as Input, or choose the point generation")
	}
	p.w.Input, p.w.Version = p.h.Run.Input, p.h.Run.Version
	if o.Version != 0 {
		p.w.Version = o.Version
	}
	if o.Input == nil {
		return nil
	}
	var err error
	p.w.Input, err = c.j.Encode("input of the run", o.Input)
	return err
}

// firstInput tells whether the present input of a run is known to be that of its start.
func firstInput(r *journal.Run) bool {
	return r.Generation == 1 || r.Rewound != nil && (r.Rewound.Origin == 1 || r.Rewound.From == 1 || !r.Rewound.Run.IsZero())
}

// forkOfLater tells whether a run is a fork of one that had continued as new. Its start is where it
// was forked: what the other run had consumed before is none of it.
func forkOfLater(r *journal.Run) bool {
	return r.Rewound != nil && !r.Rewound.Run.IsZero() && r.Rewound.Origin != 1 && r.Rewound.From != 1
}

// latest is how many events can be kept: all but the one that has closed the run.
func latest(h *driver.History) journal.Seq {
	n := journal.Seq(len(h.Events))
	if h.Run.Status != journal.Open {
		n--
	}
	return n
}

// pointOf returns how many events a reset to a point keeps.
func pointOf(ctx context.Context, c *Client, h *driver.History, to Point, proof *Node) (journal.Seq, error) {
	last := latest(h)
	switch to {
	case RunStart, GenerationStart:
		return 0, nil
	case BeforeFailure:
		if h.Run.Status == journal.Open {
			return 0, refusePoint(h, "it is open, and has not failed: reset it to fits, to an event or to a step")
		}
		return failurePoint(h)
	case LatestFit:
		seq, err := proof.fits(ctx, h.Run, h.Events[:last])
		if seq == 0 && err != nil {
			return 0, err
		}
		return seq, nil
	}
	if name, ok := strings.CutPrefix(string(to), pointStep); ok {
		for i := range h.Events {
			if ev := &h.Events[i]; ev.Kind.EndsStep() && ev.Name == name {
				return ev.Seq - 1, nil
			}
		}
		return 0, refusePoint(h, "no step %q has ended in its present generation", name)
	}
	n, err := strconv.Atoi(strings.TrimPrefix(string(to), pointEvent))
	if err != nil || journal.Seq(n) > last {
		return 0, refusePoint(h, "there is no event %d to go back to: its present generation has %d", n, last)
	}
	return journal.Seq(n), nil
}

// failurePoint returns how many events are before what closed a run.
func failurePoint(h *driver.History) (journal.Seq, error) {
	if len(h.Events) == 0 {
		return 0, refusePoint(h, "its history has no events")
	}
	end := &h.Events[len(h.Events)-1]
	switch {
	case end.ByStore():
		return end.Seq - 1, nil
	case end.Kind == journal.RunCompleted:
		return 0, refusePoint(h, "it has completed: reset it to a point")
	}
	for i := range h.Events {
		if ev := &h.Events[i]; ev.Kind == journal.CancelRequested {
			if ev.Inbox == 0 {
				return 0, refusePoint(h, "its time is up, and would be at once again: start another run")
			}
			if end.Kind == journal.RunCancelled {
				return ev.Seq - 1, nil
			}
		}
	}
	why, _ := journal.DecodeFailure(end.Payload)
	for i := len(h.Events) - 2; i >= 0; i-- {
		ev := &h.Events[i]
		if ev.Kind != journal.StepFailed && ev.Kind != journal.ChildFailed {
			continue
		}
		f, err := journal.DecodeFailure(ev.Payload)
		if i == len(h.Events)-2 || err == nil && causes(f, why) {
			return ev.Seq - 1, nil
		}
	}
	return 0, refusePoint(h, "no step and no child is why it has failed: repair its code, and reset it to fits, to an event or to a step")
}

// causes tells whether a failure is part of another one.
func causes(f, of *journal.Failure) bool {
	for ; of != nil; of = of.Cause {
		if of.Type == f.Type && of.Message == f.Message {
			return true
		}
		for _, joined := range of.Details {
			if causes(f, joined) {
				return true
			}
		}
	}
	return false
}

// answerable refuses a point at which a closed run would wait for ever: for the answer to what its
// last turn has sent, which nobody has kept. An open run gets all answers.
func answerable(ctx context.Context, c *Client, p *plan) error {
	if p.h.Run.Status == journal.Open {
		return nil
	}
	waits := p.unanswered()
	if err := forgetChildren(ctx, c, p, waits); err != nil {
		return err
	}
	for cmd, in := range waits {
		return p.refuse("the answer to command %d (%s %s) was not kept, because the run ended in the turn that asked: choose a point before event %d",
			cmd, in.Kind, in.Name, p.seq)
	}
	return nil
}

// unanswered are the children and messages that the kept events have asked for, and of which no
// event of the run has an answer, kept or not.
func (p *plan) unanswered() map[journal.Cmd]journal.Issued {
	waits := map[journal.Cmd]journal.Issued{}
	cmd := journal.Cmd(0)
	for i := range p.h.Events {
		ev := &p.h.Events[i]
		delete(waits, ev.Cmd)
		for _, in := range ev.Issued {
			if cmd++; i < int(p.seq) && (in.Kind == journal.CommandSend || in.Kind == journal.CommandChild) {
				waits[cmd] = in
			}
		}
	}
	return waits
}

// forgetChildren takes those commands out whose child is there: it has answered, or will.
func forgetChildren(ctx context.Context, c *Client, p *plan, waits map[journal.Cmd]journal.Issued) error {
	children := map[journal.Cmd]tie{}
	for cmd, in := range waits {
		if in.Kind == journal.CommandChild {
			children[cmd] = silent
		}
	}
	return eachChild(ctx, c, p.h.Run.ID, p.w, children, func(child *journal.Run) error {
		delete(waits, child.Parent.Cmd)
		return nil
	})
}
