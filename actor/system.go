package actor

import (
	"context"
	"hash/maphash"
	"io"
	"log/slog"
	goruntime "runtime"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/pool"
	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// strandFrame is part of the name of a function that is below every strand of workflow code.
const strandFrame = "reprise/replay/internal/coro"

// System is the set of runs that are live in one node incarnation. Its methods are safe for
// concurrent use, and none of them but Drain and Kill blocks.
//
// What the rest of the node may rely on:
//
//   - Each Activate is answered by exactly one call of Hooks.Released, whatever becomes of the run.
//     The node counts on it for the limit of live runs.
//   - A run that the node owns is never forgotten. It is advanced by messages, and it stays owned
//     only while one is certain to come: the answer of a load, a commit or a step, or its own
//     timer. A run that waits for anything else is parked, and a claim brings it back.
//   - A system writes only under the fence of its activations, so a second system that owns the
//     same run by a higher fence cannot be disturbed, only delayed.
type System struct {
	*host
	shards []*proto.PID
	seed   maphash.Seed  // of the hash that assigns runs to shards
	done   chan struct{} // ends the sweeper
}

// New starts a system. It must be ended with Drain or Kill.
func New(o Options) *System {
	h := &host{o: o.withDefaults(), empty: make(chan struct{}, 1), proto: newProto()}
	h.pool = pool.New(goruntime.GOMAXPROCS(0))
	h.exec = newExecutor(&h.o, h.pool, h.proto.Root)
	h.pauses = h.exec.pauses
	h.room, h.pace = newRoom(h.exec.slots), newRetryPace()
	h.watchdog = watchdog.Watchdog[*journal.Run]{After: h.o.StuckAfter, Report: h.stuck, Frame: strandFrame}
	s := &System{host: h, seed: maphash.MakeSeed(), done: make(chan struct{})}
	props := proto.PropsFromProducer(func() proto.Actor { return newShard(h) }, proto.WithSupervisor(stopStrategy()),
		proto.WithDispatcher(h.pool))
	for range shardCount {
		s.shards = append(s.shards, h.proto.Root.Spawn(props))
	}
	go s.sweepLoop()
	return s
}

// newProto silences the library's own log: it holds message values, which are users' data, and says
// nothing that we do not. And each message to a stopped actor starts a goroutine that lives as long
// as the throttle's interval, which must not outlive the system.
func newProto() *proto.ActorSystem {
	silent := func(*proto.ActorSystem) *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }
	return proto.NewActorSystem(proto.WithLoggerFactory(silent), proto.WithDeadLetterThrottleInterval(time.Millisecond))
}

// stopStrategy stops an actor whose panic reached the library. Only a panic while another one is
// being handled does.
func stopStrategy() proto.SupervisorStrategy {
	return proto.NewOneForOneStrategy(1, time.Second, func(any) proto.Directive { return proto.StopDirective })
}

// Activate takes over a task that the node owns.
func (s *System) Activate(c driver.Claimed) {
	s.owns()
	s.toShard(c.Task.Run, &activate{claimed: &c, newcomer: s.room.newcomers.enter()})
}

// ActivateUnconfirmed is Activate for a task that the node may have owned for a while, as a
// reconciling claim reports it: the run may be live here, or may have moved on since. The claim is
// unconfirmed until a load has shown that the node still owns the run; nothing is executed before
// that.
func (s *System) ActivateUnconfirmed(c driver.Claimed) {
	s.owns()
	s.toShard(c.Task.Run, &activate{claimed: &c, unconfirmed: true, newcomer: s.room.newcomers.enter()})
}

// Attend makes a run look at its inbox. It does nothing for a run that is not live here.
func (s *System) Attend(run journal.RunID) { s.toShard(run, attention{run: run}) }

// Compare holds what the store says the node owns against what is live here, so that no fault of
// the store, of the network or of this package leaves a run that nobody advances: a run that is
// live here and not in the list, or in another state, is given up, and Hooks.Stray gets what is in
// the list and is not live here in this state. list is in any order. asked is the local time before
// the list was asked for.
//
// The comparison is of two moments, and the run may have moved on between them. So it counts only
// against a run to which nothing has happened since before the list was asked for. Whatever a
// commit changes meanwhile needs no comparison: a commit proves its owner and its head itself.
func (s *System) Compare(list []driver.Holding, asked time.Time) {
	parts := make([]map[journal.RunID]driver.Holding, len(s.shards))
	for i := range parts {
		parts[i] = map[journal.RunID]driver.Holding{}
	}
	for _, h := range list {
		parts[s.shardOf(h.Run)][h.Run] = h
	}
	for i, pid := range s.shards {
		s.send(pid, &compare{list: parts[i], asked: asked})
	}
}

// Pause makes the pauses of scopes what list says, all of them. When it returns, no body of a run
// in any of the scopes begins any more (J11), whatever its actor knows: the node may say that it
// heeds them. Runs that are live here hear of it by a message, and interrupt what they execute if
// their pause says so; runs whose pause is over go on. list is not to be changed.
//
// A run in a paused scope is on hold as one is that is paused itself, see hold.go. It has nobody to
// answer: when no body is executed it is parked as one that is due, and it is up to the node to
// claim nothing of the scope.
func (s *System) Pause(list []journal.Pause) {
	s.pauses.set(list)
	s.toAllShards(pausesChanged{})
}

// Steps is how many bodies of steps run.
func (s *System) Steps() int { return int(s.room.slots.size - s.room.slots.free.Load()) }

// FreeSlots is how many bodies of steps could begin now.
func (s *System) FreeSlots() int { return int(s.room.slots.free.Load()) }

// Live is the number of runs that this system owns, including activations in flight.
func (s *System) Live() int { return int(s.live.Load()) }

// Do executes a job of the store, such as writing a batch, on a worker of the system. The job may
// block.
func (s *System) Do(job pool.Job) { s.pool.Do(job) }

func (s *System) toShard(run journal.RunID, msg any) {
	s.send(s.shards[s.shardOf(run)], msg)
}

func (s *System) shardOf(run journal.RunID) int {
	return int(maphash.Bytes(s.seed, run[:]) % shardCount)
}

func (s *System) toAllShards(msg any) {
	for _, pid := range s.shards {
		s.send(pid, msg)
	}
}

// sweepLoop frees memory that is no longer needed: runs that have been parked for long, and
// workers.
func (s *System) sweepLoop() {
	t := time.NewTicker(max(s.o.WarmIdle/4, 10*time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.toAllShards(sweep{})
			s.pool.Trim()
		case <-s.done:
			return
		}
	}
}

// Drain hands every run back, then kills the system. Steps may end until ctx does; then their
// contexts are cancelled with ErrShutdown, and runs whose steps do not return within grace are
// handed back without them. Runs whose code does not await are not waited for: nothing in a drain
// would make it. The caller must not activate runs any more.
func (s *System) Drain(ctx context.Context, grace time.Duration) {
	s.draining.Store(true)
	s.toAllShards(drain{})
	if !s.awaitEmpty(ctx.Done()) {
		s.exec.stop(ErrShutdown)
		if !s.awaitEmpty(after(grace)) {
			s.toAllShards(drain{force: true})
			s.awaitEmpty(after(grace))
		}
	}
	s.Kill(ErrShutdown)
}

func after(d time.Duration) <-chan struct{} {
	c := make(chan struct{})
	time.AfterFunc(d, func() { close(c) })
	return c
}

// awaitEmpty returns false if runs are still live when until is closed, beside those whose code
// does not await.
func (s *System) awaitEmpty(until <-chan struct{}) bool {
	for s.live.Load() > int64(len(s.watchdog.Late())) {
		select {
		case <-s.empty:
		case <-until:
			return s.live.Load() == 0
		}
	}
	return true
}

// Kill ends the system without writing: steps are cancelled with the cause, and commits in flight
// may or may not be written. It returns when every actor is gone and every step body that looks at
// its context has returned; it waits a moment for the other bodies, and for workflow code that does
// not await, and leaves them behind.
func (s *System) Kill(cause error) {
	if s.killed.Swap(true) {
		return
	}
	close(s.done)
	s.exec.stop(cause)
	var stops []*proto.Future
	for _, pid := range s.shards {
		stops = append(stops, s.proto.Root.PoisonFuture(pid))
	}
	s.awaitStops(stops)
	s.proto.Shutdown()
	s.pool.Close()
	s.exec.wait(killGrace)
}

// awaitStops returns when the shards have ended, with all their actors. Code that does not await
// holds its shard up: the library would wait for it for long, so it is left behind, by its name.
func (s *System) awaitStops(stops []*proto.Future) {
	ended := make(chan struct{})
	go func() {
		for _, f := range stops {
			_ = f.Wait() // an error means that workflow code hangs; its state is thrown away in any case
		}
		close(ended)
	}()
	for {
		select {
		case <-ended:
			return
		case <-time.After(killGrace):
		}
		if late := s.watchdog.Late(); len(late) > 0 {
			if s.o.Hooks.LeftBehind != nil {
				s.o.Hooks.LeftBehind(late)
			}
			return
		}
	}
}
