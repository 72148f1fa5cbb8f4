package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

type refusal struct{ after time.Duration }

func (refusal) Error() string               { return "come back" }
func (r refusal) RetryAfter() time.Duration { return r.after }
func (refusal) Permanent() bool             { return true }

func TestFailureOf(t *testing.T) {
	plain := errors.New("boom")
	plainFailure := &journal.Failure{Type: "*errors.errorString", Message: "boom"}
	step := &StepError{Step: "charge", Attempts: 2, Failure: &journal.Failure{Type: "*card.Error", Message: "declined", Permanent: true}}
	passedOn := &journal.Failure{Type: "*card.Error", Message: "declined", Permanent: true, Step: "charge"}
	tests := []struct {
		name string
		err  error
		want *journal.Failure
	}{
		{"nil", nil, nil},
		{"plain", plain, plainFailure},
		{"wrapped", fmt.Errorf("open: %w", plain),
			&journal.Failure{Type: "*fmt.wrapError", Message: "open: boom", Cause: plainFailure}},
		{"typed", &fs.PathError{Op: "open", Path: "x", Err: plain},
			&journal.Failure{Type: "*fs.PathError", Message: "open x: boom", Cause: plainFailure}},
		{"joined", errors.Join(plain, ErrTimeout), &journal.Failure{Type: "*errors.joinError", Message: "boom\ntimed out",
			Details: []*journal.Failure{plainFailure, {Type: journal.FailureTimeout, Message: "timed out"}}}},
		{"permanent", Permanent(plain), &journal.Failure{Type: "*errors.errorString", Message: "boom", Permanent: true}},
		{"permanent within", fmt.Errorf("x: %w", Permanent(plain)),
			&journal.Failure{Type: "*fmt.wrapError", Message: "x: boom", Permanent: true, Cause: plainFailure}},
		{"retry after", RetryAfter(plain, time.Minute),
			&journal.Failure{Type: "*errors.errorString", Message: "boom", RetryIn: time.Minute}},
		{"both", RetryAfter(Permanent(plain), time.Minute),
			&journal.Failure{Type: "*errors.errorString", Message: "boom", RetryIn: time.Minute, Permanent: true}},
		{"user's own", refusal{time.Second},
			&journal.Failure{Type: "replay.refusal", Message: "come back", RetryIn: time.Second, Permanent: true}},
		{"negative delay", refusal{-time.Second},
			&journal.Failure{Type: "replay.refusal", Message: "come back", Permanent: true}},
		{"step", step, passedOn},
		{"step of a child", &ChildError{Workflow: "bill", Failure: passedOn}, passedOn},
		{"step that runs a run", &StepError{Step: "run", Failure: passedOn}, passedOn},
		{"step within", fmt.Errorf("pay: %w", step), &journal.Failure{Type: "*card.Error", Message: "pay: step charge: declined",
			Permanent: true, Cause: passedOn}},
		{"cancelled", ErrCancelled, &journal.Failure{Type: journal.FailureCancelled, Message: "cancelled"}},
		{"encode", &EncodeError{plain}, &journal.Failure{Type: journal.FailureEncode, Message: "boom", Permanent: true}},
		{"panic", &PanicError{Value: plain, Stack: "main.go:1"},
			&journal.Failure{Type: journal.FailurePanic, Message: "workflow code panicked: boom", Stack: "main.go:1"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, FailureOf(test.err)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestFailureOfIsNotShared(t *testing.T) {
	step := &StepError{Step: "x", Failure: &journal.Failure{Message: "boom"}}
	FailureOf(Permanent(step))
	if step.Failure.Permanent {
		t.Error("FailureOf changed the step's own failure")
	}
}

func TestFailureOfDeepChain(t *testing.T) {
	err := errors.New("bottom")
	for range 1000 {
		err = fmt.Errorf("%w", err)
	}
	depth := 0
	for f := FailureOf(err); f != nil; f = f.Cause {
		depth++
	}
	if depth != causesMax {
		t.Errorf("%d causes", depth)
	}
}

// TestFailureOfIsBounded: however much fails at once, the run can be closed with it.
func TestFailureOfIsBounded(t *testing.T) {
	var all []error
	for range 1000 {
		all = append(all, errors.New(strings.Repeat("\x01", 10_000)))
	}
	p := journal.EncodeFailure(FailureOf(errors.Join(all...)))
	if len(p.Data) > journal.PayloadBytesMax {
		t.Errorf("%d bytes", len(p.Data))
	}
	if f, err := journal.DecodeFailure(p); err != nil || len(f.Details) != failuresMax-1 {
		t.Errorf("%v, %v", f, err)
	}
}

func TestStepErrorIs(t *testing.T) {
	inner := &StepError{Failure: &journal.Failure{Type: "*fmt.wrapError", Cause: &journal.Failure{Type: journal.FailureCancelled}}}
	beat := &StepError{Failure: &journal.Failure{Type: journal.FailureHeartbeat}}
	joined := &StepError{Failure: FailureOf(fmt.Errorf("end: %w", errors.Join(errors.New("tidy up"), inner)))}
	undo := &StepError{Failure: &journal.Failure{Type: journal.FailureUndo, Details: []*journal.Failure{beat.Failure}, Cause: inner.Failure}}
	late := &StepError{Failure: joined.Failure, scope: &scopeError{kind: ErrTimeout, reason: "time is up"}}
	for _, test := range []struct {
		err                *StepError
		cancelled, timeout bool
	}{
		{inner, true, false}, {beat, false, true}, {&StepError{Failure: &journal.Failure{}}, false, false},
		{joined, true, false}, {undo, true, false}, {late, true, true},
	} {
		if errors.Is(test.err, ErrCancelled) != test.cancelled || errors.Is(test.err, ErrTimeout) != test.timeout {
			t.Errorf("%+v: cancelled %v, timeout %v", test.err.Failure, errors.Is(test.err, ErrCancelled), errors.Is(test.err, ErrTimeout))
		}
	}
}
