package sim

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

const (
	// backAfter is how long a node is down that died at a commit.
	backAfter = 300 * time.Millisecond
	// stuckAfter is how long a run may stay open after that.
	stuckAfter = 5 * time.Minute
	// settleEvery is how long programs have between two rounds of signals, and settleMax how many
	// there are: children and generations begin with what a round has brought about.
	settleEvery = 30 * time.Second
	settleMax   = 12
	// sampleEvery is how often the world looks whether all is done.
	sampleEvery = 250 * time.Millisecond
	// wallMax bounds a simulation by the wall's clock: one takes milliseconds, but a machine may have
	// no time for it for a while.
	wallMax = 5 * time.Minute
	// leasesMax is two of the longest leases that plans have.
	leasesMax = 12 * time.Second
	// restFor is when everything has ended that outlives a node: the actor library has timers of
	// its own.
	restFor = 10 * time.Second
)

// lateMax is how long, in quiet times, something may wait that a node has to do: a lost hint costs
// a poll, a lost answer to a claim a second look, a death ahead of the calm the rest of a lease,
// and a full node takes a run up when another one parks. It is much less than what lies between two
// sweeps: nothing may have to wait for one.
func (p *plan) lateMax() time.Duration { return min(2*p.Lease, leasesMax) + 6*time.Second }

// world carries a plan out.
type world struct {
	plan   *plan
	mutate mutation
	more   func(*runtime.Node) // what nodes serve beside programs; may be nil
	began  time.Time
	db     *memory.Store // no process's connection
	tape   tape
	ctx    context.Context
	hints  atomic.Int64

	mu         sync.Mutex
	closing    bool
	settled    bool            // programs lacked signals
	epoch      int             // how often the database has gone back
	resent     map[string]bool // signals that clients sent again for that
	lives      map[int]int
	nodes      map[int]*process
	all        []*process // nodes that were ever started
	clients    [2]*process
	runs       []*running
	executions []*execution
	used       map[int]bool // faults that happen once
	broken     []broken
	hasty      map[message]journal.Answer // of a planted fault
	trust      func(*drawn) driver.Store  // of a planted fault: what processes make of the store's answers; nil for none
	undivided  bool                       // of a planted fault: nobody learns that a call took too long
	looks      int                        // answers of queries
	excuses    int                        // those of a state before what had come
	lines      map[lineOfRun]int          // what programs wrote to the log
	strays     []string                   // runs that a node owned and did not run

	forks        int                                  // how many there have been
	mended       map[journal.RunID]journal.Generation // from which on steps complete that fail by plan
	scoped       map[journal.Scope]bool               // paused, and every node heeds it
	pausedScopes int
	working      []*working           // bulk jobs
	audit        []journal.AuditEntry // when all is over, newest first
	drained      int
	bounded      int                  // how often a body began with the witness of a limit
	placed       int                  // the same, of a limit that its run holds
	refused      int                  // starts that found a limit full
	pushed       int                  // runs that a full limit cancelled before they began
	claims       []journal.LimitClaim // of nodes that are gone, when all is over
	did          map[*send]bool       // beside a commit
	backsBeside  int                  // rewinds beside a commit
	pausedBeside int                  // pauses beside a commit
	pausedSelf   int                  // pauses of runs by themselves
	log          bytes.Buffer
	drivers      sync.WaitGroup

	effectsMu sync.Mutex     // taken inside the store's own lock, so nothing else is inside of it
	effects   map[string]int // of transactions, by run and step
}

// broken is a property that does not hold.
type broken struct{ check, what string }

func (b broken) String() string { return b.check + ": " + b.what }

func (w *world) breaks(check, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, broken{check, fmt.Sprintf(format, args...)})
}

// simulate carries a plan out in a bubble of its own and returns what does not hold.
func simulate(t *testing.T, p *plan, m mutation) (w *world) {
	t.Helper()
	w = newWorld(p, m)
	defer w.seeded()()
	defer func() {
		if p := recover(); p != nil { // of the bubble: everybody waits for ever
			w.broken = append(w.broken, broken{"bubble", fmt.Sprint(p)})
		}
	}()
	synctest.Test(t, func(*testing.T) {
		w.began = time.Now()
		w.db = memory.New(&memory.Options{Now: w.storeClock})
		w.live()
		w.check()
	})
	return w
}

// newWorld is a world in which nothing has happened. m may be nil.
func newWorld(p *plan, m mutation) *world {
	if m == nil {
		m = faithful
	}
	return &world{
		plan: p, mutate: m, lives: map[int]int{}, nodes: map[int]*process{}, effects: map[string]int{}, used: map[int]bool{}, hasty: map[message]journal.Answer{}, lines: map[lineOfRun]int{}, resent: map[string]bool{}, mended: map[journal.RunID]journal.Generation{}, did: map[*send]bool{}, scoped: map[journal.Scope]bool{},
		tape: tape{tells: map[journal.RunID][]tell{}, cancels: map[journal.RunID]bool{}, arrived: map[message]time.Time{}, left: map[journal.NodeID]bool{}, inputs: map[journal.RunID]journal.Payload{}},
	}
}

// seeded makes chance follow from the seed, until what it returns is called, and the test end if it
// does not by itself.
func (w *world) seeded() (stop func()) {
	slow := time.AfterFunc(wallMax, func() { panic(fmt.Sprintf("seed %d does not end: %s", w.plan.Seed, w.plan)) })
	//lint:ignore SA1019 the library that repeats calls draws its waits from this generator
	rand.Seed(int64(w.plan.Seed))
	uuid.SetRand(&lockedRand{r: rand.New(rand.NewSource(int64(w.plan.Seed)))})
	return func() {
		slow.Stop()
		uuid.SetRand(nil)
	}
}

// live is the whole story.
func (w *world) live() {
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithCancel(context.Background())
	w.bind()
	w.clients = [2]*process{w.bootClient(0), w.bootClient(-1)}
	for i := range w.plan.Nodes {
		w.boot(i + 1)
	}
	for i := range w.plan.Runs {
		r := &running{plan: &w.plan.Runs[i], number: i + 1}
		w.mu.Lock()
		w.runs = append(w.runs, r) // runs that are driven already have children
		w.mu.Unlock()
		w.drivers.Go(func() { w.drive(r) })
	}
	for i := range w.plan.Jobs {
		w.drivers.Go(func() { w.work(&w.plan.Jobs[i], i+1) })
	}
	for i := range w.plan.Faults {
		w.schedule(&w.plan.Faults[i])
	}
	time.Sleep(w.plan.calm() + backAfter + time.Second)
	w.resumeLost()
	calm := w.db.Snapshot()
	if !w.closedWithin(w.plan.lateMax() + time.Second) {
		w.settled = true
		w.attended()
		w.worked(calm)
		for range settleMax {
			w.settle()
			if w.closedWithin(settleEvery) {
				break
			}
		}
		w.closedWithin(stuckAfter)
	}
	w.lookAtAll()
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	time.Sleep(w.plan.Poll + time.Second + callMax) // everybody hears of the last end, also who asks a client that has died
	cancel()
	w.drivers.Wait()
	for _, p := range w.all {
		p.cancel()
	}
	for _, p := range w.all {
		<-p.ended
	}
	time.Sleep(restFor)
	w.readAudit()
	w.readClaims()
	w.db.Close()
}

// schedule makes a fault happen that is not a matter of looking at the time.
func (w *world) schedule(f *fault) {
	switch f.Kind {
	case crash:
		time.AfterFunc(f.At, func() {
			w.mu.Lock()
			p := w.nodes[f.Node]
			w.mu.Unlock()
			if p != nil {
				p.die()
			}
		})
		time.AfterFunc(f.At+f.For, func() { w.boot(f.Node) })
	case pauseScope:
		time.AfterFunc(f.At, func() { w.drivers.Go(func() { w.pauseScope(f) }) })
	case drainNode:
		time.AfterFunc(f.At, func() { w.drivers.Go(func() { w.drain(f) }) })
	case goBack:
		time.AfterFunc(f.At, func() { w.goBack(f) })
	case restart:
		time.AfterFunc(f.At, func() { w.leave(f.Node) })
		time.AfterFunc(f.At+f.For, func() { w.boot(f.Node) })
	}
}

// closedWithin tells whether every run is closed before some time has passed.
func (w *world) closedWithin(d time.Duration) bool {
	for began := time.Now(); time.Since(began) < d; time.Sleep(sampleEvery) {
		if w.allClosed() {
			return true
		}
	}
	return false
}

// allClosed tells whether every run of the plan has begun, and every run is closed.
func (w *world) allClosed() bool {
	w.mu.Lock()
	waiting := slices.ContainsFunc(w.runs, func(r *running) bool { return r.id.IsZero() })
	w.mu.Unlock()
	return !waiting && len(w.open()) == 0
}

// open lists the runs that are open.
func (w *world) open() []journal.Run {
	status := journal.Open
	page, err := w.db.List(context.Background(), journal.ListFilter{Status: &status, Limit: journal.ListMax})
	if err != nil {
		panic(err)
	}
	return page.Runs
}

func (w *world) elapsed() time.Duration { return time.Since(w.began) }

func (w *world) during(f *fault) bool {
	now := w.elapsed()
	return now >= f.At && now < f.At+f.For
}

// active tells whether a fault of the kind goes on.
func (w *world) active(kind faultKind, node int) bool {
	for i := range w.plan.Faults {
		if f := &w.plan.Faults[i]; f.Kind == kind && f.Node == node && w.during(f) {
			return true
		}
	}
	return false
}

// spent tells, once, that a fault has not happened yet.
func (w *world) spent(i int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := !w.used[i]
	w.used[i] = true
	return first
}

// hash draws a number that follows from its arguments.
func hash(seed uint64, args ...any) uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, seed, args)
	x := h.Sum64() // fnv's low bits are weak: stir
	x ^= x >> 31
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// born notes a child.
func (w *world) born(parent journal.RunID, st *journal.Start) {
	var j job
	if err := (journal.JSON{}).Decode(st.Input, &j); err != nil {
		w.breaks("family", "a child's input cannot be read: %v", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.run(st.ID) == nil {
		w.runs = append(w.runs, &running{plan: &runPlan{Program: j.Program}, number: j.Root, of: j.Of, from: parent, id: st.ID})
	}
}

// number is for people.
func (w *world) number(id journal.RunID) string {
	if r := w.run(id); r != nil {
		return r.name()
	}
	return id.String()
}

// run returns a run by its id.
func (w *world) run(id journal.RunID) *running {
	i := slices.IndexFunc(w.runs, func(r *running) bool { return r.id == id })
	if i < 0 {
		return nil
	}
	return w.runs[i]
}

// lockedRand is chance that follows from the seed, for the ids of runs: a run's batcher follows
// from its id.
type lockedRand struct {
	mu sync.Mutex
	r  *rand.Rand
}

// Read implements io.Reader.
func (l *lockedRand) Read(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(b)
}
