package runtime

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Why tells what a run waits for, since when, and who would have to do what so that it goes on. It
// reads what [Client.Describe] reads, and of an open run the list of nodes and what is paused; it
// needs no code of the workflow. Errors: journal.ErrNotFound, ctx's.
func (c *Client) Why(ctx context.Context, run journal.RunID) (*Explanation, error) {
	d, events, err := c.describe(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("why run %s: %w", run, err)
	}
	w := &why{d: d, events: events, told: map[journal.InboxSeq]bool{}}
	if t := d.Run.Task; t != nil {
		if err := w.read(ctx, c, t); err != nil {
			return nil, fmt.Errorf("why run %s: %w", run, err)
		}
	}
	w.explain()
	return &Explanation{Run: d.Run, Reasons: w.reasons}, nil
}

// read reads what keeps an open run that is not stored with it.
func (w *why) read(ctx context.Context, c *Client, t *journal.Task) (err error) {
	if w.nodes, err = c.j.Nodes(ctx); err != nil {
		return err
	}
	if w.scopes, err = c.j.Pauses(ctx); err == nil && t.State.OnHold() {
		w.paused, err = c.j.Audit(ctx, journal.AuditFilter{Run: w.d.Run.ID, Verb: driver.AdminPause.String(), Limit: 1})
	}
	if err == nil {
		w.limits, err = readLimitWaits(ctx, c.j, &w.d.Run)
	}
	if err == nil {
		w.holders, err = readHolders(ctx, c.j, w.limits)
	}
	w.now = c.j.Now()
	return err
}

func (w *why) explain() {
	run := &w.d.Run
	if run.Unreadable != nil {
		w.add(Reason{Kind: ReasonUnreadable, Text: run.Unreadable.Error(),
			Remedy: "if a newer release has written it, let a node of that release go on; else restore the row from a backup"})
	}
	if run.Task == nil {
		w.closed()
		return
	}
	w.task(run.Task)
	w.steps()
	for _, r := range w.limits.reasons {
		w.blamesIdle(&r)
		w.add(r)
	}
	w.timers()
	w.children()
	w.words()
	w.inbox()
	w.deadline()
	if len(w.reasons) == 0 {
		w.add(Reason{Kind: ReasonOther, Text: "the run waits for a message", Since: w.d.LastAt, Remedy: "send the signal or update that its code expects"})
	}
}

// closed is how the run has ended.
func (w *why) closed() {
	run := &w.d.Run
	r := Reason{Kind: ReasonClosed, Text: "the run is " + run.Status.String(), Since: run.ClosedAt}
	if t := run.Terminal; t != nil {
		if f, err := journal.DecodeFailure(t.Payload); err == nil {
			r.Text += ": " + f.Summary()
		}
	}
	w.add(r)
}

// task is what keeps a node from working on the run, or which node does.
func (w *why) task(t *journal.Task) {
	switch {
	case t.State.OnHold():
		w.hold(t)
	case t.State == journal.Quarantined:
		w.add(Reason{Kind: ReasonQuarantined, Text: t.Problem,
			Remedy: "find out why it ends its process (its steps are in its history), then let it go on: " + w.verb("resume")})
	case t.State == journal.Blocked:
		w.blocked(t)
	}
	inScope := w.inScopes(t)
	if t.Owner != 0 {
		w.owned(t)
		return
	}
	if w.unserved(journal.Route{Queue: t.Queue, Workflow: t.Workflow, Version: t.Version}, "the run") {
		w.inLine(&w.reasons[len(w.reasons)-1])
		return
	}
	if inScope { // no node asks for it
		return
	}
	due := !t.VisibleAt.IsZero() && !t.VisibleAt.After(w.now)
	switch {
	case t.State > journal.Ready:
	case t.State == journal.Limited && !w.d.Run.StartAt.After(w.now):
		w.add(Reason{Kind: ReasonLimited, Text: limitedText(&w.d.Run), Since: w.d.Run.StartAt, Remedy: "raise a limit, or release a claim of it"})
	case t.Strikes > 0 && !due:
		w.add(Reason{Kind: ReasonStruck, Text: fmt.Sprintf("its owner died, %s since its last turn", times(int(t.Strikes))), Until: t.VisibleAt})
	case w.d.Events == 0 && !due:
		w.add(Reason{Kind: ReasonDelayed, Text: "its start delays it", Since: w.d.Run.CreatedAt, Until: w.d.Run.StartAt})
	case due:
		w.add(Reason{Kind: ReasonQueued, Text: "it is due, and no node that serves it has taken it", Since: t.VisibleAt,
			Remedy: "if it stays so, the nodes are full or slow: start more of them, or raise NodeOptions.LiveMax or StepsMax"})
	}
}

// owned tells which node works on the run, and whether it lives.
func (w *why) owned(t *journal.Task) {
	i := slices.IndexFunc(w.nodes, func(n journal.Node) bool { return n.ID == t.Owner })
	switch {
	case i < 0:
		w.add(Reason{Kind: ReasonOwned, Text: fmt.Sprintf("node %d owns it and is gone", t.Owner), Remedy: "a node that lives frees it in a moment; if none lives, start one"})
	case !w.nodes[i].ExpiresAt.After(w.now):
		w.add(Reason{Kind: ReasonOwned, Text: fmt.Sprintf("node %d (%s) owns it, and its lease has run out", t.Owner, w.nodes[i].Name),
			Since: w.nodes[i].ExpiresAt, Remedy: "a node that lives frees it in a moment; if none lives, start one"})
	default:
		text := fmt.Sprintf("node %d (%s) works on it", t.Owner, w.nodes[i].Name)
		if w.d.Events == 0 {
			text += "; what its first turn has asked for is not stored yet"
		}
		w.add(Reason{Kind: ReasonOwned, Text: text})
	}
}

// unserved adds a reason if no live node serves a route. whose is the run that has it.
func (w *why) unserved(route journal.Route, whose string) bool {
	served, versions := w.served(route)
	if served {
		return false
	}
	has := fmt.Sprintf("none of the %d live nodes serves it", len(w.nodes))
	if len(versions) > 0 {
		has = fmt.Sprintf("live nodes serve its versions %v in that queue", versions)
	}
	w.add(Reason{Kind: ReasonUnserved,
		Text:   fmt.Sprintf("no live node serves workflow %s, version %d, queue %s, of %s: %s", route.Workflow, route.Version, route.Queue, whose, has),
		Remedy: "start a node on which that version is registered for that queue"})
	return true
}

// steps are the steps without an outcome, those that have failed first.
func (w *why) steps() {
	owned := w.d.Run.Task.Owner != 0
	for i := range w.d.Steps {
		s := &w.d.Steps[i]
		r := Reason{Kind: ReasonStep, Text: "step " + s.Name + " has no outcome yet", Since: s.Since}
		switch {
		case s.Attempts > 0:
			r.Text = fmt.Sprintf("step %s has failed %s", s.Name, times(int(s.Attempts)))
			if s.LastError != nil {
				r.Text += ", last with: " + s.LastError.Summary()
			}
			r.Until = w.ahead(s.NextAt)
			r.Remedy = "mend what the step calls; it is tried again by itself"
		case w.limits.waits(s.Cmd):
			continue // which its limits say better
		case owned:
			r.Text = "step " + s.Name + " is executed, or waits for a slot"
		}
		if s.Exhausted {
			r.Text += "; its options allow no further attempt before a resume"
		}
		if w.d.Run.Task.State.OnHold() { // it is not tried until the run is resumed
			r.Until, r.Remedy = time.Time{}, ""
		}
		if s.Cancelled {
			r.Text += "; it was asked to stop"
		}
		w.add(r)
	}
}

// times is how often something was, in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func (w *why) timers() {
	for i := range w.d.Timers {
		t := &w.d.Timers[i]
		r := Reason{Kind: ReasonTimer, Text: strings.TrimSpace("timer " + t.Name), Since: t.Since, Until: t.Due}
		if t.Due.IsZero() {
			r.Text += fmt.Sprintf(" stands still, with %s left", t.Left)
		}
		w.add(r)
	}
}

// children are those without an outcome, and what is known of why.
func (w *why) children() {
	for i := range w.d.Children {
		ch := &w.d.Children[i]
		r := Reason{Kind: ReasonChild, Text: "child " + ch.Workflow + " has no outcome yet", Since: ch.Since}
		if ch.Run == nil {
			w.add(r)
			continue
		}
		r.Text = fmt.Sprintf("child %s, run %s, is %s", ch.Workflow, ch.Run.ID, ch.Run.Status)
		if ch.Run.Status.Closed() {
			w.ended(r, ch)
			continue
		}
		r.Remedy = "ask why that run waits: " + runVerb("why", ch.Run.ID)
		if ch.Cancelled {
			r.Text += "; it was asked to cancel itself"
		}
		if t := ch.Run.Task; t != nil && t.State != journal.Ready {
			r.Text += " and " + t.State.String()
			if t.Problem != "" {
				r.Text += ": " + t.Problem
			}
		}
		w.add(r)
		if t := ch.Run.Task; t != nil && t.Owner == 0 {
			w.unserved(journal.Route{Queue: t.Queue, Workflow: t.Workflow, Version: t.Version}, "child "+ch.Run.ID.String())
		}
	}
}

// deadline is when the run's time is up, if its start gave it one.
func (w *why) deadline() {
	if run := &w.d.Run; run.Timeout > 0 {
		at, left := run.Freezes.Due(run.StartAt, run.StartAt.Add(run.Timeout))
		r := Reason{Kind: ReasonDeadline, Text: fmt.Sprintf("the run's time of %s ends", run.Timeout), Until: at}
		if at.IsZero() {
			r.Text = fmt.Sprintf("the run's time of %s stands still, with %s left", run.Timeout, left)
		} else if !at.After(w.now) {
			r = Reason{Kind: ReasonDeadline, Text: fmt.Sprintf("the run's time of %s is up", run.Timeout), Since: at}
		}
		w.add(r)
	}
}
