package sim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
)

// process is one life of a node or a client, with its connection.
type process struct {
	w      *world
	place  int // of a node, from 1; of clients 0 and -1
	name   string
	peer   *memory.Store
	dead   atomic.Bool
	node   *runtime.Node   // nil for a client
	client *runtime.Client // the node's own, or the client itself
	cancel context.CancelFunc
	ended  chan struct{} // closed when the node has ended
}

// connect makes a process without anything in it.
func (w *world) connect(place int) (*process, *journal.Journal) {
	w.lives[place]++
	p := &process{w: w, place: place, name: fmt.Sprintf("%d.%d", place, w.lives[place]), peer: w.db.Peer(), ended: make(chan struct{})}
	store := &line{store: w.mutate(w, p.peer), p: p}
	d := &drawn{Store: faulty.New(store, &faulty.Options{
		Decide: p.decide, Answer: p.answer, Hint: p.hint, Delay: p.delay, Held: p.held, Unreadable: p.unreadable, TookLong: p.tookLong,
	}), p: p}
	var top driver.Store = d
	if w.trust != nil {
		top = w.trust(d)
	}
	return p, journal.New(top, &journal.Options{Logger: slog.New(slog.DiscardHandler)})
}

// drawn gives claims a chance that follows from the seed, and claims and loads the plan's size of a
// page. It is above everything that repeats calls: a request that arrives twice has one chance.
type drawn struct {
	*faulty.Store
	p      *process
	claims atomic.Int64
}

// Claim implements driver.Store.
func (d *drawn) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	r.Chance = uint32(hash(d.p.w.plan.Seed, d.p.name, "chance", int(d.claims.Add(1))))
	r.Bytes = d.p.w.plan.Page
	return d.Store.Claim(ctx, r)
}

// Load implements driver.Store.
func (d *drawn) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	requests = slices.Clone(requests)
	for i := range requests {
		if page := d.p.w.plan.Page; page > 0 && !requests[i].Lean {
			requests[i].Bytes = page
		}
	}
	return d.Store.Load(ctx, requests)
}

// quiet: nobody reads what a node logs here.
var quiet = slog.New(slog.DiscardHandler)

// passing are interceptors that change nothing, so nothing that is checked may change: everything is
// called through two layers, and workflows run in a scope below the run's.
var passing = []runtime.Interceptor{
	{
		Client: func(ctx context.Context, _ *runtime.Call, next func(context.Context) error) error {
			return next(context.WithValue(ctx, passed{}, true))
		},
		Step: func(ctx context.Context, next func(context.Context) error) error {
			return next(context.WithValue(ctx, passed{}, true))
		},
	},
	{
		Client: func(ctx context.Context, _ *runtime.Call, next func(context.Context) error) error { return next(ctx) },
		Workflow: func(ctx workflow.Context, next func(workflow.Context) error) error {
			ctx, _ = workflow.WithCancel(ctx) // to cancel it in the end would cancel what the program leaves open
			return next(ctx)
		},
		Step: func(ctx context.Context, next func(context.Context) error) error { return next(ctx) },
	},
}

type passed struct{}

// bootClient starts a client.
func (w *world) bootClient(place int) *process {
	p, j := w.connect(place)
	p.client = runtime.NewClient(j, &runtime.ClientOptions{Poll: w.plan.Poll, Logger: quiet, Interceptors: passing})
	close(p.ended)
	return p
}

// boot starts a node, unless it runs.
func (w *world) boot(place int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p := w.nodes[place]; p != nil && !p.dead.Load() || w.closing {
		return
	}
	p, j := w.connect(place)
	o := w.plan.Nodes[place-1]
	p.node = runtime.NewNode(j, &runtime.NodeOptions{
		Name: p.name, Lease: w.plan.Lease, Poll: w.plan.Poll, Drain: max(w.plan.Drain, time.Millisecond), LiveMax: o.LiveMax,
		HistoryHint: w.plan.Long, StepsMax: o.StepsMax, WarmIdle: o.WarmIdle, PassivateAlways: o.Passivate, Lanes: o.Lanes, Logger: w.logger(p.name),
		Interceptors: passing,
	})
	runtime.Handle(p.node, program, interpret(p), &runtime.HandleOptions{OnFailure: mourn})
	if len(w.plan.Jobs) > 0 {
		bulk.Handle(p.node)
	}
	if w.more != nil {
		w.more(p.node)
	}
	p.client = p.node.Client()
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	w.nodes[place] = p
	w.all = append(w.all, p)
	go func() {
		defer close(p.ended)
		if err := p.node.Run(ctx); err != nil && !p.dead.Load() {
			w.breaks("node", "node %s ended with: %v", p.name, err)
		}
	}()
}

// die is kill -9: the connection is gone, and nothing that the process still does is heard of.
func (p *process) die() {
	if !p.dead.Swap(true) {
		p.peer.Close()
		p.cancel()
	}
}

// leave is a signal to end in order.
func (w *world) leave(place int) {
	w.mu.Lock()
	p := w.nodes[place]
	w.nodes[place] = nil
	w.mu.Unlock()
	if p == nil || p.dead.Load() {
		return
	}
	p.cancel()
}

// chance is a number below n that follows from the seed, the process, and the number of the call.
func (p *process) chance(c faulty.Call, what string, n int) int {
	return int(hash(p.w.plan.Seed, p.name, c.Verb, c.Nth, what) % uint64(n))
}

// travel is the time that a call, or its answer, is in flight.
func (p *process) travel(c faulty.Call, what string) {
	time.Sleep(time.Duration(p.chance(c, what, int(p.slowest())) + 1))
}

// decide is the way of a call to the database.
func (p *process) decide(c faulty.Call) faulty.Fault {
	p.travel(c, "call")
	p.thaw(c, "call")
	if p.dead.Load() {
		return faulty.Before
	}
	if c.Verb == "commit" && p.hit(killBefore) {
		p.fall()
		return faulty.Before
	}
	away := p.w.active(outage, 0) || p.place > 0 && p.w.active(partition, p.place) || p.w.refusesWrite(c)
	if p.w.active(echo, max(p.place, 0)) && slices.Contains(echoed, c.Verb) && p.chance(c, "echo", 3) == 0 {
		if away || p.chance(c, "how", 2) == 0 {
			return faulty.Delayed
		}
		return faulty.Again
	}
	if away {
		return faulty.Before
	}
	if p.tooMany(c) {
		return faulty.Before + faulty.Fault(p.chance(c, "many", 2))
	}
	if p.w.active(lossy, max(p.place, 0)) && p.chance(c, "lose", 3) == 0 {
		return faulty.Before + faulty.Fault(p.chance(c, "how", 3))
	}
	return faulty.None
}

// held tells of a member of a batch whether somebody's open transaction has locked its row: that of
// some runs for long; and while the network is lossy, so that the two meet, one in eight.
func (p *process) held(c faulty.Call, member int, run journal.RunID) bool {
	if p.w.isHeld(run) {
		return true
	}
	return p.w.active(lossy, max(p.place, 0)) && p.chance(c, fmt.Sprint("held ", member), 8) == 0
}

// delay is how long a call is on its way that arrives late.
func (p *process) delay(c faulty.Call) time.Duration {
	long := []time.Duration{time.Second, p.w.plan.echoMax()}[p.chance(c, "long", 2)]
	return time.Duration(hash(p.w.plan.Seed, p.name, c.Verb, c.Nth, "delay") % uint64(long))
}

// answer is the way back.
func (p *process) answer(c faulty.Call) {
	if c.Verb == "commit" && p.hit(killAfter) {
		p.fall()
	}
	p.travel(c, "answer")
	p.thaw(c, "answer")
}

// thaw waits while the process is frozen. Not all that has waited goes on at the same moment.
func (p *process) thaw(c faulty.Call, what string) {
	for i := range p.w.plan.Faults {
		f := &p.w.plan.Faults[i]
		if now := p.w.elapsed(); f.Kind == freeze && f.Node == p.place && p.place > 0 && now >= f.At && now < f.At+f.For {
			time.Sleep(f.At + f.For - now)
			p.travel(c, "thawed "+what)
		}
	}
}

// hit tells, once for each fault, that the process is to die at this commit.
func (p *process) hit(kind faultKind) bool {
	for i := range p.w.plan.Faults {
		f := &p.w.plan.Faults[i]
		if f.Kind == kind && f.Node == p.place && p.w.during(f) && p.w.spent(i) {
			return true
		}
	}
	return false
}

// fall is a death in the middle of a call. The node is back after a while.
func (p *process) fall() {
	p.die()
	time.AfterFunc(backAfter, func() { p.w.boot(p.place) })
}

// hint decides when a hint arrives, and how often.
func (p *process) hint(h driver.Hint) []time.Duration {
	n := p.w.hints.Add(1)
	draw := hash(p.w.plan.Seed, p.name, "hint", int(n), h.Kind)
	late := time.Duration(draw>>8) % p.w.plan.Slow
	if !p.w.active(deaf, 0) {
		return []time.Duration{late + 1}
	}
	switch draw % 4 {
	case 0:
		return []time.Duration{late + 1, 3*late + 2}
	case 1:
		return []time.Duration{time.Duration(draw>>8) % (2 * time.Second)}
	}
	return nil
}

// definition is the code of programs as nodes have it, without a node.
func definition(slip verb) *replay.Definition {
	def := workflow.Define(program, 1, interpret(nowhere{slip}))
	workflow.OnFailure(def, mourn)
	return def
}

// mourn is what programs do when they are about to fail: it asks for something, and waits for
// nothing, as their updates would take effect behind their outcome otherwise.
func mourn(ctx workflow.Context, _ error) error {
	workflow.NewTimer(ctx, time.Hour)
	return nil
}
