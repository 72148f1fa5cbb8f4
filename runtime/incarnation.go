package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
)

// incarnation is a node between joining and leaving, or losing its lease.
type incarnation struct {
	n      *Node
	id     journal.NodeID
	member journal.Membership
	sys    *actor.System
	writer *writer

	ctx    context.Context // ends when nothing may be written any more
	cancel context.CancelFunc
	claims context.Context // ends when the drain begins
	stop   context.CancelFunc
	asks   context.Context // of claims in flight; ends a while after claims
	hangUp context.CancelFunc
	loops  sync.WaitGroup // all loops

	claiming sync.WaitGroup // the claim loop
	births   births

	lostOnce sync.Once
	lost     chan struct{}
	reason   error // set before lost is closed

	wake  chan struct{} // shortens the claim loop's wait
	dueMu sync.Mutex
	due   time.Time // earliest time at which a claim is known to be worth it; zero for none
	heard time.Time // when a claim, or a renewal in its place, last looked at the queue; guarded by dueMu
	doubt doubt
}

func newIncarnation(n *Node, m journal.Membership) *incarnation {
	inc := &incarnation{n: n, id: m.ID(), member: m, lost: make(chan struct{}), wake: make(chan struct{}, 1)}
	inc.ctx, inc.cancel = context.WithCancel(context.Background())
	inc.claims, inc.stop = context.WithCancel(inc.ctx)
	inc.asks, inc.hangUp = context.WithCancel(inc.ctx)
	inc.writer = newWriter(inc.ctx, n.j, n.o.Lanes)
	inc.writer.home = inc
	inc.sys = actor.New(actor.Options{
		Node: inc.id, Store: inc.writer, Lookup: n.lookup, StepsMax: n.o.StepsMax, WarmMax: n.o.WarmMax,
		WarmIdle: n.o.WarmIdle, StuckAfter: n.o.StuckAfter, Thresholds: n.o.thresholds(), HistoryMax: n.o.HistoryMax,
		PassivateAlways: n.o.PassivateAlways, Intercept: n.o.Intercept, Hooks: n.tel.hooks(inc.released),
	})
	inc.writer.use(inc.sys)
	return inc
}

// begin starts the loops. deadline is the first end of the lease: see renewLoop.
func (inc *incarnation) begin(deadline time.Time) {
	inc.claiming.Add(1)
	for _, loop := range []func(){
		func() { inc.renewLoop(deadline) }, inc.sweepLoop, inc.watchLoop,
		func() { defer inc.claiming.Done(); inc.claimLoop() },
	} {
		inc.loops.Add(1)
		go func() { defer inc.loops.Done(); loop() }()
	}
}

// lose ends the incarnation without writing.
func (inc *incarnation) lose(reason error) {
	inc.lostOnce.Do(func() {
		inc.reason = reason
		close(inc.lost)
	})
}

// watchLoop turns hints into action.
func (inc *incarnation) watchLoop() {
	err := inc.n.j.Watch(inc.ctx, func(h journal.Hint) {
		switch h.Kind {
		case journal.HintTasks:
			inc.expect(h.At)
		case journal.HintInbox:
			if h.Node == inc.id {
				inc.sys.Attend(h.Run)
			}
		case journal.HintScan:
			inc.expect(time.Time{})
			inc.n.client.waiters.Hint(h)
		case journal.HintClosed:
			inc.n.client.waiters.Hint(h)
		}
	})
	if err != nil && inc.ctx.Err() == nil {
		inc.n.tel.log.Error("no hints any more, polling only", keyNode, inc.id, keyError, err)
	}
}

// expect makes the claim loop look at the given time, or now if it is zero.
func (inc *incarnation) expect(at time.Time) {
	if at.IsZero() {
		at = time.Unix(0, 1) // long due
	}
	inc.dueMu.Lock()
	sooner := inc.due.IsZero() || at.Before(inc.due)
	if sooner {
		inc.due = at
	}
	inc.dueMu.Unlock()
	if sooner {
		inc.rouse()
	}
}

// rouse makes the claim loop look at what it waits for.
func (inc *incarnation) rouse() {
	select {
	case inc.wake <- struct{}{}:
	default:
	}
}

// released makes room for more. A full node may know of due tasks already, and wait for nothing but room.
func (inc *incarnation) released() {
	if inc.sys.Live() >= inc.n.o.LiveMax-claimMax {
		inc.expect(time.Time{})
		inc.rouse()
	}
}
