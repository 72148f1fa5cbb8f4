package actor

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

type next = func(context.Context) error

// passing are interceptors that change nothing.
var passing = []StepInterceptor{
	func(ctx context.Context, next next) error { return next(context.WithValue(ctx, mark("passing"), 1)) },
	func(ctx context.Context, next next) error { return next(ctx) },
}

type mark string

// outcome executes one step of one attempt with interceptors and returns its event.
func outcome(t *testing.T, list []StepInterceptor, body func(context.Context) (string, error), o *workflow.StepOptions) (ev journal.Event, g *rig) {
	t.Helper()
	bubble(t, func(o *Options) { o.StepInterceptors = list }, func(r *rig) {
		if g = r; o == nil {
			o = &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}}
		}
		g.stepWith(o, body)
		id := g.start("one")
		pass(5 * time.Second)
		g.store.mu.Lock()
		defer g.store.mu.Unlock()
		if list := g.store.runs[id].events; len(list) > 1 {
			ev = list[1]
		} else {
			t.Fatalf("the step has no outcome: %v", list)
		}
	})
	return ev, g
}

// The first interceptor is outermost, the body sees what they put into the context, and the output
// is the body's.
func TestStepInterceptors(t *testing.T) {
	var log []string
	layer := func(name string) StepInterceptor {
		return func(ctx context.Context, next next) error {
			a, _ := workflow.StepInfo(ctx)
			log = append(log, fmt.Sprintf("%s before %s %d", name, a.Step, a.Attempt))
			err := next(context.WithValue(ctx, mark(name), name))
			log = append(log, fmt.Sprintf("%s after: %v", name, err))
			return err
		}
	}
	ev, _ := outcome(t, []StepInterceptor{layer("a"), layer("b")}, func(ctx context.Context) (string, error) {
		log = append(log, fmt.Sprint("body with ", ctx.Value(mark("a")), ctx.Value(mark("b")), " ", workflow.Heartbeat(ctx, nil), " ", workflow.IdempotencyKey(ctx) != ""))
		return "done", nil
	}, nil)
	want := []string{"a before a 1", "b before a 1", "body with ab <nil> true", "b after: <nil>", "a after: <nil>"}
	if diff := cmp.Diff(want, log); diff != "" || ev.Kind != journal.StepCompleted || string(ev.Payload.Data) != `"done"` {
		t.Errorf("%s %s, (-want +got):\n%s", ev.Kind, ev.Payload.Data, diff)
	}
}

// What the outermost interceptor returns is the attempt's error; what is wrong of it fails the
// attempt with an error that names it, whatever the body did.
func TestStepInterceptorOutcomes(t *testing.T) {
	boom, other := errors.New("boom"), errors.New("other")
	fails := func(context.Context) (string, error) { return "", boom }
	works := func(context.Context) (string, error) { return "done", nil }
	var kept next
	for name, c := range map[string]struct {
		intercept StepInterceptor
		body      func(context.Context) (string, error)
		want      string // in the failure's text; empty for an output
		named     bool
	}{
		"refuses":         {func(context.Context, next) error { return boom }, nil, "boom", false},
		"passes on":       {func(ctx context.Context, next next) error { return next(ctx) }, fails, "boom", false},
		"replaces":        {func(ctx context.Context, next next) error { _ = next(ctx); return other }, fails, "other", false},
		"fails after all": {func(ctx context.Context, next next) error { _ = next(ctx); return other }, works, "other", false},
		"swallows":        {func(ctx context.Context, next next) error { _ = next(ctx); return nil }, fails, "returned nil although next had failed; return that error or another one: boom", true},
		"does nothing":    {func(context.Context, next) error { return nil }, nil, "returned nil without calling next", true},
		"twice":           {func(ctx context.Context, next next) error { _ = next(ctx); return next(ctx) }, fails, "called next a second time; nothing was done: boom", true},
		"twice, unheard":  {func(ctx context.Context, next next) error { defer next(ctx); return next(ctx) }, works, "", false},
		"on a goroutine":  {func(ctx context.Context, next next) error { return elsewhere(func() error { return next(ctx) }) }, nil, "called next on another goroutine", true},
		"keeps next":      {func(_ context.Context, next next) error { kept = next; return boom }, nil, "boom", false},
		"a kept next":     {func(ctx context.Context, _ next) error { return kept(ctx) }, nil, "called next", true},
		"no context":      {func(_ context.Context, next next) error { return next(nil) }, nil, "context that does not come from its own", true}, //nolint:staticcheck
		"a foreign one":   {func(_ context.Context, next next) error { return next(context.Background()) }, nil, "context that does not come from its own", true},
		"hides a panic":   {func(ctx context.Context, next next) error { defer func() { _ = recover() }(); return next(ctx) }, func(context.Context) (string, error) { panic("x") }, "recovered from a panic", true},
		"tells of a panic": {func(ctx context.Context, next next) (err error) {
			defer func() { err = fmt.Errorf("it was %v", recover()) }()
			return next(ctx)
		}, func(context.Context) (string, error) { panic("x") }, "it was x", false},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a kept next" {
				outcome(t, []StepInterceptor{func(_ context.Context, next next) error { kept = next; return boom }}, succeeds, nil)
			}
			called := 0
			body := func(ctx context.Context) (string, error) {
				if called++; c.body == nil {
					t.Error("the body was called")
					return "", nil
				}
				return c.body(ctx)
			}
			ev, _ := outcome(t, []StepInterceptor{passing[0], c.intercept}, body, nil)
			if c.want == "" {
				if ev.Kind != journal.StepCompleted || called != 1 {
					t.Errorf("%s after %d calls", ev.Kind, called)
				}
				return
			}
			f, err := journal.DecodeFailure(ev.Payload)
			if err != nil || ev.Kind != journal.StepFailed || !strings.Contains(f.Message, c.want) || called > 1 {
				t.Errorf("%s %v, %v after %d calls", ev.Kind, f, err, called)
			}
			if c.named && !strings.Contains(f.Message, "step interceptor actor.TestStepInterceptorOutcomes.func") {
				t.Errorf("the interceptor is not named: %s", f.Message)
			}
		})
	}
}

func succeeds(context.Context) (string, error) { return "done", nil }

func elsewhere(fn func() error) error {
	failed := make(chan error)
	go func() { failed <- fn() }()
	return <-failed
}

// The policy of the step is about the interceptors' error. That of a body which was swallowed keeps
// what the body said about another attempt.
func TestStepInterceptorsAndRetries(t *testing.T) {
	boom := errors.New("boom")
	swallows := func(ctx context.Context, next next) error { _ = next(ctx); return nil }
	for name, c := range map[string]struct {
		intercept StepInterceptor
		body      error // of each attempt
		attempts  int32
	}{
		"repeated":              {func(ctx context.Context, next next) error { _ = next(ctx); return boom }, nil, 3},
		"made permanent":        {func(ctx context.Context, next next) error { return workflow.Permanent(next(ctx)) }, boom, 1},
		"made worth another":    {func(ctx context.Context, next next) error { _ = next(ctx); return boom }, workflow.Permanent(boom), 3},
		"swallowed":             {swallows, boom, 3},
		"swallowed, for good":   {swallows, workflow.Permanent(boom), 1},
		"panics, as a body's":   {func(context.Context, next) error { panic("boom") }, nil, 2},
		"ends, as a body would": {func(context.Context, next) error { goruntime.Goexit(); return nil }, nil, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.StepInterceptors = []StepInterceptor{c.intercept, passing[1]} }, func(g *rig) {
				o := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 3, Panics: 2, Initial: time.Millisecond}}
				g.stepWith(o, func(context.Context) (string, error) { return "done", c.body })
				id := g.start("one")
				g.let(time.Second, id)
				if ev := g.store.runs[id].events[1]; ev.Kind != journal.StepFailed || ev.Attempt != c.attempts {
					t.Errorf("%s at attempt %d, want %d: %s", ev.Kind, ev.Attempt, c.attempts, g.history(id))
				}
			})
		})
	}
}

// A panic names the line that panicked, in the body and in an interceptor.
func TestStepInterceptorPanics(t *testing.T) {
	for name, c := range map[string]struct {
		intercept StepInterceptor
		body      func(context.Context) (string, error)
	}{
		"the body":        {passing[1], func(context.Context) (string, error) { return "", bang() }},
		"the interceptor": {func(context.Context, next) error { return bang() }, succeeds},
	} {
		ev, g := outcome(t, []StepInterceptor{passing[0], c.intercept}, c.body, nil)
		f, err := journal.DecodeFailure(ev.Payload)
		if err != nil || f.Type != journal.FailurePanic || !strings.Contains(f.Message, "panic: bang at actor.bang (around_test.go:") {
			t.Errorf("%s: %v, %v", name, f, err)
		}
		g.wantSaid("panicked a 1: panic: bang at actor.bang", 1)
	}
}

//go:noinline
func bang() error { panic("bang") }

// The transaction of a step commits only if its interceptors return nil.
func TestStepInterceptorsAndTransactions(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		intercept StepInterceptor
		fate      string
	}{
		"passes":           {passing[1], "committed"},
		"refuses":          {func(context.Context, next) error { return boom }, "rolled back"},
		"fails afterwards": {func(ctx context.Context, next next) error { return errors.Join(next(ctx), boom) }, "rolled back"},
		"panics":           {func(ctx context.Context, next next) error { _ = next(ctx); panic("boom") }, "rolled back"},
		"does nothing":     {func(context.Context, next) error { return nil }, "rolled back"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.StepInterceptors = []StepInterceptor{c.intercept} }, func(g *rig) {
				g.define("one", func(ctx workflow.Context) (string, error) {
					return workflow.StepTx(ctx, "a", func(context.Context, *memoryTx) (string, error) { return "done", nil },
						&workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
				})
				g.start("one")
				wait()
				g.wantTxs(c.fate)
			})
		})
	}
}

// A deadline that an interceptor sets is the body's, and the attempt's own limits hold for
// interceptors too: one that hangs is abandoned as a body is.
func TestStepInterceptorsAndLimits(t *testing.T) {
	ev, _ := outcome(t, []StepInterceptor{func(ctx context.Context, next next) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return next(ctx)
	}}, func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }, nil)
	if f, err := journal.DecodeFailure(ev.Payload); err != nil || f.Message != context.DeadlineExceeded.Error() {
		t.Errorf("%s %v, %v", ev.Kind, f, err)
	}
	bubble(t, func(o *Options) {
		o.StepInterceptors = []StepInterceptor{func(ctx context.Context, next next) error {
			defer time.Sleep(10 * time.Second) // whatever the context says
			return next(ctx)
		}}
	}, func(g *rig) {
		g.stepWith(&workflow.StepOptions{AttemptTimeout: time.Second, Retry: &workflow.RetryPolicy{Attempts: 1}},
			func(context.Context) (string, error) { return "done", nil })
		id := g.start("one")
		pass(5 * time.Second)
		g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
		g.wantSaid("hangs a 1", 1)
		if !slices.ContainsFunc(g.log, func(line string) bool { return strings.Contains(line, "around_test.go") }) {
			t.Errorf("the line of the interceptor is not shown: %q", g.log)
		}
		pass(10 * time.Second)
	})
}
