package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestUnencodableOutputBlocksTheRun: the output of a workflow cannot be encoded. All its steps have
// passed, so the run does not fail for good: it is blocked, says why, and completes with better code.
func TestUnencodableOutputBlocksTheRun(t *testing.T) {
	c := clustertest.New(t)
	const ratio workflow.Name[int, float64] = "ratio"
	with := func(out float64) func(*runtime.Node) {
		return func(n *runtime.Node) {
			runtime.Handle(n, ratio, func(workflow.Context, int) (float64, error) { return out, nil }, nil)
		}
	}
	n := c.Run(nil, with(math.NaN()))
	ctx := clustertest.Context(t)
	started, err := runtime.Start(ctx, n.Client(), ratio, 0, nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Until(t, "the run is blocked", func() bool {
		d, err := n.Client().Describe(ctx, run.ID())
		return err == nil && d.Run.Task != nil && d.Run.Task.State == journal.Blocked && strings.Contains(d.Run.Task.Problem, "NaN")
	})
	n.Stop()
	c.Run(nil, with(0.5))
	if out, err := run.Result(ctx); out != 0.5 || err != nil {
		t.Errorf("with better code: %v, %v", out, err)
	}
}

// TestNewRetryPolicyAppliesToWaitingSteps: a deployment changes the retry policy of a step that
// waits for its next attempt. That attempt keeps its time; when it fails, the new policy decides.
func TestNewRetryPolicyAppliesToWaitingSteps(t *testing.T) {
	c := clustertest.New(t)
	var attempts atomic.Int32
	with := func(p workflow.RetryPolicy) func(n *runtime.Node) {
		return func(n *runtime.Node) {
			runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
				return workflow.Step(ctx, "flaky", func(ctx context.Context) (string, error) {
					attempts.Add(1)
					return "", errors.New("down")
				}, &workflow.StepOptions{Retry: &p})
			}, nil)
		}
	}
	old := c.Run(nil, with(workflow.RetryPolicy{Initial: 700 * time.Millisecond, Jitter: -1}))
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, greet, "", nil)
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Described(t, client, run.ID(), "the first attempt has failed", func(d *runtime.Description) bool {
		return len(d.Steps) == 1 && d.Steps[0].Attempts == 1
	})
	old.Stop()
	c.Run(nil, with(workflow.RetryPolicy{Initial: time.Millisecond, Attempts: 2}))
	_, err = run.Result(ctx)
	clustertest.WantError[*runtime.FailedError](t, err)
	events, err := client.History(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	failed := events[len(events)-2]
	if failed.Kind != journal.StepFailed || failed.Attempt != 2 || attempts.Load() != 2 {
		t.Errorf("%s at attempt %d, %d bodies; want StepFailed at 2", failed.Kind, failed.Attempt, attempts.Load())
	}
	if failed.Time.Before(d.Steps[0].NextAt) {
		t.Errorf("the second attempt ended at %s, before it was due at %s", failed.Time, d.Steps[0].NextAt)
	}
}

// TestOutcomesBesideAHangingStepAreKept: one of many parallel steps hangs until its node dies.
// After the takeover it runs again, and the outcomes of the others are kept.
func TestOutcomesBesideAHangingStepAreKept(t *testing.T) {
	c := clustertest.New(t)
	const wide = 8
	var bodies [wide]atomic.Int32
	register := func(hangs bool) func(n *runtime.Node) {
		return func(n *runtime.Node) {
			runtime.Handle(n, count, func(ctx workflow.Context, in int) (int, error) {
				var futures []workflow.Future[int]
				for i := range wide {
					futures = append(futures, workflow.StepAsync(ctx, fmt.Sprintf("part %d", i), func(ctx context.Context) (int, error) {
						bodies[i].Add(1)
						if hangs && i == 3 {
							<-ctx.Done()
							return 0, context.Cause(ctx)
						}
						return i, nil
					}, nil))
				}
				sum := 0
				for _, f := range futures {
					v, err := f.Get(ctx)
					if err != nil {
						return 0, err
					}
					sum += v
				}
				return sum, nil
			}, nil)
		}
	}
	a := c.RunMortal(register(true))
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, count, 0, nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Described(t, client, run.ID(), "all but one have ended", func(d *runtime.Description) bool { return d.Events == wide && len(d.Steps) == 1 })
	a.Die()
	c.Run(nil, register(false))
	if got := clustertest.MustResult(t, run); got != wide*(wide-1)/2 {
		t.Errorf("sum %d", got)
	}
	for i := range bodies {
		want := int32(1)
		if i == 3 {
			want = 2
		}
		if got := bodies[i].Load(); got != want {
			t.Errorf("part %d ran %d times, want %d", i, got, want)
		}
	}
}

// TestHeartbeatsOfAStoppedNodeMeanNothing: a step ignores that its node was stopped and continues
// to heartbeat. That keeps nothing alive: the step runs on another node, the stopped node is no
// member, and its details do not arrive.
func TestHeartbeatsOfAStoppedNodeMeanNothing(t *testing.T) {
	c := clustertest.New(t)
	var beats atomic.Int32
	end := make(chan struct{})
	endZombie := sync.OnceFunc(func() { close(end) })
	t.Cleanup(endZombie)
	o := c.Options()
	o.Drain = 20 * time.Millisecond
	a := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "stubborn", func(ctx context.Context) (string, error) {
				for {
					_ = workflow.Heartbeat(ctx, beats.Add(1)) // whether it can be kept is not this step's business
					select {
					case <-end:
						return "zombie", nil
					case <-time.After(time.Millisecond):
					}
				}
			}, nil)
		}, nil)
	})
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, greet, "", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Until(t, "the step heartbeats", func() bool { return beats.Load() > 10 })
	a.Stop()
	stopped := beats.Load()
	proceed := make(chan struct{})
	b := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "stubborn", func(ctx context.Context) (string, error) {
				last, _ := workflow.LastHeartbeat[int32](ctx)
				<-proceed
				return fmt.Sprint(last <= stopped), nil
			}, nil)
		}, nil)
	})
	d := clustertest.Described(t, client, run.ID(), "the next node has the run", func(d *runtime.Description) bool { return d.Run.Task.Owner == b.ID() })
	clustertest.Until(t, "the stopped node's step goes on", func() bool { return beats.Load() > stopped+100 })
	now, err := client.Describe(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	if now.Run.Task.Turn != d.Run.Task.Turn || now.Run.Task.Owner != b.ID() {
		t.Errorf("the task moved from turn %d to %d, owner %d", d.Run.Task.Turn, now.Run.Task.Turn, now.Run.Task.Owner)
	}
	nodes, err := driver.Of(c.Journal).Nodes(ctx)
	if err != nil || len(nodes) != 1 || nodes[0].ID != b.ID() {
		t.Errorf("live nodes %v, %v", nodes, err)
	}
	close(proceed)
	if got := clustertest.MustResult(t, run); got != "true" {
		t.Errorf("got %q: heartbeats from after the stop were kept, or the zombie's result", got)
	}
}

// TestOnlyStepsOfDeadNodesAreRescued: a step that takes several leases is left alone while its node
// lives. The step of a dead node runs elsewhere at once.
func TestOnlyStepsOfDeadNodesAreRescued(t *testing.T) {
	c := clustertest.New(t)
	var mu sync.Mutex
	bodies, release := map[string]int{}, make(chan struct{})
	register := func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "long", func(ctx context.Context) (string, error) {
				mu.Lock()
				bodies[in]++
				mu.Unlock()
				select {
				case <-release:
					return in, nil
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			}, nil)
		}, nil)
	}
	began := func(name string) int {
		mu.Lock()
		defer mu.Unlock()
		return bodies[name]
	}
	// The living node gets a lease that it can keep on a busy machine too: losing it would rightly
	// run its step again.
	const lease = 4 * time.Second
	o := c.Options()
	o.Lease = lease
	lives, dies := c.Run(o, register), c.RunMortal(register)
	member := lives.ID()
	ctx := clustertest.Context(t)
	startedA, err := runtime.Start(ctx, lives.Client(), greet, "lives", nil)
	live := clustertest.MustStart(t, startedA, err)
	startedB, err := runtime.Start(ctx, dies.Client(), greet, "dies", nil)
	dead := clustertest.MustStart(t, startedB, err)
	clustertest.Until(t, "both steps run", func() bool { return began("lives") == 1 && began("dies") == 1 })
	dies.Die()
	clustertest.Until(t, "the dead node's step runs again", func() bool { return began("dies") == 2 })
	d, err := lives.Client().Describe(ctx, live.ID())
	if err != nil {
		t.Fatal(err)
	}
	c.Passed(lives.Client(), d.Run.CreatedAt.Add(2*lease))
	close(release)
	clustertest.MustResult(t, live)
	clustertest.MustResult(t, runtime.RunOf(lives.Client(), greet, dead.ID()))
	if lives.ID() != member {
		t.Error("the living node lost its lease, so this test shows nothing")
	}
	if began("lives") != 1 || began("dies") != 2 {
		t.Errorf("bodies: %v", bodies)
	}
}

// TestTimeLimitsAcrossNodes: the time limit of a whole step counts from its command, whichever
// nodes its attempts run on. The time limit of an attempt starts anew with each attempt.
func TestTimeLimitsAcrossNodes(t *testing.T) {
	const limit = 5 * time.Second
	for name, tc := range map[string]struct {
		options  workflow.StepOptions
		attempts int32
	}{
		"overall": {workflow.StepOptions{Timeout: limit}, 1},
		"attempt": {workflow.StepOptions{AttemptTimeout: time.Second, Retry: &workflow.RetryPolicy{Attempts: 2, Initial: time.Millisecond}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			var began atomic.Int32
			register := func(n *runtime.Node) {
				runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
					return workflow.Step(ctx, "hangs", func(ctx context.Context) (string, error) {
						began.Add(1)
						<-ctx.Done()
						return "", context.Cause(ctx)
					}, &tc.options)
				}, nil)
			}
			a := c.RunMortal(register)
			client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
			started, err := runtime.Start(ctx, client, greet, "", nil)
			run := clustertest.MustStart(t, started, err)
			clustertest.Until(t, "the step runs", func() bool { return began.Load() == 1 })
			a.Die()
			c.Run(nil, register)
			_, err = run.Result(ctx)
			clustertest.WantError[*runtime.FailedError](t, err)
			events, err := client.History(ctx, run.ID())
			if err != nil {
				t.Fatal(err)
			}
			failed := events[len(events)-2]
			f, err := journal.DecodeFailure(failed.Payload)
			if err != nil || f.Type != journal.FailureTimeout || failed.Attempt != tc.attempts {
				t.Errorf("%s at attempt %d: %+v, %v", failed.Kind, failed.Attempt, f, err)
			}
			took := failed.Time.Sub(events[0].Time)
			if tc.options.Timeout > 0 && (took < limit || took > limit+10*time.Second) {
				t.Errorf("failed after %s, want %s", took, limit)
			}
			if began.Load() != tc.attempts+1 {
				t.Errorf("%d bodies, want one on the dead node and %d after", began.Load(), tc.attempts)
			}
		})
	}
}
