package runtime_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// limited are runs of one step that needs the limits that its input names, as name or name/key.
const limited workflow.Name[[]workflow.StepLimit, string] = "limited"

func (g *gate) handleLimited(n *runtime.Node) {
	runtime.Handle(n, limited, func(ctx workflow.Context, limits []workflow.StepLimit) (string, error) {
		return workflow.Step(ctx, "call", func(ctx context.Context) (string, error) { return "", g.pass(ctx, limits[0].Name) },
			&workflow.StepOptions{Limits: limits})
	}, nil)
}

// TestWhyNamesTheLimit: a run whose step waits for a limit says for which, who holds it, where it
// stands in line, when it may begin and how that was computed, and what an operator can do; and
// what the operator does helps.
func TestWhyNamesTheLimit(t *testing.T) {
	t.Parallel()
	g := newGate()
	n, stop := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, g.handleLimited)
	client, ctx := n.Client(), clustertest.Context(t)
	for _, l := range []journal.Limit{
		{Name: "bank", Concurrency: 1}, {Name: "bank", Key: "it's", Concurrency: 1}, {Name: "all", Total: 1},
		{Name: "slow", Rate: journal.Rate{N: 1, Per: 10 * time.Hour}}, {Name: "roomy", Concurrency: 9},
	} {
		if err := runtime.SetLimit(ctx, client, l); err != nil {
			t.Fatal(err)
		}
	}
	start := func(limits ...workflow.StepLimit) journal.RunID {
		t.Helper()
		started, err := runtime.Start(ctx, client, limited, limits, nil)
		return clustertest.MustStart(t, started, err).ID()
	}
	waiting := 0
	waits1 := func(limits ...workflow.StepLimit) journal.RunID {
		t.Helper()
		run := start(limits...)
		waiting += len(limits)
		waits(t, client, waiting)
		return run
	}
	one := func(name, key string) workflow.StepLimit { return workflow.StepLimit{Name: name, Key: key} }
	holder := start(one("bank", ""))
	g.begins(t, "bank")
	for _, l := range []workflow.StepLimit{one("bank", "it's"), one("all", "t1"), one("slow", "")} {
		start(l)
		g.begins(t, l.Name)
	}
	first, second := waits1(one("bank", ""), one("roomy", "")), waits1(one("bank", ""))
	quoted, total := waits1(one("bank", "it's")), waits1(one("all", "t2"))
	slow, slower := waits1(one("slow", "")), waits1(one("slow", ""))
	for _, k := range []struct {
		run     journal.RunID
		text    []string
		remedy  string
		place   int
		held    int
		holders int
		until   time.Duration // about; 0 for none
	}{
		{first, []string{`step call waits for limit "bank": its only place is held; it is number 1 of 2 in line; it may begin in `,
			"twice what they have had it for on average"}, "reprise limit set bank --concurrency N; if a holder hangs, take its place: reprise limit release 1:", 1, 1, 1, 0},
		{second, []string{"it is number 2 of 2 in line"}, "reprise limit release 1:", 2, 1, 1, 0},
		{quoted, []string{`limit "bank", key "it's": its only place is held`}, `reprise limit set bank --key 'it'\''s' --concurrency N`, 1, 1, 1, 0},
		{total, []string{`limit "all", key "t2": its only place of all keys is held; it is number 1 of 1 in line`}, "reprise limit set all --total N", 1, 0, 1, 0},
		{slow, []string{`limit "slow": its rate is 1 per 10h0m0s; it is number 1 of 2`, "the rate lets it begin in 10h0m"}, "reprise limit set slow --rate N/TIME", 1, 1, 1, 10 * time.Hour},
		{slower, []string{"number 2 of 2", "lets it begin in 20h0m, behind what those before it cost"}, "--rate N/TIME", 2, 1, 1, 20 * time.Hour},
	} {
		r, e := whyOf(t, client, k.run, runtime.ReasonLimit)
		for _, text := range k.text {
			if !strings.Contains(r.Text, text) {
				t.Errorf("%q has no %q", r.Text, text)
			}
		}
		if w := r.Limit; !strings.Contains(r.Remedy, k.remedy) || r.Since.IsZero() || w.Claim.Place != k.place || w.Held != k.held || len(w.Holders) != k.holders ||
			w.Claim.Run != k.run || w.Expected.IsZero() || w.Estimate == "" {
			t.Errorf("%s\n%s\n%+v", r.Text, r.Remedy, w)
		}
		left := time.Until(r.Until)
		if k.until == 0 && !r.Until.IsZero() || k.until != 0 && (left > k.until || left < k.until-time.Hour) {
			t.Errorf("%s: until %s", r.Text, r.Until)
		}
		for _, other := range e.Reasons {
			if other.Kind == runtime.ReasonStep {
				t.Errorf("a step that waits for a limit is said twice: %s", e)
			}
		}
	}
	r, e := whyOf(t, client, second, runtime.ReasonLimit)
	if h := r.Limit.Holders[0]; h.Run != holder || !strings.Contains(e.String(), fmt.Sprintf("held by step call of run %s on node 1 since ", holder)) {
		t.Errorf("the holder is %+v, as text %s", h, e)
	}
	e, err := client.Why(ctx, first)
	if err != nil || !strings.Contains(e.String(), `step call waits for limit "roomy", which has room`) {
		t.Errorf("a limit that does not hold the step up: %v\n%s", err, e)
	}
	h := r.Limit.Holders[0]
	node, id, err := journal.ParseClaimHandle(h.Handle())
	if err != nil || node != h.Node || id != h.ID {
		t.Fatalf("handle %s is %d, %d, %v", h.Handle(), node, id, err)
	}
	if err := runtime.ReleaseClaim(ctx, client, node, id); err != nil {
		t.Fatal(err)
	}
	g.begins(t, "bank") // that of the first
	stop()
}
