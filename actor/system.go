package actor

import (
	"context"
	"hash/maphash"
	"io"
	"log/slog"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/pool"
	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
)

// strandFrame is part of the name of a function that is below every strand of workflow code.
const strandFrame = "reprise/replay/internal/coro"

// System is the set of runs that are live in one node incarnation.
type System struct {
	o      Options
	proto  *proto.ActorSystem
	shards []*proto.PID
	seed   maphash.Seed

	pool     *pool.Pool
	watchdog watchdog.Watchdog[*journal.Run]
	slots    chan struct{} // one for each step body that may run
	bodies   sync.WaitGroup
	base     context.Context // ancestor of every step's context
	stop     context.CancelCauseFunc
	draining atomic.Bool
	killed   atomic.Bool

	live  atomic.Int64
	spare atomic.Int64  // actors without a run
	empty chan struct{} // told when live becomes 0
	done  chan struct{} // ends the sweeper
}

// New starts a system. It must be ended with Drain or Kill.
func New(o Options) *System {
	o = o.withDefaults()
	base, stop := context.WithCancelCause(context.Background())
	s := &System{
		o: o, seed: maphash.MakeSeed(), base: base, stop: stop,
		pool:     pool.New(goruntime.GOMAXPROCS(0)),
		watchdog: watchdog.Watchdog[*journal.Run]{After: o.StuckAfter, Report: o.Hooks.Stuck, Frame: strandFrame},
		slots:    make(chan struct{}, o.StepsMax), empty: make(chan struct{}, 1), done: make(chan struct{}),
		// protoactor's own log holds message values, which are users' data, and says nothing we do not.
		// Each letter to a stopped actor starts a goroutine for the throttle's interval, which would outlive the system.
		proto: proto.NewActorSystem(proto.WithLoggerFactory(func(*proto.ActorSystem) *slog.Logger {
			return slog.New(slog.NewTextHandler(io.Discard, nil))
		}), proto.WithDeadLetterThrottleInterval(time.Millisecond)),
	}
	props := proto.PropsFromProducer(func() proto.Actor { return newShard(s) }, proto.WithSupervisor(stopStrategy()),
		proto.WithDispatcher(s.pool))
	for range shardCount {
		s.shards = append(s.shards, s.proto.Root.Spawn(props))
	}
	go s.sweepLoop()
	return s
}

// stopStrategy ends an actor whose panic reached the library, which our own recovers never let happen.
func stopStrategy() proto.SupervisorStrategy {
	return proto.NewOneForOneStrategy(1, time.Second, func(any) proto.Directive { return proto.StopDirective })
}

// Activate takes over a task that the node owns.
func (s *System) Activate(c journal.Claimed) {
	s.live.Add(1)
	s.tell(c.Task.Run, &activate{claimed: &c})
}

// ActivateUnconfirmed is Activate for a task that the node may have owned for a while, as a reconciling
// claim reports it: the run may be live here, or may have moved on since. The claim is unconfirmed until
// a load has shown that the node still owns the run; nothing is executed before that.
func (s *System) ActivateUnconfirmed(c journal.Claimed) {
	s.live.Add(1)
	s.tell(c.Task.Run, &activate{claimed: &c, unconfirmed: true})
}

// Attend makes a run look at its inbox. Unknown runs are ignored.
func (s *System) Attend(run journal.RunID) { s.tell(run, attention{run: run}) }

// Live is the number of runs that this system owns.
func (s *System) Live() int { return int(s.live.Load()) }

// Do runs a job of the store, such as writing a batch, on a worker of the system. The job may block.
func (s *System) Do(job pool.Job) { s.pool.Do(job) }

func (s *System) tell(run journal.RunID, msg any) {
	s.proto.Root.Send(s.shards[maphash.Bytes(s.seed, run[:])%shardCount], msg)
}

func (s *System) broadcast(msg any) {
	for _, pid := range s.shards {
		s.proto.Root.Send(pid, msg)
	}
}

func (s *System) released() {
	if s.live.Add(-1) == 0 {
		select {
		case s.empty <- struct{}{}:
		default:
		}
	}
	if s.o.Hooks.Released != nil {
		s.o.Hooks.Released()
	}
}

func (s *System) sweepLoop() {
	t := time.NewTicker(max(s.o.WarmIdle/4, 10*time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.broadcast(sweep{})
			s.pool.Trim()
		case <-s.done:
			return
		}
	}
}

// Drain hands every run back. Steps may end until ctx does; then their contexts are cancelled with
// ErrShutdown, and runs whose steps do not return within grace are handed back without them. The
// caller must not activate runs any more.
func (s *System) Drain(ctx context.Context, grace time.Duration) {
	s.draining.Store(true)
	s.broadcast(drain{})
	if !s.awaitEmpty(ctx.Done()) {
		s.stop(ErrShutdown)
		if !s.awaitEmpty(after(grace)) {
			s.broadcast(drain{abandon: true})
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

func (s *System) awaitEmpty(until <-chan struct{}) bool {
	for s.live.Load() > 0 {
		select {
		case <-s.empty:
		case <-until:
			return s.live.Load() == 0
		}
	}
	return true
}

// Kill throws everything away without writing: steps are cancelled with the cause, and commits in flight
// may or may not land. It returns when every actor is gone and every step body that looks at its
// context has returned.
func (s *System) Kill(cause error) {
	if s.killed.Swap(true) {
		return
	}
	close(s.done)
	s.stop(cause)
	var stops []*proto.Future
	for _, pid := range s.shards {
		stops = append(stops, s.proto.Root.PoisonFuture(pid))
	}
	for _, f := range stops {
		_ = f.Wait() // an error means that user code hangs; its state is dead anyway
	}
	s.proto.Shutdown()
	s.pool.Close()
	returned := make(chan struct{})
	go func() { s.bodies.Wait(); close(returned) }()
	select {
	case <-returned:
	case <-time.After(killGrace):
	}
}
