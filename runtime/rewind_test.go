package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	works    workflow.Name[string, string] = "works"
	worksKid workflow.Name[string, string] = "works kid"
	worksSig workflow.Signal[string]       = "word"
)

// shop executes the steps a, b and c one after the other, with a child before b, and says which
// bodies it has executed. Those of a name in broken fail for good.
type shop struct {
	mu     sync.Mutex
	broken map[string]bool
	did    []string // names of steps, with their idempotency keys without the run
	order  []string // of steps
	words  int      // signals to receive in the end
	undoes bool     // a step after one that failed
	first  bool     // wait for the child before the steps
}

func newShop(broken ...string) *shop {
	s := &shop{broken: map[string]bool{}, order: []string{"a", "b", "c"}}
	for _, name := range broken {
		s.broken[name] = true
	}
	return s
}

func (s *shop) step(ctx workflow.Context, name string) (string, error) {
	return workflow.Step(ctx, name, func(ctx context.Context) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, key, _ := strings.Cut(workflow.IdempotencyKey(ctx), "/")
		s.did = append(s.did, name+" "+key)
		if s.broken[name] {
			return "", workflow.Permanent(errors.New(name + " is broken"))
		}
		return name, nil
	}, nil)
}

func (s *shop) handle(n *runtime.Node) {
	runtime.Handle(n, worksKid, func(ctx workflow.Context, in string) (string, error) { return "kid of " + in, nil }, nil)
	runtime.Handle(n, works, func(ctx workflow.Context, in string) (string, error) {
		out := []string{in}
		kid := workflow.CallAsync(ctx, worksKid, in, nil)
		if s.first {
			if _, err := kid.Get(ctx); err != nil {
				return "", err
			}
		}
		for _, name := range s.order {
			got, err := s.step(ctx, name)
			if err != nil {
				if s.undoes {
					_, _ = s.step(ctx, "undo")
				}
				return "", fmt.Errorf("works: %w", err)
			}
			out = append(out, got)
		}
		got, err := kid.Get(ctx)
		if err != nil {
			return "", err
		}
		for range s.words {
			word, err := worksSig.Receive(ctx)
			if err != nil {
				return "", err
			}
			out = append(out, word)
		}
		return strings.Join(append(out, got), ","), nil
	}, nil)
}

func (s *shop) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = map[string]bool{}
}

func (s *shop) executed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.did
	s.did = nil
	return list
}

// TestRetry: a failed run goes on where it failed, also while no node is there. What was done is
// not done again, the step keeps its idempotency key, and the child's answer is still known.
func TestRetry(t *testing.T) {
	s, c := newShop("b"), clustertest.New(t)
	n := c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", &runtime.StartOptions{Key: "k"})
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	n.Stop()
	plan, err := client.Retry(ctx, run.ID(), &runtime.RetryOptions{DryRun: true})
	if err != nil || len(plan.Steps) != 1 || plan.Steps[0].Name != "b" || !plan.Steps[0].Failed || !plan.Steps[0].Certain || plan.Generation != 1 {
		t.Errorf("planned: %+v, %v", plan, err)
	}
	if d, err := client.Describe(ctx, run.ID()); err != nil || d.Run.Status != journal.Failed {
		t.Errorf("after a dry run: %+v, %v", d, err)
	}
	if _, err := client.Retry(runtime.WithActor(ctx, "eva"), run.ID(), &runtime.RetryOptions{Reason: "mended"}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Retry(ctx, run.ID(), nil); !errors.Is(err, journal.ErrOpen) {
		t.Errorf("a second retry: %v", err)
	}
	entries, err := client.Audit(ctx, journal.AuditFilter{Run: run.ID()})
	if err != nil || len(entries) != 1 || entries[0].Verb != "retry" || entries[0].Actor != "eva" || entries[0].Reason != "mended" {
		t.Errorf("audit: %+v, %v", entries, err)
	}
	s.mend()
	c.Run(nil, s.handle)
	if got := clustertest.MustResult(t, run); got != "in,a,b,c,kid of in" {
		t.Errorf("result %q", got)
	}
	if diff := cmp.Diff([]string{"a 1/2", "b 1/3", "b 1/3", "c 2/4"}, s.executed()); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
	if refused, ok := errors.AsType[*runtime.PointError](second(client.Retry(ctx, run.ID(), nil))); !ok || !strings.Contains(refused.Error(), "has completed") {
		t.Errorf("a retry of a completed run: %v", refused)
	}
	if _, err := client.Retry(ctx, journal.NewRunID(), nil); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestRetryOfOtherEnds: a run that was cancelled goes on without the request, and one that was
// terminated from where it stood. One that has compensated is not retried by mistake.
func TestRetryOfOtherEnds(t *testing.T) {
	s, c := newShop(), clustertest.New(t)
	s.words = 1
	c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	for _, end := range []func(run journal.RunID) error{
		func(run journal.RunID) error { return client.Cancel(ctx, run, "a mistake") },
		func(run journal.RunID) error { return client.Terminate(ctx, run, "a mistake") },
	} {
		started, err := runtime.Start(ctx, client, works, "in", nil)
		run := clustertest.MustStart(t, started, err)
		clustertest.Parked(t, client, run.ID())
		if err := end(run.ID()); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Result(ctx); err == nil {
			t.Fatal("the run has not ended")
		}
		if _, err := client.Retry(ctx, run.ID(), nil); err != nil {
			t.Fatal(err)
		}
		if err := runtime.Signal(ctx, client, run.ID(), worksSig, "go", nil); err != nil {
			t.Fatal(err)
		}
		if got := clustertest.MustResult(t, run); got != "in,a,b,c,go,kid of in" {
			t.Errorf("result %q", got)
		}
	}
	s.executed()
	s.undoes, s.broken["c"] = true, true
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	if refused, ok := errors.AsType[*runtime.PointError](second(client.Retry(ctx, run.ID(), nil))); !ok || !strings.Contains(refused.Error(), "undo") {
		t.Errorf("a retry of a run that has compensated: %v", refused)
	}
	s.mend()
	s.words = 0
	if _, err := client.Retry(ctx, run.ID(), &runtime.RetryOptions{Again: true}); err != nil {
		t.Fatal(err)
	}
	clustertest.MustResult(t, run)
	if got := s.executed(); !slices.Equal(got, []string{"a 1/2", "b 1/3", "c 1/4", "undo 1/5", "c 1/4"}) {
		t.Errorf("executed %v", got)
	}
}

// TestReset: a run goes back before a step by name, with a proof that its code still fits. What
// does not fit is refused with both sides, and nothing is changed.
func TestReset(t *testing.T) {
	s, c := newShop(), clustertest.New(t)
	n := c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.MustResult(t, run)
	s.executed()
	for what, err := range map[string]error{
		"no proof":    second(client.Reset(ctx, run.ID(), runtime.BeforeStep("b"), nil)),
		"an input":    second(client.Reset(ctx, run.ID(), runtime.BeforeStep("b"), &runtime.ResetOptions{Unproven: true, Input: "x"})),
		"no point":    second(client.Reset(ctx, run.ID(), "nowhere", &runtime.ResetOptions{Unproven: true})),
		"no node":     second(client.Reset(ctx, run.ID(), runtime.LatestFit, &runtime.ResetOptions{Unproven: true})),
		"all by name": second(client.Reset(ctx, run.ID(), runtime.BeforeStep("b"), &runtime.ResetOptions{Unproven: true, Messages: []string{"x"}})),
	} {
		if !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, to := range []runtime.Point{runtime.BeforeStep("never"), runtime.AfterEvent(99), runtime.BeforeFailure} {
		if refused, ok := errors.AsType[*runtime.PointError](second(client.Reset(ctx, run.ID(), to, &runtime.ResetOptions{Unproven: true}))); !ok || refused.Run != run.ID() {
			t.Errorf("%s: %v", to, refused)
		}
	}
	other := runtime.NewNode(c.Journal, nil)
	newShop().swapped().handle(other)
	_, err = client.Reset(ctx, run.ID(), runtime.BeforeStep("c"), &runtime.ResetOptions{Proof: other})
	if d, ok := errors.AsType[*replay.DivergenceError](err); !ok || !strings.Contains(d.Error(), "history has step a") || !strings.Contains(d.Error(), "code has step b") {
		t.Errorf("other code: %v", err)
	}
	if d, err := client.Describe(ctx, run.ID()); err != nil || d.Run.Status != journal.Completed || d.Run.Generation != 1 {
		t.Errorf("after a refused reset: %+v, %v", d, err)
	}
	out, err := client.Reset(ctx, run.ID(), runtime.BeforeStep("b"), &runtime.ResetOptions{Proof: n.Node})
	if err != nil {
		t.Fatal(err)
	}
	var again []string
	for _, step := range out.Steps {
		again = append(again, fmt.Sprint(step.Name, " ", step.Certain, " ", string(step.Outcome.Data)))
	}
	if diff := cmp.Diff([]string{`b true "b"`, `c false "c"`}, again); diff != "" {
		t.Errorf("run again (-want +got):\n%s", diff)
	}
	if got := clustertest.MustResult(t, run); got != "in,a,b,c,kid of in" {
		t.Errorf("result %q", got)
	}
	if got := s.executed(); !slices.Equal(got, []string{"b 2/3", "c 2/4"}) {
		t.Errorf("executed %v", got)
	}
	if _, err := client.Reset(ctx, run.ID(), runtime.RunStart, &runtime.ResetOptions{Input: "new"}); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "new,a,b,c,kid of new" {
		t.Errorf("result from the start: %q", got)
	}
}

// swapped executes the steps in another order.
func (s *shop) swapped() *shop {
	s.order = []string{"b", "a", "c"}
	return s
}

// TestResetOfABlockedRun: a run that a deployment has blocked goes on from the latest event that
// the new code replays.
func TestResetOfABlockedRun(t *testing.T) {
	s, c := newShop(), clustertest.New(t)
	s.words = 1
	old := c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Parked(t, client, run.ID())
	old.Stop()
	changed := newShop()
	changed.order, changed.words = []string{"a", "b", "d"}, 1
	n := c.Run(nil, changed.handle)
	if err := runtime.Signal(ctx, client, run.ID(), worksSig, "go", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, client, run.ID(), "the run is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
	out, err := client.Reset(ctx, run.ID(), runtime.LatestFit, &runtime.ResetOptions{Proof: n.Node})
	if err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "in,a,b,d,go,kid of in" {
		t.Errorf("result %q", got)
	}
	if got := changed.executed(); len(got) == 0 || !strings.HasPrefix(got[len(got)-1], "d 2/") {
		t.Errorf("from %+v executed %v", out, got)
	}
}

// TestRetryOfARunThatTimedOut: its time would be up at once.
func TestRetryOfARunThatTimedOut(t *testing.T) {
	s, c := newShop(), clustertest.New(t)
	s.words = 1
	c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", &runtime.StartOptions{Timeout: 10 * time.Millisecond})
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); !errors.Is(err, workflow.ErrTimeout) {
		t.Fatal(err)
	}
	if refused, ok := errors.AsType[*runtime.PointError](second(client.Retry(ctx, run.ID(), nil))); !ok || !strings.Contains(refused.Error(), "its time is up") {
		t.Errorf("a retry: %v", refused)
	}
}

// TestRewindWithoutMessages: a closed run that goes back, and a fork of it, go on from the events
// that are kept, also if no message says that there is more to read than the row of the run.
func TestRewindWithoutMessages(t *testing.T) {
	const plain workflow.Name[string, string] = "plain"
	s, c := newShop("b"), clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, plain, func(ctx workflow.Context, in string) (string, error) {
			a, err := s.step(ctx, "a")
			if err != nil {
				return "", err
			}
			b, err := s.step(ctx, "b")
			return in + a + b, err
		}, nil)
	})
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, plain, "in", nil)
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	s.mend()
	forked, err := client.Fork(ctx, run.ID(), runtime.BeforeFailure, &runtime.ForkOptions{Proof: n.Node})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Retry(ctx, run.ID(), nil); err != nil {
		t.Fatal(err)
	}
	for _, id := range []journal.RunID{run.ID(), forked.Run} {
		if got, err := runtime.RunOf(client, plain, id).Result(ctx); got != "inab" || err != nil {
			t.Errorf("result %q, %v", got, err)
		}
	}
	if strings.Contains(c.Log.String(), "given up a run") {
		t.Error("the node has not loaded what it claimed")
	}
	got := s.executed()
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a 1/1", "b 1/2", "b 1/2", "b 2/2"}, got); diff != "" {
		t.Errorf("executed (-want +got):\n%s", diff)
	}
}

// TestResultAfterRetry: who asks behind a retry by the same process gets the end that follows, and
// not the one that the process remembers.
func TestResultAfterRetry(t *testing.T) {
	s, c := newShop("c"), clustertest.New(t)
	client := c.Run(nil, s.handle).Client()
	ctx := clustertest.Context(t)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	s.mend()
	if _, err := client.Retry(ctx, run.ID(), nil); err != nil {
		t.Fatal(err)
	}
	if out, err := run.Result(ctx); err != nil || out != "in,a,b,c,kid of in" {
		t.Errorf("after the retry: %q, %v", out, err)
	}
}
