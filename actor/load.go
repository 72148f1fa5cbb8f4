package actor

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// load reads the history and the messages after the newest one that is known, or only the messages.
func (r *run) load(inboxOnly bool) {
	r.enter(loading)
	r.inputs.news = false
	epoch := r.epoch
	q := driver.LoadRequest{Run: r.info.ID, AfterInbox: r.inputs.got, InboxOnly: inboxOnly}
	r.host.o.Store.Load(q, func(h driver.History, err error) {
		r.host.send(r.self, loaded{epoch: epoch, history: h, err: err})
	})
}

// rebuild makes a machine: it replays the stored events, then those of a first turn that is not
// stored yet. What the code asked for in them is pending, and is aligned with the table of steps.
func (r *run) rebuild(events []journal.Event) {
	def := r.host.o.Lookup(r.info.Workflow, r.info.Version)
	if def == nil {
		r.fail(fmt.Errorf("workflow %q version %d is not registered here", r.info.Workflow, r.info.Version))
		return
	}
	began := time.Now()
	ident := replay.InfoOf(r.info)
	r.ident = &ident
	m := replay.New(def, ident, r.host.o.Store)
	r.head = headOf(m, events)
	m.SetThresholds(r.host.o.Thresholds)
	r.machine = m
	if len(events)+len(r.uncommitted) > 0 {
		if err := r.watched(func() error { return replayAll(m, events, r.uncommitted) }); err != nil {
			r.fail(err)
			return
		}
	}
	if !m.Finished() { // else a first turn that is not stored yet ended the run, and the next turn takes that
		m.Take()
	}
	if r.host.o.Hooks.Log != nil { // not before: the events of a first turn were new once already
		m.SetLog(func(level int, msg string, args []any) { r.host.o.Hooks.Log(r.info, level, msg, args) })
	}
	if r.host.o.Hooks.Replayed != nil && len(events) > 0 {
		r.host.o.Hooks.Replayed(r.info.ID, len(events), time.Since(began))
	}
	if !r.inputs.news { // else messages that were carried over may follow got
		r.inputs.got = max(r.inputs.got, m.InboxSeen())
	}
	r.steps.adopt(m.Pending(), r.task.Attempts)
}

// headOf is the head of a whole history, of which the machine has seen nothing yet.
func headOf(m *replay.Machine, events []journal.Event) journal.Head {
	if n := len(events); n > 0 {
		return journal.Head{Seq: events[n-1].Seq, Link: events[n-1].Link}
	}
	return m.Head()
}

// replayAll also refuses what was stored without a link: no release of ours did that.
func replayAll(m *replay.Machine, stored, uncommitted []journal.Event) error {
	for i := range stored {
		if stored[i].Link == 0 && stored[i].Kind.Chained() {
			return &replay.LinkError{Seq: stored[i].Seq, Kind: stored[i].Kind, Want: stored[i].LinkAfter(m.Head().Link)}
		}
		if err := m.Replay(&stored[i]); err != nil {
			return err
		}
	}
	if err := m.CheckOpen(); err != nil {
		return err
	}
	for i := range uncommitted {
		if err := m.Step(&uncommitted[i]); err != nil {
			return err
		}
	}
	return nil
}
