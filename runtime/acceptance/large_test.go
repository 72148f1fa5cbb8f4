package acceptance_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// bulky is a run of so many steps at once, each with a result of a megabyte, that receives a number
// at the end. waiting only receives one.
const (
	bulky   workflow.Name[int, int] = "bulky"
	waiting workflow.Name[int, int] = "waiting"
)

// handleBulky registers both. The steps of bulky end when gate is closed.
func handleBulky(n *runtime.Node, began chan<- struct{}, gate <-chan struct{}) {
	runtime.Handle(n, bulky, func(ctx workflow.Context, k int) (int, error) {
		var list []workflow.Future[string]
		for range k {
			list = append(list, workflow.StepAsync(ctx, "result", func(context.Context) (string, error) {
				began <- struct{}{}
				<-gate
				noise := make([]byte, 1<<19-8)
				_, err := rand.Read(noise)
				return hex.EncodeToString(noise), err
			}, nil))
		}
		for _, f := range list {
			if _, err := f.Get(ctx); err != nil {
				return 0, err
			}
		}
		return number.Receive(ctx)
	}, nil)
	runtime.Handle(n, waiting, func(ctx workflow.Context, _ int) (int, error) { return number.Receive(ctx) }, nil)
}

// slowLink is what the tests of large runs give to each connection: a megabyte takes a second.
const slowLink = 1 << 20

// calls sends a number to each run and returns when all have ended.
func calls(t *testing.T, client *runtime.Client, runs []*runtime.Run[int]) {
	t.Helper()
	ctx := clustertest.Context(t)
	for _, r := range runs {
		if err := runtime.Signal(ctx, client, r.ID(), number, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range runs {
		clustertest.MustResult(t, r)
	}
}

func startRuns(t *testing.T, client *runtime.Client, name workflow.Name[int, int], in, n int) (list []*runtime.Run[int]) {
	t.Helper()
	for range n {
		started, err := runtime.Start(clustertest.Context(t), client, name, in, nil)
		list = append(list, clustertest.MustStart(t, started, err))
	}
	return list
}

// TestALargeHistoryDelaysNobody: a node is behind a slow network and has to load a large history.
// Runs with small ones go on meanwhile, and the large one does when it has arrived.
func TestALargeHistoryDelaysNobody(t *testing.T) {
	c := clustertest.New(t)
	const steps, small = 16, 8
	began, gate := make(chan struct{}, steps), make(chan struct{})
	close(gate)
	handle := func(n *runtime.Node) { handleBulky(n, began, gate) }
	a := c.Run(nil, handle)
	large := startRuns(t, a.Client(), bulky, steps, 1)[0]
	runs := startRuns(t, a.Client(), waiting, 0, small)
	for _, r := range append(runs, large) {
		clustertest.Parked(t, a.Client(), r.ID())
	}
	a.Stop()

	link := pgtest.Proxy(t, c.DSN)
	o := c.Options()
	o.Lease = time.Minute // the machine of the test may be busy
	c.RunOn(journal.New(c.Store(link.DSN(), nil), nil), o, handle)
	client := runtime.NewClient(c.Open(nil), nil)
	link.Throttle(slowLink)
	before, _ := link.Carried()
	if err := runtime.Signal(clustertest.Context(t), client, large.ID(), number, 1, nil); err != nil {
		t.Fatal(err)
	}
	carried := func() int64 { now, _ := link.Carried(); return now - before }
	clustertest.Until(t, "the history is on its way", func() bool { return carried() > 1<<20 })
	calls(t, client, runs)
	if n := carried(); n > (steps-2)<<20 {
		t.Errorf("small runs went on when %d KiB had been carried: they waited for the large history", n>>10)
	}
	clustertest.MustResult(t, large)
	if n := carried(); n > 2*steps<<20 {
		t.Errorf("%d MiB were carried for a history of %d MiB", n>>20, steps)
	}
}

// TestALargeTurnDelaysNobody: large results end together behind a slow network. The turns of other
// runs do not wait for theirs.
func TestALargeTurnDelaysNobody(t *testing.T) {
	c := clustertest.New(t)
	const steps, small = 16, 8
	began, gate := make(chan struct{}, steps), make(chan struct{})
	link := pgtest.Proxy(t, c.DSN)
	o := c.Options()
	o.Lease = time.Minute // the machine of the test may be busy
	a := c.RunOn(journal.New(c.Store(link.DSN(), nil), nil), o, func(n *runtime.Node) { handleBulky(n, began, gate) })
	client := runtime.NewClient(c.Open(nil), nil)
	large := startRuns(t, a.Client(), bulky, steps, 1)[0]
	runs := startRuns(t, a.Client(), waiting, 0, small)
	for range steps {
		<-began
	}
	for _, r := range runs {
		clustertest.Parked(t, client, r.ID())
	}
	link.Throttle(slowLink)
	_, before := link.Carried()
	carried := func() int64 { _, now := link.Carried(); return now - before }
	close(gate)
	clustertest.Until(t, "the turn is on its way", func() bool { return carried() > 1<<20 })
	calls(t, client, runs)
	if n := carried(); n > (steps-2)<<20 {
		t.Errorf("small runs went on when %d KiB had been carried: they waited for the large turn", n>>10)
	}
	calls(t, client, []*runtime.Run[int]{large})
	if n := carried(); n > 2*steps<<20 {
		t.Errorf("%d MiB were carried for results of %d MiB", n>>20, steps)
	}
}

// filled is a run with an input of any size, which it returns the length of.
const filled workflow.Name[string, int] = "filled"

// TestLargeInputsDelayNobody: a node behind a slow network finds runs with large inputs and others
// with small ones. The small ones end meanwhile, and the large ones do when theirs have arrived,
// each of which is carried once.
func TestLargeInputsDelayNobody(t *testing.T) {
	c := clustertest.New(t)
	const large, small, size = 16, 8, 1 << 20
	client := runtime.NewClient(c.Open(nil), nil)
	ctx := clustertest.Context(t)
	start := func(n, size int) (list []*runtime.Run[int]) {
		for range n {
			noise := make([]byte, size/2)
			if _, err := rand.Read(noise); err != nil {
				t.Fatal(err)
			}
			run, err := runtime.Start(ctx, client, filled, hex.EncodeToString(noise), nil)
			list = append(list, clustertest.MustStart(t, run, err))
		}
		return list
	}
	bulk := start(large, size)
	runs := start(small, 16)

	link := pgtest.Proxy(t, c.DSN)
	link.Throttle(slowLink)
	o := c.Options()
	o.Lease = time.Minute // the machine of the test may be busy
	began := time.Now()
	c.RunOn(journal.New(c.Store(link.DSN(), nil), nil), o, func(n *runtime.Node) {
		runtime.Handle(n, filled, func(_ workflow.Context, in string) (int, error) { return len(in), nil }, nil)
	})
	for _, r := range runs {
		if n := clustertest.MustResult(t, r); n != 16 {
			t.Errorf("a small run had %d bytes", n)
		}
	}
	carried, _ := link.Carried()
	t.Logf("the small runs ended after %s, when %d KiB had been carried", time.Since(began), carried>>10)
	if carried > (large-2)<<20 {
		t.Errorf("the small runs ended when %d KiB had been carried: they waited for the large inputs", carried>>10)
	}
	for _, r := range bulk {
		if n := clustertest.MustResult(t, r); n != size {
			t.Errorf("a large run had %d bytes", n)
		}
	}
	if carried, _ := link.Carried(); carried > large*3/2<<20 {
		t.Errorf("%d MiB were carried for inputs of %d MiB", carried>>20, large)
	}
}
