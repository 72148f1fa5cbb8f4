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
	ask(r, driver.LoadRequest{AfterInbox: r.inputs.got, InboxOnly: inboxOnly, Lean: !r.inputs.heavy})
}

// loadPage reads the next page of a long history. Messages are read when its end has been reached.
func loadPage(r *run) {
	r.enter(loading)
	ask(r, driver.LoadRequest{AfterSeq: r.partial.machine.LastSeq(), EventsOnly: true})
}

func ask(r *run, q driver.LoadRequest) {
	q.Run, q.Owned, q.Apart = r.info.ID, true, r.apart
	host, self, epoch := r.host, r.self, r.epoch
	host.o.Store.Load(q, func(h driver.History, err error) {
		host.send(self, loaded{epoch: epoch, history: h, err: err})
	})
}

// partial is a machine that has replayed a part of the stored history. The rest is being loaded, so
// that no more of a history than a page is in memory at once. Nothing else of the run has to do
// with the machine before it is whole.
//
// Pages are of different moments, and belong together all the same: onLoaded compares owner, fence
// and generation with those of the activation for each, so nobody else has appended anything; this
// actor appends nothing while it loads; and the machine compares the links. See driver.LoadRequest.
type partial struct {
	machine *replay.Machine
	events  int
	took    time.Duration // for replaying
}

// takeRow takes what the claim had no room for. The task of the activation is the newer one, but
// for what was left out of it: nobody else writes attempts while this node owns the run, and it has
// committed nothing since.
func takeRow(r *run, row *journal.Run) {
	r.apart = 0
	r.task.Attempts = row.Task.Attempts
	if r.machine != nil {
		r.steps.recall(row.Task.Attempts)
		renew(r)
	}
	info := *row
	info.Task = nil
	r.info = &info
}

// takeHistory replays a page of the history. If it was not the last one, the next one is asked for,
// and messages are read when its end has been reached.
func takeHistory(r *run, h *driver.History) {
	first := r.partial == nil
	if first {
		if len(h.Events) == 0 && !h.More && needsLimits(r) || !begin(r) {
			return
		}
		if !h.More && !onHold(r) {
			r.inputs.addMessages(h)
		}
	}
	if n := len(h.Events); n > 0 && !h.More { // before the code may fail: a commit that blocks the run names it
		r.head = journal.Head{Seq: h.Events[n-1].Seq, Link: h.Events[n-1].Link}
	}
	p := r.partial
	began := time.Now()
	if err := r.watched(func() error { return replayStored(p.machine, h.Events) }); err != nil {
		r.fail(err)
		return
	}
	p.events, p.took = p.events+len(h.Events), p.took+time.Since(began)
	switch {
	case h.More:
		loadPage(r)
	case first:
		finish(r)
	default:
		r.inputs.news = true
		finish(r)
	}
}

// rebuild makes the machine of a run without a stored history.
func (r *run) rebuild() {
	if !needsLimits(r) && begin(r) {
		finish(r)
	}
}

// begin begins to make a machine. If it cannot, the run has failed.
func begin(r *run) bool {
	def := r.host.o.Lookup(r.info.Workflow, r.info.Version)
	if def == nil {
		r.fail(fmt.Errorf("workflow %q version %d is not registered here", r.info.Workflow, r.info.Version))
		return false
	}
	ident := replay.InfoOf(r.info)
	r.ident = &ident
	r.partial = &partial{machine: replay.New(def, ident, r.host.o.Store)}
	r.partial.machine.SetThresholds(r.host.o.Thresholds)
	r.partial.machine.SetShown(r.info.Published, r.info.Labels)
	replay.SetFreezes(r.partial.machine, r.info.Freezes)
	return true
}

// finish takes the machine into use: it has replayed what is stored, and now the events of a first
// turn that is not stored yet. What the code asked for in them is pending, and is aligned with the
// table of steps.
func finish(r *run) {
	p := r.partial
	m := p.machine
	r.machine, r.partial = m, nil
	r.head = m.Head()
	if p.events+len(r.uncommitted) > 0 {
		if err := r.watched(func() error { return stepAll(m, r.uncommitted) }); err != nil {
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
	if r.host.o.Hooks.Replayed != nil && p.events > 0 {
		r.host.o.Hooks.Replayed(r.info.ID, p.events, p.took)
	}
	if !r.inputs.news && !onHold(r) { // else messages that were carried over may follow got
		r.inputs.got = max(r.inputs.got, m.InboxSeen())
	}
	r.steps.adopt(m.Pending(), r.task.Attempts, r.info.Freezes)
	takeGiven(r)
	renew(r)
}

// takeGiven ends steps that have a given result: they are not executed.
func takeGiven(r *run) {
	for _, s := range r.steps.open {
		if s.given != nil && !s.ended {
			r.inputs.addOutcome(s, result{cmd: s.Cmd, output: *s.given}, r.now())
		}
	}
}

// replayStored also refuses what was stored without a link: no release of ours did that.
func replayStored(m *replay.Machine, events []journal.Event) error {
	for i := range events {
		if events[i].Link == 0 && !events[i].ByStore() {
			return &replay.LinkError{Seq: events[i].Seq, Kind: events[i].Kind, Want: events[i].LinkAfter(m.Head().Link)}
		}
		if err := m.Replay(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// stepAll takes the events behind those that are stored. Code that has returned before the end of
// its run is found first.
func stepAll(m *replay.Machine, events []journal.Event) error {
	if err := m.CheckOpen(); err != nil {
		return err
	}
	for i := range events {
		if err := m.Step(&events[i]); err != nil {
			return err
		}
	}
	return nil
}
