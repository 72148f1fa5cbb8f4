package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// unreadShown is how many messages that a run has not consumed are shown to people.
const unreadShown = 20

func runShow(a *app) *cobra.Command {
	c := a.oneRun(&cobra.Command{
		Use: "show RUN", Short: "Show a run: its input, what it does, how it ended",
		RunE: a.reads(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			d, err := c.client.Describe(c.ctx, run)
			if err != nil {
				return err
			}
			var terminal *journal.Event
			if d.Run.Terminal != nil {
				terminal = c.terminal(run)
			}
			rec := c.records.Detail(d, terminal)
			if rec.Rewinds, err = c.rewinds(run); err != nil {
				return err
			}
			c.out.now = c.journal.Now()
			if c.out.now.IsZero() {
				c.out.now = time.Now()
			}
			return printOne(c.out, rec, detailText)
		}),
	})
	return printing(c, "detail")
}

// rewinds returns what the audit says of retries, resets and forks.
func (c *call) rewinds(run journal.RunID) ([]record.Audit, error) {
	entries, err := c.client.Audit(c.ctx, journal.AuditFilter{Run: run, Limit: record.RewindsMax})
	if err != nil && c.ctx.Err() == nil {
		c.note("who has gone back in this run is not shown: %v", err) // a role may read runs and not the audit
		return nil, nil
	}
	return record.RewindsOf(entries), err
}

// terminal is how a closed run ended. A description has the terminal event without its payload, so
// the end is asked for. It is nil if the run was deleted meanwhile, or cannot be read: its Problem
// says so.
func (c *call) terminal(run journal.RunID) *journal.Event {
	ends, err := c.journal.Ends(c.ctx, []journal.RunID{run})
	if err != nil || len(ends) != 1 {
		return nil
	}
	return ends[0].Terminal
}

// payloadMax is how much of a payload a line for people has.
const payloadMax = 2000

func detailText(p *printer, d *record.Detail) string {
	var f fields
	runFields(p, &f, &d.Run)
	f.add("input", payloadText(d.Input, payloadMax))
	f.add("outcome", payloadText(d.Outcome, payloadMax))
	f.add("headers", oneLine(labelText(d.Headers), payloadMax))
	f.add("history", fmt.Sprintf("%d events", d.Events))
	if d.LastAt != nil {
		f.add("last event", p.at(*d.LastAt))
	}
	if d.Unread > 0 {
		f.add("unread", fmt.Sprintf("%d messages", d.Unread))
	}
	if len(d.Rewinds) > 0 {
		f.head("went back")
	}
	for i := range d.Rewinds {
		e := &d.Rewinds[i]
		line := fmt.Sprintf("%s, %s", e.Verb, p.at(e.At))
		if e.Actor != "" {
			line += ", by " + oneLine(e.Actor, 100)
		}
		line += ": " + oneLine(e.Detail, 200)
		if e.Reason != "" {
			line += " (" + oneLine(e.Reason, 200) + ")"
		}
		f.item("%s", line)
	}
	for i := range d.Freezes {
		z := &d.Freezes[i]
		if i == 0 {
			f.head("timers stood still")
		}
		if z.Until == nil {
			f.item("from %s on", p.at(z.From))
		} else {
			f.item("from %s to %s", p.at(z.From), p.at(*z.Until))
		}
	}
	pendingFields(p, &f, d)
	return f.b.String()
}

// runFields adds what a run is.
func runFields(p *printer, f *fields, r *record.Run) {
	f.add("run", r.ID)
	f.add("key", oneLine(r.Key, payloadMax))
	f.add("workflow", fmt.Sprintf("%s, version %d", oneLine(r.Workflow, payloadMax), r.Version))
	f.add("queue", fmt.Sprintf("%s, priority %d", oneLine(r.Queue, payloadMax), r.Priority))
	f.add("status", r.Word())
	f.add("problem", oneLine(r.Problem, payloadMax))
	f.add("started", p.at(r.CreatedAt))
	if !r.StartAt.Equal(r.CreatedAt) {
		f.add("begins", p.at(r.StartAt))
	}
	for _, m := range []struct {
		name string
		at   *time.Time
	}{{"ended", r.ClosedAt}, {"visible", r.VisibleAt}, {"deadline", r.DeadlineAt}} {
		if m.at != nil {
			f.add(m.name, p.at(*m.at))
		}
	}
	if r.Node != 0 {
		f.add("node", fmt.Sprint(r.Node))
	}
	if r.Generation > 1 {
		f.add("generation", fmt.Sprint(r.Generation))
	}
	f.add("parent", r.Parent)
	f.add("labels", oneLine(labelText(r.Labels), payloadMax))
	for _, w := range r.Waiting {
		f.add("waits for", oneLine(w, payloadMax))
	}
}

// pendingFields adds what the run waits for.
func pendingFields(p *printer, f *fields, d *record.Detail) {
	if len(d.Steps)+len(d.Timers)+len(d.Children)+len(d.Updates)+len(d.SetAside) > 0 {
		f.head("pending")
	}
	for _, s := range d.Steps {
		line := fmt.Sprintf("step %s, command %d, since %s, %d failed attempts", oneLine(s.Name, 100), s.Cmd, p.at(s.Since), s.Attempts)
		if s.NextAt != nil {
			line += ", next " + p.at(*s.NextAt)
		}
		if s.Exhausted {
			line += ", none allowed before a resume"
		}
		if s.Failure != nil {
			line += ": " + oneLine(s.Failure.Message, 200)
		}
		f.item("%s", line)
	}
	for _, t := range d.Timers {
		when := "stands still, with " + t.Left + " left"
		if t.DueAt != nil {
			when = "due " + p.at(*t.DueAt)
		}
		f.item("timer %s, since %s, %s", oneLine(t.Name, 100), p.at(t.Since), when)
	}
	for _, ch := range d.Children {
		line := fmt.Sprintf("child %s, since %s", oneLine(ch.Workflow, 100), p.at(ch.Since))
		if ch.Run != nil {
			line += fmt.Sprintf(", run %s, %s", ch.Run.ID, ch.Run.Word())
		}
		f.item("%s", line)
	}
	for _, u := range d.Updates {
		f.item("update %s, message %d, has no answer yet", oneLine(u.Name, 100), u.Number)
	}
	for _, s := range d.SetAside {
		f.item("signal %s, message %d, did not decode", oneLine(s.Name, 100), s.Number)
	}
	if len(d.Inbox) > 0 {
		f.head("not consumed")
	}
	for i := range min(len(d.Inbox), unreadShown) {
		m := &d.Inbox[i]
		f.item("message %d, %s %s, %s: %s", m.Number, m.Kind, oneLine(m.Name, 100), p.at(m.At), payloadText(m.Payload, 200))
	}
}
