package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/once"
)

// ForkOptions of a fork. The zero value means the defaults, but needs Proof or Unproven.
type ForkOptions struct {
	Reason string // for the audit; it may be any text
	// Key of the fork. Empty means none: that of the run is not its. It must be free.
	Key     string
	Queue   string // empty means that of the run
	Version int32  // of the workflow; 0 means that of the run
	Input   any    // replaces that of the run, if no event is kept ([RunStart], [GenerationStart])
	// Results replace those of steps, by the numbers of the events that have them. The fork has
	// them without executing the steps, and one that has failed has completed. They are of kept
	// events, whose successors must fit what the code makes of them, or of steps that the kept
	// events have asked for. One of the last kept event is the latter: that event is not kept.
	Results map[journal.Seq]any
	// StepResults are Results by the names of steps: of each the first outcome is replaced, as by
	// BeforeStep. It is for many runs, in which events have other numbers.
	StepResults map[string]any
	// Proof, Unproven, NoMessages and Messages are as in ResetOptions. The messages are copies: who
	// has sent one hears of what the run makes of it, and not of the fork.
	Proof      *Node
	Unproven   bool
	NoMessages bool
	Messages   []string
	DryRun     bool // only say what a fork would do
}

// Forked is what a fork has made, or would make.
type Forked struct {
	Run journal.RunID // the fork; zero after a dry run
	Of  Rewinding     // where it has left the other run, which steps have ended there behind that point, and which have other results
}

// Fork begins another run at a point of a run's present generation, and leaves that run as it is
// (J13). The fork has the events up to the point, with their results, and goes on from there: in
// its code nothing that was done until then is done again. It has the workflow, labels, headers,
// priority and time limit of the run, the time counted anew, and no parent.
//
// While code reacts to the kept events, workflow.Context.Info tells of the run, as it did then;
// from there on it tells of the fork. Steps have idempotency keys of the fork. Children that the
// kept events have started stay the run's: their outcomes come to the fork if the run has got them,
// and a fork that would wait for another one is refused, a *[PointError] that names both. So is one
// that would wait for the answer to a signal.
//
// Both runs have a row of the audit, and Rewound of the fork's present generation names the other
// run. Errors: as those of [Client.Reset], and a *journal.KeyConflictError if a run has o.Key.
func (c *Client) Fork(ctx context.Context, run journal.RunID, at Point, o *ForkOptions) (*Forked, error) {
	if o == nil {
		o = &ForkOptions{}
	}
	if err := o.check(at); err != nil {
		return nil, fmt.Errorf("fork run %s: %w", run, err)
	}
	id := journal.NewRunID()
	if a := once.Of(ctx); a != nil {
		id = a.Fork
	}
	plan := func(ctx context.Context) (*plan, error) { return forkPlan(ctx, c, run, id, at, o) }
	call := Call{Kind: ForkCall, Run: run, Payload: o.Reason}
	of, err := rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminFork, Reason: o.Reason}, plan, o.DryRun)
	if err != nil {
		return nil, err
	}
	out := &Forked{Of: *of}
	if !o.DryRun {
		out.Run = id
	}
	return out, nil
}

// reset is what a fork has in common with a reset.
func (o *ForkOptions) reset() *ResetOptions {
	return &ResetOptions{Proof: o.Proof, Unproven: o.Unproven, NoMessages: o.NoMessages, Messages: o.Messages, Input: o.Input}
}

func (o *ForkOptions) check(at Point) error {
	if o.Version < 0 {
		return fmt.Errorf("version %d: %w", o.Version, journal.ErrInvalid)
	}
	if err := journal.CheckKey("key", o.Key); err != nil {
		return err
	}
	if err := journal.CheckText("queue", o.Queue, journal.NameBytesMax); err != nil {
		return err
	}
	return o.reset().check(at)
}

// forkPlan chooses the point, and proves it.
func forkPlan(ctx context.Context, c *Client, run, id journal.RunID, at Point, o *ForkOptions) (*plan, error) {
	h, err := rewindable(ctx, c, run, true)
	if err != nil {
		return nil, err
	}
	values, err := o.resultsIn(h)
	if err != nil {
		return nil, err
	}
	results, replaced, err := replacedResults(c, h, values)
	if err != nil {
		return nil, err
	}
	fork := func(seq journal.Seq) *plan { return newForkPlan(c, h, seq, id, results, o) }
	var seq journal.Seq
	if at == LatestFit {
		all := fork(latest(h))
		if seq, err = o.Proof.fits(ctx, all.next(), all.kept); seq > 0 {
			err = nil
		}
	} else {
		seq, err = pointOf(ctx, c, h, at, o.Proof)
	}
	if err != nil {
		return nil, err
	}
	for slices.ContainsFunc(results, func(r driver.Result) bool { return r.Seq == seq }) {
		seq-- // what the code asks for after it is for the code to say
	}
	p := fork(seq)
	p.names = o.DryRun
	p.keepGiven()
	for _, g := range p.w.Given {
		if g.Cmd > p.commands() {
			return nil, refusePoint(h, "step %s, whose result is to be another one, is asked for behind the point, which keeps %d events: choose a later point", g.Name, seq)
		}
	}
	if err := p.anew(c, at, o.reset()); err != nil {
		return nil, err
	}
	if p.w.Version != 0 {
		p.w.Version = p.fork.Version
	}
	if err := forkAnswered(ctx, c, p); err != nil {
		return nil, err
	}
	p.out.Replaced = replaced
	if o.Proof != nil {
		return p, p.prove(ctx, o.Proof)
	}
	return p, nil
}

func newForkPlan(c *Client, h *driver.History, seq journal.Seq, id journal.RunID, results []driver.Result, o *ForkOptions) *plan {
	p := newPlan(h, seq, true)
	p.out.Steps = slices.DeleteFunc(p.out.Steps, func(s RepeatedStep) bool {
		return slices.ContainsFunc(results, func(r driver.Result) bool { return r.Seq == s.Seq })
	})
	p.w, p.fork, p.kept = driver.NewFork(&h.Run, h.Events, seq, id, results)
	p.fork.Key, p.began = o.Key, c.j.Now()
	if o.Queue != "" {
		p.fork.Queue = o.Queue
	}
	if o.Version != 0 {
		p.fork.Version = o.Version
	}
	p.w.Messages = driver.Again{None: o.NoMessages, Names: o.Messages}
	return p
}

// resultsIn are all results that are to be other ones, by their events in a history.
func (o *ForkOptions) resultsIn(h *driver.History) (map[journal.Seq]any, error) {
	if len(o.StepResults) == 0 {
		return o.Results, nil
	}
	all := maps.Clone(o.Results)
	if all == nil {
		all = map[journal.Seq]any{}
	}
	for _, name := range slices.Sorted(maps.Keys(o.StepResults)) {
		i := slices.IndexFunc(h.Events, func(ev journal.Event) bool { return ev.Kind.EndsStep() && ev.Name == name })
		if i < 0 {
			return nil, refusePoint(h, "no step %q has an outcome in its present generation that could be another one", name)
		}
		if _, twice := all[h.Events[i].Seq]; twice {
			return nil, refusePoint(h, "step %s is given a result by its name and by its event %d: leave one of them out", name, h.Events[i].Seq)
		}
		all[h.Events[i].Seq] = o.StepResults[name]
	}
	return all, nil
}

// replacedResults encodes results, and refuses those of what is no outcome of a step.
func replacedResults(c *Client, h *driver.History, values map[journal.Seq]any) (list []driver.Result, steps []ReplacedStep, err error) {
	for _, seq := range slices.Sorted(maps.Keys(values)) {
		if seq < 1 || int(seq) > len(h.Events) {
			return nil, nil, refusePoint(h, "there is no event %d whose result could be another one: its present generation has %d", seq, len(h.Events))
		}
		ev := &h.Events[seq-1]
		if !ev.Kind.EndsStep() {
			return nil, nil, refusePoint(h, "event %d is %s %s: only outcomes of steps can be replaced", seq, ev.Kind, ev.Name)
		}
		p, err := c.j.Encode("result of step "+ev.Name, values[seq])
		if err != nil {
			return nil, nil, err
		}
		list = append(list, driver.Result{Seq: seq, Output: p})
		steps = append(steps, ReplacedStep{Name: ev.Name, Seq: seq, Was: ev.Payload, New: p, Failed: ev.Kind == journal.StepFailed})
	}
	return list, steps, nil
}

// forkAnswered refuses a point at which the fork would wait for ever: for the answer to what the
// kept events have sent, or for a child that they have started. Both come to the run alone. The
// fork has a copy of those that the run has got.
func forkAnswered(ctx context.Context, c *Client, p *plan) error {
	waits := p.unanswered()
	if len(waits) == 0 {
		return nil
	}
	inbox, more := p.h.Inbox, p.h.MoreInbox
	for {
		for i := range inbox {
			if m := &inbox[i]; m.Kind.Answers() && p.w.Next.Issuer(0, m.Cmd) == m.Generation {
				delete(waits, m.Cmd)
			}
		}
		if !more {
			break
		}
		h, err := c.load(ctx, driver.LoadRequest{Run: p.h.Run.ID, InboxOnly: true, AfterInbox: inbox[len(inbox)-1].Number})
		if err != nil {
			return err
		}
		if h.Run.Generation != p.h.Run.Generation {
			return driver.ErrMoved
		}
		inbox, more = h.Inbox, h.MoreInbox
	}
	if len(waits) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(waits)))
	return p.refuse("%s", unansweredText(ctx, c, p, first, waits[first]))
}

// unansweredText says who has not answered, and since when the run waits.
func unansweredText(ctx context.Context, c *Client, p *plan, cmd journal.Cmd, in journal.Issued) string {
	asked, n := journal.Seq(0), journal.Cmd(0)
	for i := range p.kept {
		if n += journal.Cmd(len(p.kept[i].Issued)); n >= cmd {
			asked = p.kept[i].Seq
			break
		}
	}
	before := fmt.Sprintf("choose a point before event %d, so that the fork asks for itself", asked)
	if in.Kind == journal.CommandSend {
		return fmt.Sprintf("the answer to signal %s to run %s, which event %d has sent, has not come, and comes to this run alone: fork it later, or %s", in.Name, in.Detail, asked, before)
	}
	child := "the child " + in.Name
	if run, err := childOf(ctx, c, p, cmd); err == nil && run != nil {
		child = fmt.Sprintf("run %s (%s, %s)", run.ID, run.Workflow, run.Status)
	}
	return fmt.Sprintf("%s, which event %d has started, is the child of this run alone, which has not heard how it has ended: fork it later, or %s", child, asked, before)
}

// childOf finds the child that a kept command has started, among the youngest ones.
func childOf(ctx context.Context, c *Client, p *plan, cmd journal.Cmd) (*journal.Run, error) {
	f := journal.ListFilter{Parent: p.h.Run.ID, Limit: journal.ListMax}
	for range childPagesMax {
		page, err := c.j.List(ctx, f)
		if err != nil {
			return nil, err
		}
		for i := range page.Runs {
			if of := page.Runs[i].Parent; of.Cmd == cmd && p.w.Next.Issuer(0, cmd) == of.Generation {
				return &page.Runs[i], nil
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	return nil, errors.New("it was not found")
}
