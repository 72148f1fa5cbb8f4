package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// A Context must not be a context.Context: blocking calls would compile in workflow code.
func TestContextIsNotAContext(t *testing.T) {
	if _, ok := any(workflow.Context{}).(context.Context); ok {
		t.Error("workflow.Context satisfies context.Context")
	}
	if _, ok := any(&workflow.Context{}).(context.Context); ok {
		t.Error("*workflow.Context satisfies context.Context")
	}
}

// issued returns the first step that fn asks for, or the error of the run.
func issued(t *testing.T, fn func(workflow.Context) error) (replay.Step, *journal.Failure) {
	t.Helper()
	def := workflow.Define("test", 1, func(ctx workflow.Context, _ struct{}) (struct{}, error) { return struct{}{}, fn(ctx) })
	m := replay.New(def, replay.Info{}, journal.New(nil, &journal.Options{PayloadBytesMax: 100}))
	defer m.Close()
	if err := m.Step(&journal.Event{Seq: 1, Kind: journal.RunStarted}); err != nil {
		t.Fatal(err)
	}
	d := m.Take()
	if d.Terminal != nil {
		f, err := journal.DecodeFailure(d.Terminal.Payload)
		if err != nil {
			t.Fatalf("the run ended with %s", d.Terminal.Kind)
		}
		return replay.Step{}, f
	}
	return d.Steps[0], nil
}

func TestStepOptions(t *testing.T) {
	defaults := replay.RetryPolicy{Initial: time.Second, Factor: 2, Max: 100 * time.Second, Jitter: 0.2, Panics: 3}
	tests := []struct {
		name string
		o    *workflow.StepOptions
		want replay.StepOptions
		err  string
	}{
		{"nil", nil, replay.StepOptions{Retry: defaults}, ""},
		{"zero", &workflow.StepOptions{Retry: &workflow.RetryPolicy{}}, replay.StepOptions{Retry: defaults}, ""},
		{"limits", &workflow.StepOptions{AttemptTimeout: 1, Timeout: 2, HeartbeatTimeout: 3},
			replay.StepOptions{Retry: defaults, Attempt: 1, Overall: 2, Heartbeat: 3}, ""},
		{"retry", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour, Factor: 1, Jitter: -1, Attempts: 3}},
			replay.StepOptions{Retry: replay.RetryPolicy{Initial: time.Hour, Factor: 1, Max: time.Hour, Attempts: 3, Panics: 3}}, ""},
		{"a small max", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: time.Millisecond, Panics: 1}},
			replay.StepOptions{Retry: replay.RetryPolicy{Initial: time.Millisecond, Factor: 2, Max: time.Millisecond, Jitter: 0.2, Panics: 1}}, ""},
		{"a large max", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: time.Minute, Panics: -1}},
			replay.StepOptions{Retry: replay.RetryPolicy{Initial: time.Second, Factor: 2, Max: time.Minute, Jitter: 0.2}}, ""},
		{"attempt timeout", &workflow.StepOptions{AttemptTimeout: -1}, replay.StepOptions{}, "AttemptTimeout is -1ns"},
		{"timeout", &workflow.StepOptions{Timeout: -1}, replay.StepOptions{}, "Timeout is -1ns"},
		{"heartbeat", &workflow.StepOptions{HeartbeatTimeout: -1}, replay.StepOptions{}, "HeartbeatTimeout is -1ns"},
		{"initial", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: -1}}, replay.StepOptions{}, "Retry.Initial is -1ns"},
		{"factor", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Factor: math.NaN()}}, replay.StepOptions{}, "Retry.Factor is NaN"},
		{"max", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: 2, Max: 1}}, replay.StepOptions{}, "Retry.Max is 1ns"},
		{"jitter", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Jitter: 1.5}}, replay.StepOptions{}, "Retry.Jitter is 1.5"},
		{"panics", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Panics: math.MaxInt64}}, replay.StepOptions{}, "Retry.Panics is 9223372036854775807"},
		{"attempts", &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: -1}}, replay.StepOptions{}, "Retry.Attempts is -1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, failure := issued(t, func(ctx workflow.Context) error {
				_, err := workflow.Step(ctx, "work", func(context.Context) (int, error) { return 0, nil }, test.o)
				if err != nil {
					return errors.New(err.Error()) // with the error itself the run would be blocked
				}
				return nil
			})
			if test.err != "" {
				if failure == nil || !strings.Contains(failure.Message, test.err) || !strings.Contains(failure.Message, `"work"`) {
					t.Fatalf("failure %+v, want one that says %q", failure, test.err)
				}
				return
			}
			if diff := cmp.Diff(test.want, *s.Options); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestStepOutputCannotBeStored(t *testing.T) {
	huge, _ := issued(t, func(ctx workflow.Context) error {
		_, err := workflow.Step(ctx, "huge", func(context.Context) (string, error) { return strings.Repeat("x", 100), nil }, nil)
		return err
	})
	odd, _ := issued(t, func(ctx workflow.Context) error {
		_, err := workflow.Step(ctx, "odd", func(context.Context) (float64, error) { return math.Inf(1), nil }, nil)
		return err
	})
	for s, want := range map[*replay.Step]string{
		&huge: "output of step huge in bytes: 102 exceeds the limit of 100", &odd: "output of step odd: encode float64",
	} {
		_, err := s.Body(t.Context(), nil)
		f := replay.FailureOf(err)
		if f == nil || f.Type != journal.FailureEncode || !f.Permanent || !strings.Contains(f.Message, want) {
			t.Errorf("failure %+v", f)
		}
	}
}

func TestStepTx(t *testing.T) {
	s, _ := issued(t, func(ctx workflow.Context) error {
		_, err := workflow.StepTxAsync(ctx, "book", func(_ context.Context, tx fmt.Stringer) (string, error) { return tx.String(), nil }, nil).Get(ctx)
		return err
	})
	if !s.Options.Tx {
		t.Error("the step asks for no transaction")
	}
	if out, err := s.Body(t.Context(), time.Second); err != nil || string(out.Data) != `"1s"` {
		t.Errorf("body: %s, %v", out.Data, err)
	}
	for _, tx := range []any{nil, 42} {
		_, err := s.Body(t.Context(), tx)
		f := replay.FailureOf(err)
		if f == nil || !f.Permanent || !strings.Contains(f.Message, "fmt.Stringer") || !strings.Contains(f.Message, fmt.Sprintf("%T", tx)) {
			t.Errorf("failure %+v", f)
		}
	}
}

// beatList keeps heartbeats.
type beatList []string

func (l *beatList) Heartbeat(p journal.Payload) { *l = append(*l, string(p.Data)) }

func TestStepBody(t *testing.T) {
	j := journal.New(nil, nil)
	var beats beatList
	last := journal.Payload{Data: []byte("7")}
	ctx := replay.WithStepContext(t.Context(), &replay.StepContext{
		Info: &replay.Info{Key: "k", Generation: 3}, Cmd: 7, Step: "work", Attempt: 2, LastHeartbeat: &last, Encoder: j,
		Heartbeats: &beats,
	})
	const key = "00000000-0000-0000-0000-000000000000/3/7"
	a, ok := workflow.StepInfo(ctx)
	if !ok || a.Key != "k" || a.Step != "work" || a.Attempt != 2 || a.IdempotencyKey != key || workflow.IdempotencyKey(ctx) != key {
		t.Errorf("info %+v, %v", a, ok)
	}
	if err := errors.Join(workflow.Heartbeat(ctx, 8), workflow.Heartbeat(ctx, nil)); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(beatList{"8", ""}, beats); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := workflow.Heartbeat(ctx, func() {}); err == nil {
		t.Error("details that cannot be stored were taken")
	}
	if v, ok := workflow.LastHeartbeat[int](ctx); !ok || v != 7 {
		t.Errorf("last heartbeat %d, %v", v, ok)
	}
	if v, ok := workflow.LastHeartbeat[string](ctx); ok || v != "" {
		t.Errorf("last heartbeat %q, %v", v, ok)
	}
}

func TestOutsideOfStep(t *testing.T) {
	ctx := t.Context()
	if _, ok := workflow.StepInfo(ctx); ok {
		t.Error("StepInfo outside of a step")
	}
	if key := workflow.IdempotencyKey(ctx); key != "" {
		t.Errorf("key %q outside of a step", key)
	}
	if err := workflow.Heartbeat(ctx, 1); !errors.Is(err, workflow.ErrNotInStep) {
		t.Errorf("heartbeat: %v", err)
	}
	if _, ok := workflow.LastHeartbeat[int](ctx); ok {
		t.Error("LastHeartbeat outside of a step")
	}
}

func TestRetryAfter(t *testing.T) {
	boom := errors.New("boom")
	if workflow.Permanent(nil) != nil || workflow.RetryAfter(nil, time.Second) != nil {
		t.Error("nil became an error")
	}
	err := workflow.RetryAfter(boom, time.Minute)
	if f := replay.FailureOf(err); f.RetryIn != time.Minute || f.Permanent || !errors.Is(err, boom) || err.Error() != "boom" {
		t.Errorf("failure %+v", f)
	}
}

// A step without a function is refused by its name, and does not become attempts that panic.
func TestStepWithoutFunction(t *testing.T) {
	for name, verb := range map[string]func(workflow.Context) error{
		"Step": func(ctx workflow.Context) error { _, err := workflow.Step[int](ctx, "work", nil, nil); return err },
		"Do":   func(ctx workflow.Context) error { return workflow.Do(ctx, "work", nil, nil) },
		"StepAsync": func(ctx workflow.Context) error {
			_, err := workflow.StepAsync[int](ctx, "work", nil, nil).Get(ctx)
			return err
		},
		"StepTx": func(ctx workflow.Context) error {
			_, err := workflow.StepTx[any, int](ctx, "work", nil, nil)
			return err
		},
		"StepTxAsync": func(ctx workflow.Context) error {
			_, err := workflow.StepTxAsync[any, int](ctx, "work", nil, nil).Get(ctx)
			return err
		},
		"Push": func(ctx workflow.Context) error {
			return undone(ctx, func(u *workflow.Undo) { u.Push("work", nil, nil) })
		},
		"PushTx": func(ctx workflow.Context) error {
			return undone(ctx, func(u *workflow.Undo) { workflow.PushTx[any](u, "work", nil, nil) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, failure := issued(t, func(ctx workflow.Context) error {
				if err := verb(ctx); err != nil {
					return errors.New(err.Error()) // with the error itself the run would be blocked
				}
				return nil
			})
			if failure == nil || !strings.Contains(failure.Message, `step "work": its function is nil`) {
				t.Errorf("failure %+v", failure)
			}
		})
	}
}

// undone is the error of a saga that pushes something and fails.
func undone(ctx workflow.Context, push func(*workflow.Undo)) error {
	_, err := workflow.Saga(ctx, func(_ workflow.Context, u *workflow.Undo) (int, error) {
		push(u)
		return 0, errors.New("no stock")
	})
	return err
}

// TestStepInNeedsItsContext: a body of StepIn whose context is not the step's does nothing. Without
// the step's key all such steps would be one to the database.
func TestStepInNeedsItsContext(t *testing.T) {
	db := &ledgers{}
	def := workflow.Define("test", 1, func(ctx workflow.Context, _ int) (int, error) {
		return workflow.StepIn(ctx, "take", db, func(context.Context, *Ledger) (int, error) { return 1, nil }, nil)
	})
	info := replay.Info{Run: journal.RunID{1}, Workflow: "test", Version: 1, Generation: 1, Input: journal.Payload{Encoding: journal.EncodingJSON, Data: []byte("1")}}
	m := replay.New(def, info, journal.New(nil, nil))
	defer m.Close()
	if err := m.Step(&journal.Event{Seq: 1, Kind: journal.RunStarted}); err != nil {
		t.Fatal(err)
	}
	step := m.Take().Steps[0]
	_, err := step.Body(context.Background(), nil)
	if f := replay.FailureOf(err); !errors.Is(err, workflow.ErrNotInStep) || !f.Permanent || db.calls != 0 {
		t.Errorf("outside of its step: %v, after %d calls of the database", err, db.calls)
	}
	if _, err := step.Body(replay.WithStepContext(context.Background(), &replay.StepContext{Info: &info, Cmd: step.Cmd}), nil); err != nil || db.calls != 1 {
		t.Errorf("in its step: %v, after %d calls of the database", err, db.calls)
	}
}

// ledgers counts its calls.
type ledgers struct{ calls int }

func (l *ledgers) Once(ctx context.Context, _ string, fn func(context.Context, *Ledger) (journal.Payload, error)) (journal.Payload, error) {
	l.calls++
	return fn(ctx, nil)
}
