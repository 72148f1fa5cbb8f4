package runtime

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/replica"
	"github.com/reprise-run/reprise/runtime/internal/retry"
	"github.com/reprise-run/reprise/runtime/internal/worker"
)

// Node executes runs. Make one with [NewNode], register workflows with [Handle], then call
// [Node.Run].
//
// Between registration and Run a node holds options and nothing else. While it runs it is one
// membership after another: it joins under a new id, executes runs as that member until it is asked
// to end or its lease is lost, and joins again after a loss. The memberships share no state but the
// journal. So nothing that a lost member still has in memory can reach the next one, and everything
// that it still writes is refused by the fence (J3).
//
// A process usually has one node. Several nodes in one process, on one journal or on several, do
// not disturb each other.
type Node struct {
	j        *driver.Journal
	o        NodeOptions
	tel      *telemetry
	registry *registry
	local    *localNode
	client   *Client
	replicas *replica.Cache
}

// NewNode returns a node on a journal, which stays the caller's to use and whose store stays the
// caller's to close. o may be nil.
func NewNode(j *journal.Journal, o *NodeOptions) *Node {
	engine := driver.Of(j)
	n := &Node{j: engine, o: o.withDefaults(), registry: &registry{definitions: map[definitionKey]*replay.Definition{}}}
	if err := n.registry.setQueueLimits(n.o.QueueLimits); err != nil {
		panic("runtime: " + err.Error())
	}
	n.local = &localNode{registry: n.registry}
	n.tel = newTelemetry(n.o.TracerProvider, n.o.MeterProvider, n.o.Logger)
	n.client = newClient(engine, n.local, n.o.Poll, n.tel, n.o.Interceptors)
	n.replicas = replica.New(replica.Options{
		Journal: engine, Find: n.registry.find, Load: n.client.load, Thresholds: n.o.thresholds(),
		StuckAfter: n.o.StuckAfter, Stuck: n.tel.stuckQuery,
	})
	return n
}

// Client returns the node's own client. What it starts and the node has registered is owned by the
// node at once, so that no claim is needed. It may be used before, during and after Run.
func (n *Node) Client() *Client { return n.client }

// ID returns the id under which the node is a member now, 0 while it is none. A node that lost its
// lease joins again under another id.
func (n *Node) ID() journal.NodeID {
	if w := n.local.worker.Load(); w != nil {
		return w.ID()
	}
	return 0
}

// Run joins and executes runs until ctx ends or an operator wants the node to leave
// ([Client.DrainNode]), then drains: it acquires no more runs, lets running
// steps continue for NodeOptions.Drain, cancels the rest with a cause that context.Cause tells,
// hands all runs back and leaves. It returns nil then, even if the store was not there to take the
// runs back: other nodes take them when the lease ends.
//
// While the store is unavailable Run waits for it, from the first call on. If the lease is lost
// meanwhile, the node joins again. Errors: [ErrNoWorkflow] if nothing is registered; [ErrRunning]
// if the node runs already; journal.ErrStoreClosed if the store was closed meanwhile; what the
// store says to joining, if that is not journal.ErrUnavailable. Run may be called again after it
// has returned.
func (n *Node) Run(ctx context.Context) error {
	if n.registry.empty() {
		return ErrNoWorkflow
	}
	if !n.registry.freeze(true) {
		return ErrRunning
	}
	n.replicas.Open()
	defer func() {
		n.replicas.Close()
		n.registry.freeze(false)
	}()
	for {
		err := n.runOnce(ctx)
		if !errors.Is(err, journal.ErrNodeLost) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		n.tel.log.WarnContext(ctx, "node lost its lease and joins again", logkey.NodeName, n.o.Name, logkey.Error, err)
	}
}

// runOnce joins and is a member until ctx ends (nil) or the lease is lost (ErrNodeLost).
func (n *Node) runOnce(ctx context.Context) error {
	var m driver.Membership
	var sent time.Time
	err := retry.UntilAvailable(ctx, func() (err error) {
		sent = time.Now() // before the request: the lease ends here before it ends for the store (J9)
		m, err = n.j.Join(ctx, journal.Node{Name: n.o.Name, Routes: n.registry.routes, Signals: maps.Clone(n.registry.signals), Types: n.registry.typesKept(), Lease: n.o.Lease, Grace: n.o.Grace})
		return err
	})
	if ctx.Err() != nil && m == nil {
		return nil
	}
	if err != nil {
		return err
	}
	pauses, err := n.pausesAtJoin(ctx, m)
	if err != nil {
		return err
	}
	w := worker.New(n.workerConfig(m, pauses))
	n.local.worker.Store(w)
	unwatch, err := n.tel.watch(w.Live, w.Steps)
	if err != nil {
		n.tel.log.WarnContext(ctx, "some metrics are off", logkey.Error, err)
	}
	defer unwatch()
	n.tel.log.InfoContext(ctx, "node joined", logkey.Node, w.ID(), logkey.NodeName, n.o.Name)
	n.client.waiters.SetPushed(true)
	defer n.client.waiters.SetPushed(false)
	w.Begin(sent.Add(n.o.Lease))
	select {
	case <-ctx.Done():
		n.local.worker.Store(nil)
		return w.Drain()
	case <-w.Asked():
		n.tel.log.InfoContext(ctx, "an operator wants this node to leave", logkey.Node, w.ID(), logkey.NodeName, n.o.Name)
		n.local.worker.Store(nil)
		return w.Drain()
	case <-w.Lost():
		n.local.worker.Store(nil)
		return w.Abort()
	}
}

// pausesAtJoin reads the pauses of scopes: no step starts before they are known (J11). If ctx ends
// first, everything counts as paused.
func (n *Node) pausesAtJoin(ctx context.Context, m driver.Membership) (list []journal.Pause, err error) {
	var orders driver.Orders
	err = retry.UntilAvailable(ctx, func() (err error) { orders, err = m.Heed(ctx, 0); return err })
	if ctx.Err() != nil {
		return []journal.Pause{{}}, nil
	}
	return orders.Pauses, err
}

func (n *Node) workerConfig(m driver.Membership, pauses []journal.Pause) worker.Config {
	hooks := n.tel.hooks(n.j.TxLimit())
	hooks.Elsewhere = n.client.warnOf
	return worker.Config{
		Journal: n.j, Member: m, Routes: n.registry.routes, Pauses: pauses,
		Lease: n.o.Lease, Grace: n.o.Grace, Poll: n.o.Poll, Drain: n.o.Drain, LiveMax: n.o.LiveMax, Batchers: n.o.Lanes,
		Hint: n.client.waiters.Hint, Waiting: n.tel.nodeWaiting, Log: n.tel.log, Unowned: n.client.warnOf,
		Actors: actor.Options{
			Lookup: n.registry.lookup, Needs: n.registry.needsOf(n.j.Codec()), StepsMax: n.o.StepsMax, WarmMax: n.o.WarmMax, WarmIdle: n.o.WarmIdle,
			StuckAfter: n.o.StuckAfter, Thresholds: n.o.thresholds(), HistoryMax: n.o.HistoryMax,
			PassivateAlways: n.o.PassivateAlways, Hooks: hooks,
			StepInterceptors: stepsOf(n.o.Interceptors), Intercept: n.o.Intercept,
		},
	}
}
