package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const caller workflow.Name[string, int] = "caller" // calls an API for a tenant, ten times at once

// callers are runs that call an API, which counts who calls.
type callers struct {
	mu      sync.Mutex
	now     map[string]int
	most    map[string]int
	calls   int
	options func(tenant string) *workflow.StepOptions
	body    func(ctx context.Context, tenant string) error
}

func newCallers(options func(tenant string) *workflow.StepOptions) *callers {
	return &callers{now: map[string]int{}, most: map[string]int{}, options: options}
}

func (c *callers) enter(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	for _, k := range keys {
		c.now[k]++
		c.most[k] = max(c.most[k], c.now[k])
	}
}

func (c *callers) leave(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		c.now[k]--
	}
}

func (c *callers) handle(n *runtime.Node) {
	runtime.Handle(n, caller, func(ctx workflow.Context, tenant string) (int, error) {
		var calls []workflow.Future[int]
		for i := range 10 {
			calls = append(calls, workflow.StepAsync(ctx, fmt.Sprint("call ", i), func(ctx context.Context) (int, error) {
				return 1, c.call(ctx, tenant)
			}, c.options(tenant)))
		}
		all, err := workflow.All(ctx, calls...)
		return len(all), err
	}, nil)
}

// call is a body. It holds what it needs for a moment, so that others could come.
func (c *callers) call(ctx context.Context, tenant string) error {
	c.enter("", tenant)
	defer c.leave("", tenant)
	if c.body != nil {
		return c.body(ctx, tenant)
	}
	time.Sleep(time.Millisecond)
	return nil
}

// J14: steps of many runs on several nodes hold a limit as it says, of each key and in total, and all
// get on. Steps that name no limit, or none that exists, begin at once.
func TestStepsHoldLimits(t *testing.T) {
	options := func(tenant string) *workflow.StepOptions {
		return &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "api", Key: tenant}, {Name: "nothing"}}}
	}
	t.Run("Postgres", func(t *testing.T) {
		c, calls := clustertest.New(t), newCallers(options)
		nodes := []*clustertest.Node{c.Run(nil, calls.handle), c.Run(nil, calls.handle), c.Run(nil, calls.handle)}
		holdLimits(t, runtime.NewClient(c.Journal, nil), calls)
		for _, n := range nodes {
			n.Stop()
		}
		if n := strings.Count(c.Log.String(), `steps name a limit that does not exist; it bounds nothing`); n < 1 || n > len(nodes) {
			t.Errorf("the nodes say %d times that a limit does not exist, want once each that has asked", n)
		}
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		calls := newCallers(options)
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, calls.handle)
		holdLimits(t, n.Client(), calls)
	})
}

func holdLimits(t *testing.T, client *runtime.Client, calls *callers) {
	ctx := clustertest.Context(t)
	if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "api", Concurrency: 3, Total: 5}); err != nil {
		t.Fatal(err)
	}
	var runs []*runtime.Run[int]
	for i := range 12 {
		started, err := runtime.Start(ctx, client, caller, fmt.Sprint("tenant ", i%3), nil)
		runs = append(runs, clustertest.MustStart(t, started, err))
	}
	for _, r := range runs {
		if got := clustertest.MustResult(t, r); got != 10 {
			t.Errorf("run %s made %d calls", r.ID(), got)
		}
	}
	if calls.calls != 120 || calls.most[""] > 5 || calls.most[""] < 2 {
		t.Errorf("%d calls, at most %d at once; want 120, at most 5", calls.calls, calls.most[""])
	}
	for key, most := range calls.most {
		if key != "" && most > 3 {
			t.Errorf("%d calls of %s at once", most, key)
		}
	}
	clustertest.Until(t, "nothing is held", func() bool {
		page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Uses: 10, Claims: 10})
		return err == nil && len(page.Uses)+len(page.Claims) == 0
	})
}

// gate is a step that holds a limit until it is let go.
type gate struct {
	began chan string
	open  chan error
}

func newGate() *gate { return &gate{began: make(chan string, 100), open: make(chan error)} }

func (g *gate) pass(ctx context.Context, name string) error {
	g.began <- name
	select {
	case err := <-g.open:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// begins waits for the next body.
func (g *gate) begins(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-g.began:
		if got != want {
			t.Fatalf("the step of %q begins, want that of %q", got, want)
		}
	case <-time.After(clustertest.Patience):
		t.Fatalf("the step of %q does not begin", want)
	}
}

const gated workflow.Name[string, string] = "gated"

// handle makes runs of one step that passes the gate.
func (g *gate) handle(o *workflow.StepOptions) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, gated, func(ctx workflow.Context, name string) (string, error) {
			return workflow.Step(ctx, "pass", func(ctx context.Context) (string, error) { return name, g.pass(ctx, name) }, o)
		}, nil)
	}
}

// waits waits until so many claims wait.
func waits(t *testing.T, client *runtime.Client, n int) (list []journal.LimitClaim) {
	t.Helper()
	clustertest.Until(t, fmt.Sprint(n, " claims wait"), func() bool {
		page, err := runtime.Limits(t.Context(), client, &journal.LimitFilter{Claims: 100})
		list = page.Claims
		for len(list) > 0 && list[0].Place == 0 {
			list = list[1:]
		}
		return err == nil && len(list) == n
	})
	return list
}

// Whatever ends a run or its wait gives back what it has: a cancel, a termination, a pause, a reset,
// a failure that is retried, an operator who releases the holder, a time that is over.
func TestNoVerbLeaksAClaim(t *testing.T) {
	c, g := clustertest.New(t), newGate()
	o := &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "one"}}, Timeout: time.Hour, Retry: &workflow.RetryPolicy{Initial: time.Millisecond}}
	n := c.Run(nil, g.handle(o))
	client := n.Client()
	ctx := clustertest.Context(t)
	if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "one", Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	start := func(name string) *runtime.Run[string] {
		t.Helper()
		started, err := runtime.Start(ctx, client, gated, name, nil)
		return clustertest.MustStart(t, started, err)
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a := start("a")
	g.begins(t, "a")
	b := start("b")
	if claims := waits(t, client, 1); claims[0].Run != b.ID() || claims[0].Step != "pass" || claims[0].Place != 1 {
		t.Errorf("it waits: %+v", claims)
	}
	g.open <- errors.New("again") // the retry waits behind b
	g.begins(t, "b")
	waits(t, client, 1)
	ok(client.Terminate(ctx, b.ID(), "the body ends, and so does its claim"))
	g.begins(t, "a")
	d := start("d")
	waits(t, client, 1)
	ok(client.Cancel(ctx, d.ID(), "while it waits"))
	clustertest.WantError[error](t, func() error { _, err := d.Result(ctx); return err }())
	waits(t, client, 0)
	e := start("e")
	waits(t, client, 1)
	ok(client.Pause(ctx, e.ID(), nil))
	waits(t, client, 0)
	ok(client.Resume(ctx, e.ID()))
	waits(t, client, 1)
	ok(client.Pause(ctx, a.ID(), &runtime.PauseOptions{CancelSteps: true}))
	g.begins(t, "e")
	ok(client.Resume(ctx, a.ID()))
	claims := waits(t, client, 1)
	page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Name: "one", Claims: 1})
	ok(err)
	if page.Claims[0].Run != e.ID() || claims[0].Run != a.ID() {
		t.Errorf("%+v is held, and %+v waits", page.Claims, claims)
	}
	ok(runtime.ReleaseClaim(ctx, client, page.Claims[0].Node, page.Claims[0].ID))
	g.begins(t, "a") // beside the body of e, as the operator wants it
	g.open <- nil
	g.open <- nil
	for _, r := range []*runtime.Run[string]{a, e} {
		clustertest.MustResult(t, r)
	}
	clustertest.Until(t, "nothing is held", func() bool {
		page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Claims: 10})
		return err == nil && len(page.Claims) == 0
	})
	n.Stop()
}

// A step whose time is over while it waits for a limit fails, and leaves the line. One that says what
// it has used leaves the rest to others. A node that is stopped does not wait for steps that wait.
func TestStepsThatWaitEnd(t *testing.T) {
	t.Parallel()
	g := newGate()
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, func(n *runtime.Node) {
		runtime.Handle(n, gated, func(ctx workflow.Context, name string) (string, error) {
			o := &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "tokens", Cost: 1000}}}
			if name == "hurry" {
				o.Timeout = 20 * time.Millisecond
			}
			return workflow.Step(ctx, "pass", func(ctx context.Context) (string, error) {
				if err := workflow.Settle(ctx, "none", 1); !errors.Is(err, journal.ErrInvalid) {
					return "", fmt.Errorf("settled a limit that it does not have: %v", err)
				}
				return name, errors.Join(workflow.Settle(ctx, "tokens", 900), workflow.Settle(ctx, "tokens", 10), g.pass(ctx, name))
			}, o)
		}, nil)
	})
	client, ctx := n.Client(), clustertest.Context(t)
	if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "tokens", Rate: journal.Rate{N: 1000, Per: 240 * time.Hour, Burst: 1010}}); err != nil {
		t.Fatal(err)
	}
	start := func(name string) *runtime.Run[string] {
		t.Helper()
		started, err := runtime.Start(ctx, client, gated, name, nil)
		return clustertest.MustStart(t, started, err)
	}
	start("first")
	g.begins(t, "first")
	_, err := start("hurry").Result(ctx)
	if err == nil || !strings.Contains(err.Error(), "out of time") {
		t.Errorf("a step whose time is over while it waits: %v", err)
	}
	waits(t, client, 0)
	start("second")
	waits(t, client, 1)
	g.open <- nil
	g.begins(t, "second") // 10 of 1010 were used
	start("third")
	waits(t, client, 1)
	g.open <- nil
	page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Uses: 1})
	if err != nil || len(page.Uses) != 1 {
		t.Fatalf("uses: %+v, %v", page, err)
	}
	began := time.Now()
	stop()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the node took %s to stop, although nothing was executed", took)
	}
}

// A claim whose body is never called gives all of its cost back: the step waited for a slot of the
// node when its run was cancelled. Its node had a slot when it asked, and another step took it.
func TestWhatDoesNotBeginCostsNothing(t *testing.T) {
	const bound, holder workflow.Name[string, string] = "bound", "holder"
	c, g := clustertest.New(t), newGate()
	o := c.Options()
	o.StepsMax = 1
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, gated, func(ctx workflow.Context, name string) (string, error) {
			return workflow.Step(ctx, "pass", func(ctx context.Context) (string, error) { return name, g.pass(ctx, name) }, nil)
		}, nil)
		runtime.Handle(n, bound, func(ctx workflow.Context, name string) (string, error) {
			return workflow.Step(ctx, "second", func(context.Context) (string, error) { return name, errors.New("it began") },
				&workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "tokens", Cost: 1000}, {Name: "bank"}}})
		}, nil)
		runtime.Handle(n, holder, func(ctx workflow.Context, name string) (string, error) {
			return name, workflow.Sleep(ctx, time.Hour)
		}, nil)
	})
	client, ctx := n.Client(), clustertest.Context(t)
	for _, l := range []journal.Limit{
		{Name: "tokens", Rate: journal.Rate{N: 1000, Per: 240 * time.Hour, Burst: 1000}},
		{Name: "bank", Concurrency: 1},
	} {
		if err := runtime.SetLimit(ctx, client, l); err != nil {
			t.Fatal(err)
		}
	}
	uses := func(what, name string, ok func(uses []journal.LimitUse) bool) {
		t.Helper()
		clustertest.Until(t, what, func() bool {
			page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Name: name, Uses: 1})
			return err == nil && ok(page.Uses)
		})
	}
	hold, err := runtime.Start(ctx, client, holder, "holds the bank", &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "bank"}}})
	held := clustertest.MustStart(t, hold, err)
	uses("a run holds the bank", "bank", func(u []journal.LimitUse) bool { return len(u) == 1 && u[0].Held == 1 })
	started, err := runtime.Start(ctx, client, bound, "a", nil)
	run := clustertest.MustStart(t, started, err)
	uses("the step waits for the bank", "bank", func(u []journal.LimitUse) bool { return len(u) == 1 && u[0].Waiting == 1 })
	if _, err := runtime.Start(ctx, client, gated, "b", nil); err != nil {
		t.Fatal(err)
	}
	g.begins(t, "b")
	if err := client.Terminate(ctx, held.ID(), "the bank is another's now"); err != nil {
		t.Fatal(err)
	}
	uses("the step has its claim, and waits for a slot", "tokens", func(u []journal.LimitUse) bool { return len(u) == 1 && u[0].Held == 1 })
	if err := client.Cancel(ctx, run.ID(), "enough"); err != nil {
		t.Fatal(err)
	}
	uses("nothing is used", "tokens", func(u []journal.LimitUse) bool { return len(u) == 0 })
	g.open <- nil
	n.Stop()
}
