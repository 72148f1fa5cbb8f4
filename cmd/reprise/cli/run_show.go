package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// unreadShown is how many messages that a run has not consumed are shown to people.
const unreadShown = 20

// detailRecord is a run with what it does.
type detailRecord struct {
	Run      runRecord         `json:"run" doc:"the run"`
	Input    *payloadRecord    `json:"input,omitempty" doc:"input of the present generation"`
	Outcome  *payloadRecord    `json:"outcome,omitempty" doc:"output or failure of a closed run"`
	Headers  map[string]string `json:"headers,omitempty" doc:"headers of the start"`
	Steps    []stepRecord      `json:"steps,omitempty" doc:"steps without an outcome"`
	Timers   []timerRecord     `json:"timers,omitempty" doc:"timers that have not fired"`
	Freezes  []freezeRecord    `json:"freezes,omitempty" doc:"when its timers stood still, because it was paused"`
	Children []childRecord     `json:"children,omitempty" doc:"children whose outcome the run does not know"`
	Updates  []messageRecord   `json:"updates,omitempty" doc:"updates that were accepted and have no answer yet"`
	SetAside []messageRecord   `json:"set_aside,omitempty" doc:"signals that did not decode"`
	Inbox    []unreadRecord    `json:"inbox,omitempty" doc:"the first messages that the run has not consumed"`
	Unread   int               `json:"unread" doc:"messages in the inbox that the run has not consumed"`
	Events   int               `json:"events" doc:"length of the present generation's history"`
	Rewinds  []auditRecord     `json:"rewinds,omitempty" doc:"newest first: when the run was retried, reset, forked or amended, or made as a fork, from where, by whom"`
	LastAt   *time.Time        `json:"last_at,omitempty" doc:"time of the newest event"`
}

// stepRecord is a step without an outcome.
type stepRecord struct {
	Name      string         `json:"name" doc:"name of the step"`
	Cmd       int32          `json:"cmd" doc:"number of the command in its generation"`
	Since     time.Time      `json:"since" doc:"when the code asked for it"`
	Attempts  int32          `json:"attempts" doc:"attempts that have failed"`
	NextAt    *time.Time     `json:"next_at,omitempty" doc:"when the next attempt is due"`
	Failure   *failureRecord `json:"failure,omitempty" doc:"of the last attempt"`
	Cancelled bool           `json:"cancelled,omitempty" doc:"whether it was asked to stop"`
	Exhausted bool           `json:"exhausted,omitempty" doc:"whether it may not be tried again, and has paused the run"`
}

// timerRecord is a timer that has not fired.
type timerRecord struct {
	Name  string     `json:"name,omitempty" doc:"name of the timer"`
	Cmd   int32      `json:"cmd" doc:"number of the command in its generation"`
	Since time.Time  `json:"since" doc:"when the code armed it"`
	DueAt *time.Time `json:"due_at,omitempty" doc:"when it fires; absent while it stands still"`
	Left  string     `json:"left,omitempty" doc:"while it stands still: what is left of its time, such as 1h30m0s"`
}

// freezeRecord is a time in which the timers of a run stood still.
type freezeRecord struct {
	From  time.Time  `json:"from" doc:"when they stopped"`
	Until *time.Time `json:"until,omitempty" doc:"when they went on; absent while they stand still"`
}

// childRecord is a child whose outcome the run does not know.
type childRecord struct {
	Workflow  string     `json:"workflow" doc:"name of the child's workflow"`
	Key       string     `json:"key,omitempty" doc:"key of the child"`
	Cmd       int32      `json:"cmd" doc:"number of the command in its generation"`
	Since     time.Time  `json:"since" doc:"when the code asked for it"`
	Cancelled bool       `json:"cancelled,omitempty" doc:"whether it was asked to cancel itself"`
	Run       *runRecord `json:"run,omitempty" doc:"the child; absent if it was not found"`
}

// unreadRecord is a message that a run has not consumed.
type unreadRecord struct {
	Number  int64          `json:"number" doc:"number of the message in the run's inbox"`
	Kind    string         `json:"kind" doc:"signal, update, cancel request or answer"`
	Name    string         `json:"name,omitempty" doc:"name of the signal or update"`
	At      time.Time      `json:"at" doc:"when the store accepted it"`
	Payload *payloadRecord `json:"payload,omitempty" doc:"payload"`
}

// messageRecord is a message in the inbox.
type messageRecord struct {
	Name   string `json:"name" doc:"name of the signal or update"`
	Number int64  `json:"number" doc:"number of the message in the run's inbox"`
}

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
			rec := c.detailOf(d)
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

func (c *call) detailOf(d *runtime.Description) *detailRecord {
	rec := &detailRecord{Run: recordOf(&d.Run), Input: c.payload(d.Run.Input), Headers: d.Run.Headers, Unread: d.Unread, Events: d.Events, LastAt: moment(d.LastAt)}
	if d.Run.Terminal != nil {
		rec.Outcome = c.outcome(&d.Run)
	}
	for _, s := range d.Steps {
		rec.Steps = append(rec.Steps, stepRecord{s.Name, int32(s.Cmd), s.Since, s.Attempts, moment(s.NextAt), failureOf(s.LastError), s.Cancelled, s.Exhausted})
	}
	for _, t := range d.Timers {
		timer := timerRecord{Name: t.Name, Cmd: int32(t.Cmd), Since: t.Since, DueAt: moment(t.Due)}
		if timer.DueAt == nil {
			timer.Left = t.Left.String()
		}
		rec.Timers = append(rec.Timers, timer)
	}
	for _, z := range d.Run.Freezes {
		rec.Freezes = append(rec.Freezes, freezeRecord{z.From, moment(z.Until)})
	}
	for _, ch := range d.Children {
		child := childRecord{Workflow: ch.Workflow, Key: ch.Key, Cmd: int32(ch.Cmd), Since: ch.Since, Cancelled: ch.Cancelled}
		if ch.Run != nil {
			child.Run = new(recordOf(ch.Run))
		}
		rec.Children = append(rec.Children, child)
	}
	for _, u := range d.Updates {
		rec.Updates = append(rec.Updates, messageRecord{u.Name, int64(u.Number)})
	}
	for i := range d.Inbox {
		m := &d.Inbox[i]
		rec.Inbox = append(rec.Inbox, unreadRecord{int64(m.Number), m.Kind.String(), m.Name, m.Time, c.payload(m.Payload)})
	}
	for _, s := range d.SetAside {
		rec.SetAside = append(rec.SetAside, messageRecord{s.Name, int64(s.Number)})
	}
	return rec
}

// rewindsMax is how many rows of a run's audit are looked at for what has gone back.
const rewindsMax = 100

// rewinds returns what the audit says of retries, resets and forks.
func (c *call) rewinds(run journal.RunID) (list []auditRecord, err error) {
	entries, err := c.client.Audit(c.ctx, journal.AuditFilter{Run: run, Limit: rewindsMax})
	if err != nil && c.ctx.Err() == nil {
		c.note("who has gone back in this run is not shown: %v", err) // a role may read runs and not the audit
		return nil, nil
	}
	for i := range entries {
		switch runtime.CallKind(entries[i].Verb) {
		case runtime.RetryCall, runtime.ResetCall, runtime.ForkCall, runtime.SkipCall, runtime.EditCall:
			list = append(list, auditOf(&entries[i]))
		}
	}
	return list, err
}

// outcome is how a closed run ended. A description has the terminal event without its payload, so
// the end is asked for.
func (c *call) outcome(run *journal.Run) *payloadRecord {
	ends, err := c.journal.Ends(c.ctx, []journal.RunID{run.ID})
	if err != nil || len(ends) != 1 || ends[0].Terminal == nil {
		return nil // it was deleted meanwhile, or cannot be read: Problem says so
	}
	return c.payload(ends[0].Terminal.Payload)
}

// payloadMax is how much of a payload a line for people has.
const payloadMax = 2000

func detailText(p *printer, d *detailRecord) string {
	var f fields
	runFields(p, &f, &d.Run)
	f.add("input", d.Input.text(payloadMax))
	f.add("outcome", d.Outcome.text(payloadMax))
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
	d.pending(p, &f)
	return f.b.String()
}

// runFields adds what a run is.
func runFields(p *printer, f *fields, r *runRecord) {
	f.add("run", r.ID)
	f.add("key", oneLine(r.Key, payloadMax))
	f.add("workflow", fmt.Sprintf("%s, version %d", oneLine(r.Workflow, payloadMax), r.Version))
	f.add("queue", fmt.Sprintf("%s, priority %d", oneLine(r.Queue, payloadMax), r.Priority))
	f.add("status", r.word())
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

// pending adds what the run waits for.
func (d *detailRecord) pending(p *printer, f *fields) {
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
			line += fmt.Sprintf(", run %s, %s", ch.Run.ID, ch.Run.word())
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
		f.item("message %d, %s %s, %s: %s", m.Number, m.Kind, oneLine(m.Name, 100), p.at(m.At), m.Payload.text(200))
	}
}
