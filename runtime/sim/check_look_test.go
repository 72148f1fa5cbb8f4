package sim

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime"
)

// look asks a run through a node what it sees: it must be all that had come, by name and number,
// but what waits behind something that only an owner decides.
func (w *world) look(r *running, via int) {
	w.mu.Lock()
	p, id, epoch := w.nodes[via], r.id, w.epoch
	w.mu.Unlock()
	if p == nil || id.IsZero() {
		return
	}
	before, _ := w.came(r)
	stop, idle := w.undecided(r) // before: while the store answers, the run may go on past it, or begin
	ctx, cancel := context.WithTimeout(w.ctx, callMax)
	defer cancel()
	began := w.elapsed()
	s, err := runtime.Query(ctx, p.node, id, look, "")
	waited := w.elapsed() - began
	if waited >= callMax/2 { // before anything else: the node has learned from it, whatever the answer is worth
		w.mu.Lock()
		r.waitedIn = append(r.waitedIn, p)
		w.mu.Unlock()
	}
	if err != nil {
		if _, older := errors.AsType[*journal.UnreadableError](err); older && w.plan.hasOlder() {
			return
		}
		if _, undecided := errors.AsType[*replay.UndecidedError](err); undecided {
			if stop, _ := w.undecided(r); stop == 1 || w.now() != epoch || (r.plan.isPaused() || w.plan.pausesAll()) { // who is paused decides nothing
				return
			}
		}
		if !errors.Is(err, journal.ErrUnavailable) && ctx.Err() == nil && !w.neverBegan(r) && w.now() == epoch {
			w.breaks("queries", "run %s: %v", r.name(), err)
		}
		return
	}
	after, open := w.came(r)
	if w.now() != epoch {
		return
	}
	least := before
	if open && !s.Done && less(s.Came, before) {
		least = w.excused(r, p, waited, before, stop, idle)
	}
	if r.plan.leavesOut() {
		least = map[string]int{}
	}
	for _, name := range signalNames {
		if n := s.Came[name]; n > after[name] || n < least[name] && open && !s.Done {
			w.breaks("queries", "run %s: %d signals %s are seen, %d had come before and %d after", r.name(), n, name, before[name], after[name])
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks++
}

func less(n, than map[string]int) bool {
	return slices.ContainsFunc(signalNames, func(name string) bool { return n[name] < than[name] })
}

// excused returns what a query must have seen at least that has not seen all that had come before:
// what the run had taken, and of what waited what came before the message on which its code asks
// for something that only an owner decides. The query must have waited for an owner first, unless
// nobody goes on with the run, or an earlier query through the same node has waited in vain. began is
// where the code asked when the query began, and wasIdle whether nobody went on then: a run can take
// its turn behind the query's last look.
func (w *world) excused(r *running, p *process, waited time.Duration, before map[string]int, began journal.InboxSeq, wasIdle bool) map[string]int {
	stop, idle := w.undecided(r)
	if stop == 0 {
		stop = began
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop == 0 || waited < callMax/2 && !idle && !wasIdle && !(r.plan.isPaused() || w.plan.pausesAll()) && !slices.Contains(r.waitedIn, p) {
		return before
	}
	w.excuses++
	least := map[string]int{}
	for _, m := range w.kept(r.id).Messages {
		if m.Kind == journal.MessageSignal && m.Number < stop && least[m.Name] < before[m.Name] {
			least[m.Name]++
		}
	}
	return least
}

// undecided returns the message on which the code of a run, as it is stored now, asks for what only
// its owner decides: 1 if its first turn does, 0 for none. idle tells that nobody works on the run.
func (w *world) undecided(r *running) (at journal.InboxSeq, idle bool) {
	h, err := w.db.Load(context.Background(), []driver.LoadRequest{{Run: r.id}})
	switch {
	case err != nil || h[0].More:
		w.breaks("queries", "run %s cannot be loaded: %v", r.name(), err)
		return 0, false
	case h[0].Run.Task == nil: // it has just closed
		return 1, true
	}
	f := foreseer{w: w, run: h[0].Run, now: w.storeClock()}
	f.begin()
	defer func() { f.m.Close() }()
	for i := range h[0].Events {
		if err := f.m.Replay(&h[0].Events[i]); err != nil {
			w.breaks("queries", "run %s does not replay: %v", r.name(), err)
			return 0, false
		}
	}
	at, err = f.walk(h[0].Inbox)
	if _, undecided := errors.AsType[*replay.UndecidedError](err); !undecided && err != nil {
		w.breaks("queries", "run %s does not go on: %v", r.name(), err)
	}
	return at, h[0].Run.Task.State != journal.Ready
}

// foreseer is a run's next owner.
type foreseer struct {
	w   *world
	run journal.Run
	now time.Time
	m   *replay.Machine
}

func (f *foreseer) begin() {
	code := definition(f.w.plan.Slip)
	f.m = replay.New(code, replay.InfoOf(&f.run), journal.New(f.w.db, nil))
	f.m.SetThresholds(replay.Thresholds{Events: f.w.plan.Long})
}

// walk takes what waits, through further generations. It returns the message at which that ends, 1
// for the first turn, with the reason.
func (f *foreseer) walk(inbox []journal.Message) (at journal.InboxSeq, err error) {
	if f.m.LastSeq() == 0 {
		if err := replay.ForeseeFirst(f.m, &f.run, f.now); err != nil {
			return 1, err
		}
	}
	for {
		for len(inbox) > 0 && !f.m.Finished() {
			at = max(at, inbox[0].Number)
			taken, err := replay.Foresee(f.m, &inbox[0], f.now)
			if err != nil {
				return at, err
			}
			if taken {
				inbox = inbox[1:]
			}
		}
		next, carried, ok := replay.Successor(f.m, &f.run)
		if !ok {
			return 0, nil
		}
		f.m.Close()
		f.run, inbox = next, append(carried, inbox...)
		f.begin()
		if err := replay.ForeseeFirst(f.m, &f.run, f.now); err != nil {
			return max(at, 1), err
		}
	}
}

// came counts the signals in a run's inbox, and tells whether it is open.
func (w *world) came(r *running) (n map[string]int, open bool) {
	n = map[string]int{}
	for _, m := range w.kept(r.id).Messages {
		if m.Kind == journal.MessageSignal {
			n[m.Name]++
		}
	}
	return n, slices.ContainsFunc(w.open(), func(run journal.Run) bool { return run.ID == r.id })
}

// neverBegan tells whether a run was closed before its first turn: nothing can be asked then.
func (w *world) neverBegan(r *running) bool {
	h, err := w.db.Load(context.Background(), []driver.LoadRequest{{Run: r.id}})
	return err == nil && len(h[0].Events) == 1 && h[0].Run.Status.Closed()
}

// lookAtAll asks some run of the plan once more, when all is quiet: the answer must come.
func (w *world) lookAtAll() {
	for via := range min(len(w.plan.Nodes), len(w.plan.Runs)) {
		w.mu.Lock()
		r := w.runs[via]
		w.mu.Unlock()
		if !r.id.IsZero() {
			w.look(r, via+1)
		}
	}
}
