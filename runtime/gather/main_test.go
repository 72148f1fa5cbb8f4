package gather_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/gather"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestMain(m *testing.M) {
	process.Main()
	pgtest.Main(m)
}

const (
	sum  workflow.Name[[]int, string] = "sum"
	sum2 workflow.Name[[]int, string] = "sum2"
	echo workflow.Name[int, string]   = "echo"
	slow workflow.Name[int, string]   = "slow" // takes ten seconds
	step workflow.Name[int, string]   = "step" // takes a moment
	stay workflow.Name[int, string]   = "stay" // until somebody ends it
	held workflow.Name[[]int, string] = "held" // takes ten seconds, and holds the limit "full"
)

// handleWork registers workflows that say what they got.
func handleWork(n *runtime.Node) {
	runtime.Handle(n, sum, func(_ workflow.Context, in []int) (string, error) { return text(in), nil }, nil)
	runtime.Handle(n, sum2, func(_ workflow.Context, in []int) (string, error) { return "2:" + text(in), nil }, nil)
	runtime.Handle(n, echo, func(_ workflow.Context, in int) (string, error) { return strconv.Itoa(in), nil }, nil)
	runtime.Handle(n, step, func(ctx workflow.Context, in int) (string, error) {
		return workflow.Step(ctx, "step", func(context.Context) (string, error) { return strconv.Itoa(in), nil }, nil)
	}, nil)
	runtime.Handle(n, stay, func(ctx workflow.Context, _ int) (string, error) { return "", workflow.Sleep(ctx, 24*time.Hour) }, nil)
	runtime.Handle(n, held, func(ctx workflow.Context, in []int) (string, error) {
		return text(in), workflow.Sleep(ctx, 10*time.Second)
	}, &runtime.HandleOptions{Limits: []journal.LimitNeed{{Name: "full"}}})
	runtime.Handle(n, slow, func(ctx workflow.Context, in int) (string, error) {
		return strconv.Itoa(in), workflow.Sleep(ctx, 10*time.Second)
	}, nil)
}

// text is a list as text: "1 2 3".
func text(in []int) string {
	var b []string
	for _, i := range in {
		b = append(b, strconv.Itoa(i))
	}
	return strings.Join(b, " ")
}

// rig is a node in virtual time.
type rig struct {
	*runtimetest.Env
	client *runtime.Client
	ctx    context.Context
}

// bubble executes a test in virtual time, in which each history is replayed in the end.
func bubble(t *testing.T, test func(r *rig)) {
	t.Helper()
	runtimetest.Test(t, func(e *runtimetest.Env) { test(rigIn(e)) })
}

func rigIn(e *runtimetest.Env) *rig {
	gather.HandleIn(e)
	e.Register(handleWork)
	return &rig{e, e.Client(), context.Background()}
}

// put puts inputs, one behind the other.
func put[Out any](r *rig, to *gather.Collector[int, Out], key string, in ...int) {
	r.Helper()
	putAll(r.ctx, r, r.client, to, key, in...)
}

func putAll[Out any](ctx context.Context, t testing.TB, c *runtime.Client, to *gather.Collector[int, Out], key string, in ...int) {
	t.Helper()
	for _, i := range in {
		if err := gather.Put(ctx, c, to, key, i, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// from lists numbers.
func from(first, last int) (list []int) {
	for i := first; i <= last; i++ {
		list = append(list, i)
	}
	return list
}

// batches lists the runs of a collector and a key, by the number in their keys. Keys in which more
// than one collector's run has started batches, one behind the other, are in that order.
func batches(t testing.TB, c *runtime.Client, name, key string) []journal.Run {
	t.Helper()
	labels := map[string]string{gather.LabelName: name}
	if key != "" {
		labels[gather.LabelKey] = key
	}
	var list []journal.Run
	for f := (journal.ListFilter{Labels: labels, Limit: journal.ListMax}); ; {
		page, err := c.List(context.Background(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, run := range page.Runs {
			if run.Workflow != gather.Workflow && run.Labels[gather.LabelKey] == key {
				list = append(list, run)
			}
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	number := func(r journal.Run) int {
		n, err := strconv.Atoi(r.Key[strings.LastIndex(r.Key, ":")+1:])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	slices.SortFunc(list, func(a, b journal.Run) int {
		if a.Parent.Run != b.Parent.Run {
			return strings.Compare(a.Parent.Run.String(), b.Parent.Run.String())
		}
		return number(a) - number(b)
	})
	return list
}

// results are what the runs of a collector and a key have said.
func results(t testing.TB, c *runtime.Client, name, key string) (said []string) {
	t.Helper()
	for _, run := range batches(t, c, name, key) {
		said = append(said, clustertest.MustResult(t, runtime.RunOf(c, workflow.Name[int, string](run.Workflow), run.ID)))
	}
	return said
}

// want compares the runs of a key: what they got, and when they were started, by the bubble's
// clock.
func (r *rig) want(name, key string, want ...string) {
	r.Helper()
	said := results(r, r.client, name, key)
	var got []string
	for i, run := range batches(r, r.client, name, key) {
		got = append(got, said[i]+" @"+run.CreatedAt.Sub(epoch).Round(10*time.Millisecond).String())
	}
	if d := cmp.Diff(want, got); d != "" {
		r.Errorf("the runs of %s, key %q (-want +got):\n%s", name, key, d)
	}
}

// epoch is when bubbles begin.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
