package actor

import (
	"sync/atomic"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/pool"
	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
)

// host is what the shards and runs of one system share, and all that they know of it. It is what is
// below them; System, which makes them, is above.
//
// live counts the activations that have not been given up. Activate adds one before its message is
// sent, and whoever ends the activation subtracts it: the run when its phase becomes idle, or when
// it finds that it knows the activation already. So live is 0 exactly when no run is owned and no
// activation is in flight, which is what Drain waits for.
type host struct {
	o        Options
	proto    *proto.ActorSystem
	pool     *pool.Pool
	exec     *executor
	room     *room
	pace     *retryPace
	watchdog watchdog.Watchdog[*journal.Run]

	draining atomic.Bool // no step starts any more, and runs are handed back
	killed   atomic.Bool // nothing is written any more
	silent   atomic.Bool // no step starts: see System.Interrupt
	crowded  atomic.Bool // others wait for places of this node: see System.Crowd

	pauses *pauses // of scopes

	live  atomic.Int64
	spare atomic.Int64  // actors without a run
	empty chan struct{} // gets a token when live becomes 0, and at each change that Drain looks at

	onPhase func(from, to phase) // of tests, else nil
}

func (h *host) send(to *proto.PID, msg any) { h.proto.Root.Send(to, msg) }

// lookAtLive makes a Drain look at what is live.
func (h *host) lookAtLive() {
	select {
	case h.empty <- struct{}{}:
	default:
	}
}

// stuck is called for workflow code that does not await.
func (h *host) stuck(run *journal.Run, after time.Duration, stacks string) {
	if h.o.Hooks.Stuck != nil {
		h.o.Hooks.Stuck(run, after, stacks)
	}
	h.lookAtLive()
}

// owns begins an activation. Whoever sees in the hook that nothing was live until now is told
// before a step of the run can start.
func (h *host) owns() {
	h.live.Add(1)
	if h.o.Hooks.Owns != nil {
		h.o.Hooks.Owns()
	}
}

// released ends an activation.
func (h *host) released() {
	if h.live.Add(-1) == 0 || h.draining.Load() {
		h.lookAtLive()
	}
	if h.o.Hooks.Released != nil {
		h.o.Hooks.Released()
	}
}

// traceOf is the trace of what a run starts: a family of runs is one trace.
func (h *host) traceOf(run *journal.Run) string {
	if h.o.Hooks.Trace != nil {
		return h.o.Hooks.Trace(run)
	}
	return run.Trace
}
