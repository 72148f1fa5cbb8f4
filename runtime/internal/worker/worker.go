package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/held"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// Config of a Worker. Every field is required but Waiting.
type Config struct {
	Journal *driver.Journal
	Member  driver.Membership // the worker leaves it when it ends
	Routes  []journal.Route   // the workflows it executes; nobody changes the slice any more
	Pauses  []journal.Pause   // of scopes, as the store has said since the node joined

	Lease time.Duration // as Join was told
	Grace time.Duration // as Join was told
	Poll  time.Duration // between two looks at the queue when there are no hints
	Drain time.Duration // how long running steps may continue after shutdown begins

	LiveMax  int // runs owned at once
	Batchers int // batches of commits that may be in flight at once

	// Actors are the options of the actor system. The worker sets Node and Store, and some of the
	// hooks.
	Actors actor.Options
	// Waiting is told how many due runs wait because this node is full, and since when some do,
	// when the number changes; 0 for none. nil for nobody.
	Waiting func(runs int, since time.Time)
	// Unowned is told the route of each child that a turn has started and this node does not own.
	// It must be quick. nil for nobody.
	Unowned func(journal.Route)
	// Hint gets the hints that say that a run has ended, or that any hint may have been lost.
	Hint func(driver.Hint)
	Log  *slog.Logger
}

// Worker executes runs under one node id.
//
// # Lifetime
//
// New, Begin, then exactly one of Drain and Abort, which waits for everything that the worker
// started. Whoever has the worker calls Drain when it is asked to end, and Abort when Lost is
// closed. Drain notices by itself that the lease is lost meanwhile.
//
// # Contexts
//
//	alive      Ends when nothing may be written any more: at the end of Drain, and at once in Abort.
//	           Commits, loads, renewals, hints and the watch over the contact live as long.
//	acquiring  Ends when the drain begins. The claim loop and the reaper live as long. Runs that
//	           were acquired before are still executed.
//	claims     Lasts for drainGrace longer than acquiring. It is the context of a claim in flight:
//	           cancelled too early, its answer would be lost, and the runs it acquired would wait
//	           unknown until Leave.
//
// The last two are children of alive. The contexts of steps are none of these: the actor system
// makes and ends them, with a cause that the step can read.
//
// # What may be called by whom
//
// Starts and ID may be called from any goroutine for as long as anybody likes; the start gate turns
// them down after the end has begun. The mutexes below (of claimTimer, unconfirmed, startGate and
// the batchers) are leaves: none is held while another is taken or while the store is called. That
// of contact is held while claimTimer's is taken, and not while the store is called.
type Worker struct {
	cfg Config
	id  journal.NodeID

	sys        *actor.System
	writer     *writer
	starts     *localStarts
	pauses     *pauses
	limiter    *limiter
	runLimits  *runLimits
	claimer    *claimer
	comparison *comparison
	lease      *lease
	contact    *contact
	reaper     *reaper

	alive       context.Context
	kill        context.CancelFunc
	acquiring   context.Context
	endClaims   context.CancelFunc // ends acquiring
	abortClaims context.CancelFunc // ends claims

	loops    sync.WaitGroup // all loops, the reaper's second looks, and questions for a sign of life
	claiming sync.WaitGroup // the claim loop alone

	asked chan struct{} // an operator wants the node to leave; it has room for one token

	failOnce sync.Once
	lost     chan struct{}
	reason   error // why the lease was lost; set before lost is closed
}

// New returns a worker that does nothing yet.
func New(cfg Config) *Worker {
	w := &Worker{cfg: cfg, id: cfg.Member.ID(), lost: make(chan struct{}), asked: make(chan struct{}, 1)}
	w.alive, w.kill = context.WithCancel(context.Background())
	w.acquiring, w.endClaims = context.WithCancel(w.alive)
	var claims context.Context
	claims, w.abortClaims = context.WithCancel(w.alive)

	w.writer = newWriter(w.alive, cfg.Journal, cfg.Batchers)
	w.writer.held.Log, w.writer.held.Key, w.writer.slow.Log = cfg.Log, logkey.Run, cfg.Log
	w.writer.slow.What = held.SlowCall
	w.writer.late.Log, w.writer.late.Key, w.writer.late.What = cfg.Log, logkey.Run, held.LateCall
	w.writer.held.What = "another transaction has locked a run; its commit waits until that ends, other runs go on"
	o := cfg.Actors
	w.limiter = newLimiter(cfg.Member, cfg.Journal, cfg.Log)
	w.runLimits = newRunLimits(cfg.Member, cfg.Journal.Now, cfg.Log)
	w.comparison = &comparison{every: cfg.Lease * leasesPerComparison, last: time.Now()}
	o.Node, o.Store, o.Limiter = w.id, w.writer, w.limiter
	o.Hooks.Owns, o.Hooks.Released, o.Hooks.Room = w.noteOwned, w.noteRoom, w.noteRoom
	o.Hooks.Stray, o.Hooks.Lost = w.stray, w.runLost(o.Hooks.Lost)
	trials := &trials{over: func() { w.claimer.timer.expect(time.Time{}) }}
	o.Hooks.Acquitted = trials.acquitted
	w.sys = actor.New(o)
	w.limiter.back.room = w.sys.FreeSlots
	w.writer.runOn(w.sys.Do)

	room := &room{sys: w.sys, liveMax: cfg.LiveMax, setFull: func(full bool) { cfg.Journal.SetFull(w.id, full) }}
	unconfirmed := &unconfirmed{}
	w.pauses = &pauses{member: cfg.Member, node: w.id, routes: cfg.Routes, pause: w.sys.Pause, log: cfg.Log, wake: make(chan struct{}, 1),
		claim: func() { w.claimer.timer.expect(time.Time{}) }, drain: w.ask}
	w.claimer = &claimer{
		j: cfg.Journal, node: w.id, routes: w.pauses.openRoutes, sys: w.sys, room: room, log: cfg.Log,
		crowd:       &crowd{node: w.id, tell: w.sys.Crowd, room: room, log: cfg.Log, observe: cfg.Waiting},
		timer:       newClaimTimer(cfg.Journal.Now, cfg.Poll, room.left, unconfirmed),
		unconfirmed: unconfirmed, trials: trials, claims: claims, member: cfg.Member, comparison: w.comparison, doubt: w.limiter.doubt, lost: w.fail,
	}
	w.pauses.take(cfg.Pauses)
	w.starts = &localStarts{
		node: w.id, routes: w.pauses.openRoutes, room: room.left, activate: w.sys.Activate, reconcile: w.claimer.reconcileNow,
		needs: cfg.Actors.Needs,
	}
	w.writer.starts, w.writer.unowned = w.starts, cfg.Unowned
	w.reaper = &reaper{member: cfg.Member, node: w.id, lease: cfg.Lease, looked: w.claimer.timer.noteLook, log: cfg.Log,
		wake: make(chan struct{}, 1), loops: &w.loops}
	w.contact = &contact{
		member: cfg.Member, node: w.id, grace: cfg.Grace, owns: w.owns, interrupt: w.sys.Interrupt, resume: w.resume, look: w.reaper.look,
		lost: w.fail, log: cfg.Log, wake: make(chan struct{}, 1), loops: &w.loops,
	}
	w.lease = &lease{member: cfg.Member, length: cfg.Lease, owns: w.owns, lost: w.fail, wake: make(chan struct{}, 1), loops: &w.loops, renewed: func(r driver.Renewal) {
		if r.Compare {
			w.comparison.note()
		}
		if w.comparison.wanted() {
			w.claimer.timer.expect(time.Time{})
		}
		if r.Heed {
			w.pauses.look()
		}
		w.contact.note()
		w.reaper.look()
	}}
	return w
}

// ID returns the id under which the worker owns runs.
func (w *Worker) ID() journal.NodeID { return w.id }

// Live is how many runs the worker owns.
func (w *Worker) Live() int { return w.sys.Live() }

// Steps is how many bodies of their steps run.
func (w *Worker) Steps() int { return w.sys.Steps() }

// Begin starts the loops. leaseEnd is the local time until which the lease lasts: counted from
// before the request that granted it was sent, as lease says.
func (w *Worker) Begin(leaseEnd time.Time) {
	w.lease.renewNow() // to hear of those who joined at the same moment, who saw nobody either
	w.claiming.Add(1)
	for _, loop := range []func(){
		func() { w.lease.renewLoop(w.alive, leaseEnd) },
		func() { w.contact.loop(w.alive) },
		func() { w.pauses.loop(w.alive) },
		func() { w.limiter.loop(w.alive) },
		func() { w.runLimits.loop(w.alive) },
		func() { w.reaper.lookLoop(w.acquiring) },
		func() { w.reaper.sweepLoop(w.acquiring) },
		w.watchLoop,
		func() { defer w.claiming.Done(); w.claimer.loop(w.acquiring) },
	} {
		w.loops.Add(1)
		go func() { defer w.loops.Done(); loop() }()
	}
}

// Lost is closed when the lease is lost. Nothing of the worker can be written any more then (J3).
func (w *Worker) Lost() <-chan struct{} { return w.lost }

// Asked gets a token when an operator wants the node to leave. [Worker.Drain] does it.
func (w *Worker) Asked() <-chan struct{} { return w.asked }

func (w *Worker) ask() {
	select {
	case w.asked <- struct{}{}:
	default: // once is enough
	}
}

// Starts begins a batch of starts. It may be called on a nil worker: nothing is owned then.
func (w *Worker) Starts() StartBatch {
	if w == nil {
		return StartBatch{}
	}
	return StartBatch{local: w.starts}
}

// watchLoop acts on hints. All of them may be lost: the poll, the renewal and the waiters' own poll
// find the same later.
func (w *Worker) watchLoop() {
	err := w.cfg.Journal.Watch(w.alive, func(h driver.Hint) {
		switch h.Kind {
		case driver.HintTasks:
			w.claimer.timer.expect(h.At)
		case driver.HintInbox:
			if h.Node == w.id {
				w.sys.Attend(h.Run)
			}
		case driver.HintScan:
			w.claimer.timer.expect(time.Time{})
			w.limiter.hear(0)
			w.runLimits.look()
			w.cfg.Hint(h)
		case driver.HintClosed:
			w.cfg.Hint(h)
		case driver.HintTerminated:
			w.sys.Attend(h.Run)
		case driver.HintLimit:
			if w.limiter.hear(h.Node); h.Node == 0 { // a limit has changed, or what a node held is free
				w.runLimits.look()
			}
		case driver.HintRunLimits:
			w.runLimits.hear(h.At)
		case driver.HintNode:
			w.lease.renewNow()
		}
	})
	if err != nil && w.alive.Err() == nil {
		w.cfg.Log.Error("the store sends no more hints; this node only polls", logkey.Node, w.id, logkey.Error, err)
	}
}

// owns tells whether the node owns a run, or is about to.
func (w *Worker) owns() bool { return w.sys.Live() > 0 }

// noteOwned is called when the node comes to own a run. The first run is owned only after New has
// made everything.
func (w *Worker) noteOwned() { w.contact.begin() }

// noteRoom is called when a run stops being live, or the system can work on more. The first run is
// live only after New has made everything.
func (w *Worker) noteRoom() {
	w.claimer.timer.noteRoom()
	w.limiter.noteRoom()
}

// runLost is the hook of a run that was given up. A refusal is looked into: the store may have gone
// back in time, and then others of the node's runs are in the same state without having heard of
// it.
func (w *Worker) runLost(report func(*journal.Run, error)) func(*journal.Run, error) {
	return func(run *journal.Run, err error) {
		if report != nil {
			report(run, err)
		}
		w.compareNow()
	}
}

// stray is the hook of a task that the store says this node owns, and that the node does not run.
// If nothing was committed under its claim, the answer to the claim or start may be on its way; if
// that is lost a reconciling claim takes the task up. Else it is released.
func (w *Worker) stray(h driver.Holding) {
	if !h.Confirmed {
		switch lost, second := w.comparison.isLost(h); {
		case lost:
			w.claimer.reconcileNow()
		case !second.IsZero():
			w.claimer.timer.expect(second)
		}
		return
	}
	w.comparison.addStray(h)
	w.claimer.timer.expect(time.Time{})
}

// compareNow asks for a comparison of what the node owns with what the store says.
func (w *Worker) compareNow() {
	w.comparison.note()
	w.claimer.timer.expect(time.Time{})
}

// resume lets steps go on after an interruption. What was given up meanwhile is still owned, and
// other nodes may have taken some of it.
func (w *Worker) resume() {
	w.sys.Resume()
	w.compareNow()
}

// fail records why the lease is lost and closes Lost. Only the first reason counts.
func (w *Worker) fail(reason error) {
	w.failOnce.Do(func() {
		w.reason = reason
		close(w.lost)
	})
}
