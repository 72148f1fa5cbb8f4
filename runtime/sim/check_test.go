package sim

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime/bulk"
)

// check is one property of a world that has come to rest.
type check struct {
	name string
	find func(*finder)
}

// checks are all of them; each has a file.
var checks = []check{
	{"linear", checkLinear},
	{"links", checkLinks},
	{"owner", checkOwner},
	{"signals", checkSignals},
	{"outcomes", checkOutcomes},
	{"family", checkFamily},
	{"policies", checkPolicies},
	{"sends", checkSends},
	{"updates", checkUpdates},
	{"effects", checkEffects},
	{"timers", checkTimers},
	{"attempts", checkAttempts},
	{"edits", checkEdits},
	{"jobs", checkJobs},
	{"chance", checkChance},
	{"lines", checkLines},
	{"model", checkModel},
	{"replay", checkReplay},
	{"blocked", checkBlocked},
	{"strays", checkStrays},
	{"late", checkLate},
	{"stuck", checkStuck},
	{"bounds", checkBounds},
}

// finder is what a check looks at, and where it tells what it finds.
type finder struct {
	*world
	name string
	runs []*settled
}

// settled is a run with what is left of it in the database.
type settled struct {
	*running
	memory.RunSnapshot
	finder *finder
	begins []begin // of all generations
}

// generations returns the histories of all generations. Of those of the run of which this one is a
// fork there is nothing.
func (s *settled) generations() [][]journal.Event { return append(slices.Clip(s.Past), s.Events) }

// breaks notes that the check's property does not hold.
func (f *finder) breaks(format string, args ...any) { f.world.breaks(f.name, format, args...) }

// check runs all checks.
func (w *world) check() {
	f := &finder{world: w}
	for _, r := range w.runs {
		if r.of != 0 {
			r.parent = w.run(r.from)
		}
	}
	for _, s := range w.db.Snapshot().Runs {
		r := w.run(s.Run.ID)
		if s.Run.Workflow == bulk.Workflow { // see checkJobs
			continue
		}
		if r == nil {
			w.breaks("stuck", "run %s with key %q is nobody's", s.Run.ID, s.Run.Key)
			continue
		}
		f.runs = append(f.runs, &settled{running: r, RunSnapshot: s, finder: f})
	}
	f.begin()
	for _, c := range checks {
		f.name = c.name
		c.find(f)
	}
}

// kept returns all that the database holds of a run, and nothing of a run that does not exist.
func (w *world) kept(run journal.RunID) memory.RunSnapshot {
	r, _ := w.db.Run(run)
	return r
}

// String names a run in what a check finds.
func (s *settled) String() string { return s.name() }

// payloads lists the signals that came, in order; of all names if name is empty.
func (s *settled) payloads(name string) []string {
	var list []string
	for i := range s.Messages {
		if m := &s.Messages[i]; m.Kind == journal.MessageSignal && (name == "" || m.Name == name) {
			list = append(list, decodeSignal(m.Payload))
		}
	}
	return list
}

// quietFrom is when, by the store's clock, nothing has been wrong for long enough.
func (w *world) quietFrom() time.Time {
	return w.storeTime(w.plan.calm() + backAfter)
}

// attended is checked when programs have had time to do what they can: nothing waits that a node
// should have taken, and has had a place for (see withRoom) for longer than lateMax.
func (w *world) attended() {
	now, quiet := w.storeClock(), w.quietFrom()
	waits := func(since time.Time) bool { return w.withRoom(later(since, quiet), now) > w.plan.lateMax() }
	for _, s := range w.db.Snapshot().Runs {
		t, placed := s.Run.Task, time.Time{}
		if t != nil && len(s.Run.Limits) > 0 && t.Turn == 0 { // it has its place since then
			placed = t.VisibleAt
		}
		switch {
		case t != nil && t.State == journal.Limited: // its place is somebody else's
		case t == nil, t.State.OnHold() && w.now() > 0: // an operator whose call was lost resumes it late
		case t.State == journal.Paused && slices.ContainsFunc(t.Attempts, func(a journal.Attempt) bool { return a.Exhausted }): // it is resumed soon
		case len(s.Inbox) > 0 && waits(later(placed, later(s.Inbox[0].Time, w.tape.generationOf(s.Run.ID)))):
			w.breaks("stuck", "run %s: message %d waits and nobody takes it: %+v", s.Run.ID, s.Inbox[0].Number, *t)
		case t.State != journal.Ready:
			w.breaks("stuck", "run %s is %s: %s", s.Run.ID, t.State, t.Problem)
		case t.Owner == 0 && !t.VisibleAt.IsZero() && waits(t.VisibleAt):
			w.breaks("stuck", "run %s has been due for %s and nobody claims it", s.Run.ID, now.Sub(t.VisibleAt))
		}
	}
}

// worked is checked at the same time: a node owns a run only while it executes a step of it, or is
// about to go on with it. One that has been with the same owner, in the same state, since a moment
// in the calm, and of which nothing has been executed since, is a run that its owner does not know.
func (w *world) worked(since memory.Snapshot) {
	w.mu.Lock()
	busy, queued := map[journal.RunID]bool{}, false // others may wait for the slot of a step, or its limit
	few := len(w.plan.Bounds) > 0 || slices.ContainsFunc(w.plan.Nodes, func(n nodePlan) bool { return n.StepsMax > 0 })
	for _, e := range w.executions {
		if e.over == 0 || e.over > w.plan.calm() {
			busy[e.run], queued = true, few
		}
	}
	w.mu.Unlock()
	if queued {
		return
	}
	type state struct {
		fence  journal.Fence
		head   journal.Head
		seen   journal.InboxSeq
		within journal.Generation
	}
	states := func(list []memory.RunSnapshot) map[journal.RunID]state {
		found := map[journal.RunID]state{}
		for _, s := range list {
			if s.Run.Task != nil && s.Run.Task.Owner != 0 {
				found[s.Run.ID] = state{s.Run.Task.Fence, headOf(s.Events), s.Consumed, s.Run.Generation}
			}
		}
		return found
	}
	before := states(since.Runs)
	for run, now := range states(w.db.Snapshot().Runs) {
		if then, known := before[run]; known && then == now && !busy[run] {
			w.breaks("stuck", "run %s is owned under fence %d in the state of event %d, and its owner does nothing", w.number(run), now.fence, now.head.Seq)
		}
	}
}

// headOf is the newest event of a generation.
func headOf(events []journal.Event) (h journal.Head) {
	if n := len(events); n > 0 {
		h = journal.Head{Seq: events[n-1].Seq, Link: events[n-1].Link}
	}
	return h
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
