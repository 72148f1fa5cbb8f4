package sim

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
)

var (
	flowSeeds = flag.Int("flows", 12, "how many random flows of up to 60 nodes, one after the other")
	flowFrom  = flag.Uint64("flows-from", 1, "the seed of the first")
	flowLarge = flag.Int("flows-large", 1, "how many random flows of 1,000 nodes, one after the other")
)

const (
	randomFlow workflow.Name[int, flow.Results] = "random flow"
	// flowEnds is how long, by the bubble's clock, a flow may take.
	flowEnds = 24 * time.Hour
)

// dag is a random graph: the reference of a flow. Its nodes are in a topological order, which their
// names do not tell.
type dag struct {
	nodes []dagNode
	names map[string]int
}

// dagNode is a node: what it is, and what it comes to by the reference.
type dagNode struct {
	name    string
	takes   []int // parents whose results it takes
	after   []int // others
	isMap   bool
	chunk   int
	asks    int // the parent that its condition looks at; -1 for none
	unmet   flow.Mode
	fails   bool // for good
	failing flow.Mode

	status  flow.Status
	reason  flow.Reason
	cascade bool
	result  string // its JSON
}

// executed counts the executions of steps in a simulation.
var executed atomic.Int64

// newDAG draws a graph of n nodes.
func newDAG(seed uint64, n int) *dag {
	r := rand.New(rand.NewPCG(seed, 0xda6))
	d := &dag{names: map[string]int{}}
	names := r.Perm(n)
	modes := []flow.Mode{flow.Skip, flow.SkipDescendants}
	for i := range n {
		node := dagNode{name: fmt.Sprintf("n%d", names[i]), asks: -1, isMap: r.IntN(6) == 0, chunk: 1 + r.IntN(3),
			unmet: modes[min(r.IntN(8), 7)/7], failing: modes[min(r.IntN(8), 7)/7], fails: r.IntN(20) == 0}
		pick := func(most int) (list []int) {
			for range min(r.IntN(most+1), i) {
				list = append(list, max(r.IntN(i), r.IntN(i))) // near ones, so that graphs are deep
			}
			return list
		}
		node.takes, node.after = pick(3), pick(1)
		if i > 0 && r.IntN(5) == 0 {
			node.asks = r.IntN(i)
		}
		d.nodes = append(d.nodes, node)
		d.names[node.name] = i
	}
	d.evaluate()
	return d
}

// weigh is what a node makes of the results that it takes.
func weigh(name string, taken flow.Results) int {
	sum := len(name)
	for _, key := range slices.Sorted(maps.Keys(taken)) {
		for _, b := range append([]byte(key), taken[key]...) {
			sum = (sum*31 + int(b)) % 9973
		}
	}
	return sum
}

// asked is the predicate of conditions.
func asked(o flow.Optional[json.RawMessage]) bool { return !o.OK || len(o.Value)%2 == 0 }

// evaluate goes through the nodes in their order: the reference.
func (d *dag) evaluate() {
	for i := range d.nodes {
		n := &d.nodes[i]
		parents := append(slices.Clone(n.takes), n.after...)
		if n.asks >= 0 {
			parents = append(parents, n.asks)
		}
		cascade := slices.ContainsFunc(parents, func(p int) bool { return d.nodes[p].cascade })
		taken := flow.Results{}
		for _, p := range n.takes {
			if d.nodes[p].status == flow.StatusCompleted {
				taken[d.nodes[p].name] = json.RawMessage(d.nodes[p].result)
			}
		}
		value := weigh(n.name, taken)
		items := value % 4
		switch {
		case cascade:
			n.status, n.reason, n.cascade = flow.StatusSkipped, flow.ReasonParent, true
		case n.asks >= 0 && !asked(flow.Optional[json.RawMessage]{
			Value: json.RawMessage(d.nodes[n.asks].result), OK: d.nodes[n.asks].status == flow.StatusCompleted}):
			n.status, n.reason, n.cascade = flow.StatusSkipped, flow.ReasonUnmet, n.unmet == flow.SkipDescendants
		case n.fails && (!n.isMap || items > 0):
			n.status, n.reason, n.cascade = flow.StatusSkipped, flow.ReasonFailed, n.failing == flow.SkipDescendants
		case n.isMap:
			list := make([]int, items)
			for i := range list {
				list[i] = value + i
			}
			n.status, n.result = flow.StatusCompleted, jsonOf(list)
		default:
			n.status, n.result = flow.StatusCompleted, jsonOf(value)
		}
	}
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}

// output is what a run of the flow comes to by the reference.
func (d *dag) output() string {
	inner := map[int]bool{}
	for i := range d.nodes {
		for _, p := range d.parents(i) {
			inner[p] = true
		}
	}
	out := flow.Results{}
	for i, n := range d.nodes {
		if !inner[i] && n.status == flow.StatusCompleted {
			out[n.name] = json.RawMessage(n.result)
		}
	}
	if len(out) == 0 {
		return "null"
	}
	return jsonOf(out)
}

func (d *dag) parents(i int) []int {
	n := &d.nodes[i]
	list := append(slices.Clone(n.takes), n.after...)
	if n.asks >= 0 {
		list = append(list, n.asks)
	}
	return list
}

// flow declares the graph.
func (d *dag) flow() *flow.Flow[int] {
	f := flow.New(randomFlow, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Max: time.Second}})
	declared := make([]declaredNode, len(d.nodes))
	for i := range d.nodes {
		n := &d.nodes[i]
		taken := make([]flow.Any, len(n.takes))
		for k, p := range n.takes {
			taken[k] = declared[p].node
		}
		o := &flow.Options{Exhausted: n.failing}
		if n.asks >= 0 {
			o.If, o.Unmet = []flow.Condition{flow.When(declared[n.asks].maybe, asked)}, n.unmet
		}
		declared[i] = n.declare(f, flow.Gather(taken...), o)
		for _, p := range n.after {
			declared[i].after(declared[p].node)
		}
	}
	return f
}

// declaredNode is a node without the type of its result.
type declaredNode struct {
	node  flow.Any
	maybe flow.Source[flow.Optional[json.RawMessage]]
	after func(flow.Any)
}

func declared[T any](n *flow.Node[T]) declaredNode {
	return declaredNode{n, flow.Apply(flow.Maybe(n), func(o flow.Optional[T]) (raw flow.Optional[json.RawMessage]) {
		if raw.OK = o.OK; o.OK {
			raw.Value = json.RawMessage(jsonOf(o.Value))
		}
		return raw
	}), func(other flow.Any) { n.After(other) }}
}

func (n *dagNode) declare(f *flow.Flow[int], taken flow.Source[flow.Results], o *flow.Options) declaredNode {
	value := func(ctx context.Context, v int) (int, error) {
		executed.Add(1)
		select { // long enough for faults to meet it
		case <-time.After(time.Duration(v%500) * time.Millisecond):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
		if n.fails {
			return 0, workflow.Permanent(fmt.Errorf("node %s fails", n.name))
		}
		return v, nil
	}
	if !n.isMap {
		return declared(flow.Step(f, n.name, flow.Apply(taken, func(r flow.Results) int { return weigh(n.name, r) }), value, o))
	}
	o.Chunk = n.chunk
	return declared(flow.Map(f, n.name, flow.Apply(taken, func(r flow.Results) []int {
		items := make([]int, weigh(n.name, r)%4)
		for i := range items {
			items[i] = weigh(n.name, r) + i
		}
		return items
	}), value, o))
}

// TestFlows runs random flows on nodes that die and lose calls, and compares what they come to with
// the reference: small ones on whatever a seed plans, and large ones.
func TestFlows(t *testing.T) {
	for i := range uint64(*flowSeeds) {
		seed := *flowFrom + i
		agree(t, seed, 2+int(seed*7%59))
	}
	for i := range uint64(*flowLarge) {
		agree(t, *flowFrom+i, 1000)
	}
}

func agree(t *testing.T, seed uint64, size int) {
	t.Helper()
	for _, wrong := range simulateFlow(t, seed, size, nil) {
		t.Errorf("seed %d, %d nodes: %s", seed, size, wrong)
	}
}

// simulateFlow runs the random flow of a seed and returns what should not be. slip changes the flow
// that is declared, and not the reference; nil for nothing.
func simulateFlow(t *testing.T, seed uint64, size int, slip func(*dag)) (wrong []string) {
	t.Helper()
	p := generate(seed)
	p.Runs = nil
	// A database that goes back, and nodes that cannot read, are about runs of any kind.
	p.Faults = slices.DeleteFunc(p.Faults, func(f fault) bool { return f.Kind == goBack || f.Kind == older })
	if size >= 1000 {
		for i := range p.Nodes {
			p.Nodes[i].Passivate = false // a replay after each turn of a long history
		}
	}
	w, d := newWorld(p, nil), newDAG(seed, size)
	defer w.seeded()()
	executed.Store(0)
	declared := &dag{slices.Clone(d.nodes), d.names}
	if slip != nil {
		slip(declared)
	}
	f := declared.flow()
	w.more = func(n *runtime.Node) { runtime.Handle(n, randomFlow, f.Build(), nil) }
	synctest.Test(t, func(t *testing.T) {
		w.began = time.Now()
		w.db = memory.New(&memory.Options{Now: w.storeClock})
		id := w.liveFlow(t)
		wrong = d.check(w.kept(id), f.Shape())
	})
	for _, b := range w.broken {
		wrong = append(wrong, b.String())
	}
	counts := map[flow.Status]int{}
	for _, n := range d.nodes {
		counts[n.status]++
	}
	t.Logf("seed %d: of %d nodes %d complete; %d lives of %d nodes of the cluster, %d executions of steps", seed, size, counts[flow.StatusCompleted], len(w.all), len(w.plan.Nodes), executed.Load())
	return wrong
}

// liveFlow starts a run of the flow and waits for its end while the plan's faults happen.
func (w *world) liveFlow(t *testing.T) (id journal.RunID) {
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithCancel(context.Background())
	w.clients = [2]*process{w.bootClient(0), w.bootClient(-1)}
	for i := range w.plan.Nodes {
		w.boot(i + 1)
	}
	for i := range w.plan.Faults {
		w.schedule(&w.plan.Faults[i])
	}
	w.insist("start", func(ctx context.Context) error {
		run, err := runtime.Start(ctx, w.clients[0].client, randomFlow, 0, &runtime.StartOptions{Key: "flow"})
		if err == nil {
			id = run.ID()
		}
		return err
	})
	if !w.closedWithin(flowEnds) {
		w.breaks("flow", "it does not end: %+v", w.kept(id).Run.Task)
	}
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	time.Sleep(w.plan.calm() + w.plan.Poll + time.Second + callMax)
	cancel()
	for _, p := range w.all {
		p.cancel()
	}
	for _, p := range w.all {
		<-p.ended
	}
	time.Sleep(restFor)
	w.db.Close()
	return id
}

// check compares what a run has left with the reference: where each node stands and what the output
// is, that each node's steps completed once, and began when its parents had ended.
func (d *dag) check(left memory.RunSnapshot, shape *flow.Shape) (wrong []string) {
	breaks := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	st := shape.State(left.Events)
	if st.Run != "completed" || string(left.Run.Terminal.Payload.Data) != d.output() {
		breaks("the run has %s with %s, want %s", st.Run, left.Run.Terminal.Payload.Data, d.output())
	}
	for _, got := range st.Nodes {
		want := &d.nodes[d.names[got.Name]]
		if got.Status != want.status || got.Reason != want.reason {
			breaks("node %s is %s %s, want %s %s", got.Name, got.Status, got.Reason, want.status, want.reason)
		}
	}
	ended, asked, completed := map[string]bool{}, map[string]int{}, map[string]int{}
	for _, n := range d.nodes {
		ended[n.name] = n.status == flow.StatusSkipped || n.isMap // their ends are no events
	}
	for i := range left.Events {
		e := &left.Events[i]
		if e.Kind == journal.StepCompleted {
			ended[e.Name] = true
			completed[e.Name]++
		}
		for _, c := range e.Issued {
			if c.Kind != journal.CommandStep {
				continue
			}
			asked[c.Name]++
			for _, p := range d.parents(d.names[c.Name]) {
				if !ended[d.nodes[p].name] {
					breaks("node %s begins before node %s has ended", c.Name, d.nodes[p].name)
				}
			}
		}
	}
	for _, n := range d.nodes {
		if once := asked[n.name] == 1 && completed[n.name] == 1; !n.isMap && once != (n.status == flow.StatusCompleted) {
			if n.status != flow.StatusSkipped || completed[n.name] != 0 || asked[n.name] > 1 {
				breaks("node %s, %s, was asked for %d times and completed %d times", n.name, n.status, asked[n.name], completed[n.name])
			}
		}
	}
	return wrong
}
