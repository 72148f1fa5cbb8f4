package runtime_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// bought is the input of a workflow whose registration says what its runs need.
type bought struct {
	Tenant string `json:"tenant"`
	Again  bool   `json:"again,omitempty"` // it continues as new once
	Child  bool   `json:"child,omitempty"` // it starts one of the same, in a day
}

const (
	purchase workflow.Name[bought, string] = "purchase"
	goesOn   workflow.Signal[int]          = "go"
)

const day = 24 * time.Hour

// purchases registers it. Its runs are open until they get a signal.
func purchases(n *runtime.Node) {
	runtime.Handle(n, purchase, func(ctx workflow.Context, in bought) (string, error) {
		if in.Child {
			return workflow.Call(ctx, purchase, bought{Tenant: in.Tenant + "'s child"}, &workflow.ChildOptions{Delay: day})
		}
		if err := workflow.Do(ctx, "begin", func(context.Context) error { return nil }, nil); err != nil {
			return "", err
		}
		if _, err := goesOn.Receive(ctx); err != nil {
			return "", err
		}
		if in.Again {
			return "", workflow.ContinueAsNew(ctx, purchase, bought{Tenant: "another"}, nil)
		}
		return in.Tenant, nil
	}, &runtime.HandleOptions{
		Limits: []journal.LimitNeed{{Name: "purchases", Key: "fixed"}, {Name: "tenant", Key: "fixed"}},
		LimitsFrom: runtime.LimitsFrom(func(in bought, labels map[string]string) []journal.LimitNeed {
			if in.Tenant == "panics" {
				panic("no such tenant")
			}
			return []journal.LimitNeed{{Name: "tenant", Key: in.Tenant}, {Name: "region", Key: labels["region"], Cost: 3}}
		}),
	})
}

// attached is a node whose store is in memory, and a client of another process.
func attached(t *testing.T, o *runtime.NodeOptions, register func(*runtime.Node)) (node *runtime.Node, far *runtime.Client) {
	t.Helper()
	store := memory.New(nil)
	node = runtime.NewNode(journal.New(store, nil), o)
	register(node)
	ctx, stop := context.WithCancel(clustertest.Context(t))
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return node, runtime.NewClient(journal.New(store.Peer(), nil), nil)
}

// begins waits until a run has begun, and returns what it holds.
func begins(t *testing.T, c *runtime.Client, run journal.RunID) []journal.LimitNeed {
	t.Helper()
	return clustertest.Described(t, c, run, "it has begun", func(d *runtime.Description) bool {
		return slices.Contains(d.Waiting, "signal go")
	}).Run.Limits
}

// J14: whoever starts a run, it holds what its workflow's registration says, from before its first
// turn until it closes, also in its next generation. What its start says of the same limit holds.
func TestWorkflowsNameTheirLimits(t *testing.T) {
	t.Parallel()
	node, far := attached(t, nil, purchases)
	ctx := clustertest.Context(t)
	want := func(what string, run journal.RunID, tenant, region string) {
		t.Helper()
		need := []journal.LimitNeed{{Name: "tenant", Key: tenant, Cost: 1}, {Name: "region", Key: region, Cost: 3}, {Name: "purchases", Key: "fixed", Cost: 1}}
		if got := begins(t, far, run); !slices.Equal(got, need) {
			t.Errorf("%s: it holds %v, want %v", what, got, need)
		}
		page, err := runtime.Limits(ctx, far, &journal.LimitFilter{Run: run, Claims: 10})
		if err != nil || len(page.Claims) != 3 || page.Claims[0].Granted.IsZero() {
			t.Errorf("%s: its claims are %+v, %v", what, page.Claims, err)
		}
	}
	for what, c := range map[string]*runtime.Client{"of the node": node.Client(), "of another process": far} {
		run, err := runtime.Start(ctx, c, purchase, bought{Tenant: what, Again: true}, &runtime.StartOptions{Labels: map[string]string{"region": "de"}})
		clustertest.MustStart(t, run, err)
		want(what, run.ID(), what, "de")
		if err := runtime.Signal(ctx, c, run.ID(), goesOn, 1, nil); err != nil {
			t.Fatal(err)
		}
		clustertest.Described(t, far, run.ID(), "it goes on", func(d *runtime.Description) bool { return d.Run.Generation == 2 })
		want(what+" in its next generation", run.ID(), what, "de")
		o := &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "tenant", Key: "own"}}}
		run, err = runtime.Start(ctx, c, purchase, bought{Tenant: what}, o)
		clustertest.MustStart(t, run, err)
		want(what+" with a limit of its own", run.ID(), "own", "")
	}
	// What is to begin in a day was claimed by nobody: its limits were found where it was started.
	later := func(what string, run journal.RunID, tenant string) {
		t.Helper()
		d, err := far.Describe(ctx, run)
		if err != nil || len(d.Run.Limits) != 3 || d.Run.Limits[0] != (journal.LimitNeed{Name: "tenant", Key: tenant, Cost: 1}) {
			t.Errorf("%s: its start names %v, %v", what, d.Run.Limits, err)
		}
	}
	run, err := runtime.Start(ctx, node.Client(), purchase, bought{Tenant: "a"}, &runtime.StartOptions{Delay: day})
	later("of the node", clustertest.MustStart(t, run, err).ID(), "a")
	run, err = runtime.Start(ctx, far, purchase, bought{Tenant: "b", Child: true}, nil)
	clustertest.MustStart(t, run, err)
	var children []journal.Run
	clustertest.Until(t, "it has a child", func() bool {
		page, err := far.List(ctx, journal.ListFilter{Parent: run.ID(), Limit: 2})
		children = page.Runs
		return err == nil && len(children) == 1
	})
	later("a child", children[0].ID, "b's child")
}

// A function of the input that panics refuses a start of a client that knows it, and blocks a run
// of another one. What is no registration is refused at once.
func TestBadLimitsOfWorkflows(t *testing.T) {
	t.Parallel()
	node, far := attached(t, nil, purchases)
	ctx := clustertest.Context(t)
	const says = `limits of workflow "purchase": HandleOptions.LimitsFrom panicked: no such tenant`
	if _, err := runtime.Start(ctx, node.Client(), purchase, bought{Tenant: "panics"}, nil); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("a start: %v", err)
	}
	run, err := runtime.Start(ctx, far, purchase, bought{Tenant: "panics"}, nil)
	clustertest.MustStart(t, run, err)
	d := clustertest.Described(t, far, run.ID(), "it is blocked", func(d *runtime.Description) bool { return d.Run.Task != nil && d.Run.Task.State == journal.Blocked })
	if !strings.Contains(d.Run.Task.Problem, says) {
		t.Errorf("its problem: %q", d.Run.Task.Problem)
	}
	many := make([]journal.LimitNeed, journal.LimitNeedsMax-2)
	for i := range many {
		many[i].Name = strings.Repeat("n", i+1)
	}
	_, err = runtime.Start(ctx, node.Client(), purchase, bought{}, &runtime.StartOptions{Limits: many})
	if _, ok := errors.AsType[*journal.LimitError](err); !ok || !strings.Contains(err.Error(), `of workflow "purchase"`) {
		t.Errorf("too many together: %v", err)
	}
	fn := func(workflow.Context, bought) (string, error) { return "", nil }
	for what, o := range map[string]*runtime.HandleOptions{
		"is named twice": {Limits: []journal.LimitNeed{{Name: "a"}, {Name: "a", Key: "k"}}},
		"is a function of int, but the input is runtime_test.bought": {LimitsFrom: runtime.LimitsFrom(func(int, map[string]string) []journal.LimitNeed { return nil })},
		"the function of HandleOptions.LimitsFrom is nil":            {LimitsFrom: runtime.LimitsFrom[bought](nil)},
	} {
		if said := panics(func() { runtime.Handle(runtime.NewNode(journal.New(memory.New(nil), nil), nil), purchase, fn, o) }); !strings.Contains(said, what) {
			t.Errorf("a registration panics with %q, want %q", said, what)
		}
	}
	for what, needs := range map[string]map[string][]journal.LimitNeed{
		"is named twice": {"q": {{Name: "a"}, {Name: "a"}}}, "NodeOptions.QueueLimits: queue": {"": {{Name: "a"}}},
	} {
		if said := panics(func() { runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{QueueLimits: needs}) }); !strings.Contains(said, what) {
			t.Errorf("a node panics with %q, want %q", said, what)
		}
	}
}

// panics returns what a function panics with.
func panics(fn func()) (said string) {
	defer func() { said, _ = recover().(string) }()
	fn()
	return ""
}

// Every run of a queue holds the limits of the queue, whatever its workflow; those of other queues
// do not.
func TestQueuesNameTheirLimits(t *testing.T) {
	t.Parallel()
	o := &runtime.NodeOptions{QueueLimits: map[string][]journal.LimitNeed{"slow": {{Name: "slow"}, {Name: "tenant", Key: "queue"}}}}
	node, far := attached(t, o, func(n *runtime.Node) {
		purchases(n)
		wait := func(ctx workflow.Context, _ int) (int, error) { return goesOn.Receive(ctx) }
		for _, queue := range []string{"slow", ""} {
			runtime.Handle(n, "waits", wait, &runtime.HandleOptions{Queue: queue, Limits: []journal.LimitNeed{{Name: "tenant", Key: "workflow"}}})
		}
	})
	ctx := clustertest.Context(t)
	if err := runtime.SetLimit(ctx, far, journal.Limit{Name: "slow", Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	waits := workflow.Name[int, int]("waits")
	var runs []journal.RunID
	for _, c := range []*runtime.Client{node.Client(), far} {
		run, err := runtime.Start(ctx, c, waits, 1, &runtime.StartOptions{Queue: "slow"})
		clustertest.MustStart(t, run, err)
		runs = append(runs, run.ID())
		other, err := runtime.Start(ctx, c, waits, 1, nil)
		clustertest.MustStart(t, other, err)
		if got := begins(t, far, other.ID()); len(got) != 1 || got[0].Key != "workflow" {
			t.Errorf("a run of another queue holds %v", got)
		}
	}
	if got := begins(t, far, runs[0]); len(got) != 2 || got[0].Key != "workflow" || got[1].Name != "slow" {
		t.Errorf("the first holds %v", got)
	}
	clustertest.Described(t, far, runs[1], "it waits", func(d *runtime.Description) bool { return d.Run.Task.State == journal.Limited })
	if err := runtime.Signal(ctx, far, runs[0], goesOn, 1, nil); err != nil {
		t.Fatal(err)
	}
	begins(t, far, runs[1])
}
