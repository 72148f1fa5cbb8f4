package replay_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// sentinels are the errors that code branches on.
var sentinels = map[string]error{
	"cancelled": workflow.ErrCancelled, "timeout": workflow.ErrTimeout, "terminated": workflow.ErrTerminated,
	"key exists": workflow.ErrKeyExists, "not found": workflow.ErrRunNotFound, "closed": workflow.ErrRunClosed,
	"limit full": workflow.ErrLimitFull,
}

// wantIs fails the test unless err is exactly this one of them.
func wantIs(t *testing.T, who string, err error, want string) {
	t.Helper()
	for name, target := range sentinels {
		if got := errors.Is(err, target); got != (name == want) {
			t.Errorf("%s: %v: %s %v", who, err, name, got)
		}
	}
}

// outcomeOf runs code that fails on the answer to its first command, and returns how the run's
// parent is told, and the error as the code sees it.
func outcomeOf(t *testing.T, answer journal.Kind, p journal.Payload, code func(c ctx) error) (told journal.Payload, seen error) {
	t.Helper()
	r := newRig(define(func(c ctx) (string, error) {
		seen = code(c)
		return "", seen
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	name := string(kidName)
	if answer == journal.SignalRefused {
		name = string(number)
	}
	mustStep(t, r, journal.Event{Kind: answer, Cmd: 1, Name: name, Time: epoch, Payload: p})
	d := r.m.Take()
	if d.Terminal == nil {
		t.Fatal("the run goes on")
	}
	return d.Terminal.Payload, seen
}

// TestPassedOn: what is about one child or one signal is not about the run that fails for it, nor
// about that one's parent, in whatever way the error is passed on. That something was cancelled or
// ran out of time stays so.
func TestPassedOn(t *testing.T) {
	call := func(c ctx) error {
		_, err := workflow.Call(c, kidName, "", nil)
		return err
	}
	ways := map[string]func(c ctx, err error) error{
		"as it is": func(_ ctx, err error) error { return err },
		"wrapped":  func(_ ctx, err error) error { return fmt.Errorf("no luck: %w", err) },
		"joined":   func(_ ctx, err error) error { return errors.Join(errors.New("no luck"), err) },
		"saga": func(c ctx, err error) error {
			_, err = workflow.Saga(c, func(ctx, *workflow.Undo) (int, error) { return 0, err })
			return err
		},
	}
	for kind, tc := range map[string]struct{ own, passed string }{
		journal.FailureKeyExists: {"key exists", ""}, journal.FailureTerminate: {"terminated", ""},
		journal.FailureLimitFull: {"limit full", ""},
		journal.FailureCancelled: {"cancelled", "cancelled"}, journal.FailureTimeout: {"timeout", "timeout"},
		journal.FailureNotFound: {"not found", ""}, journal.FailureClosed: {"closed", ""},
	} {
		for way, pass := range ways {
			t.Run(kind+" "+way, func(t *testing.T) {
				p := journal.EncodeFailure(&journal.Failure{Type: kind, Message: "the first cause", Permanent: true})
				answer, first := journal.ChildFailed, call
				if kind == journal.FailureNotFound || kind == journal.FailureClosed {
					answer, first = journal.SignalRefused, func(c ctx) error { return number.Send(c, somebody, 1) }
				}
				told, seen := outcomeOf(t, answer, p, func(c ctx) error { return pass(c, first(c)) })
				wantIs(t, "the run itself", seen, tc.own)
				for _, who := range []string{"its parent", "the parent's parent"} {
					told, seen = outcomeOf(t, journal.ChildFailed, told, func(c ctx) error { return pass(c, call(c)) })
					wantIs(t, who, seen, tc.passed)
					if f := replay.FailureOf(seen); f.Type == kind && tc.passed == "" {
						t.Errorf("%s: the failure says of itself that it is %s", who, kind)
					}
				}
			})
		}
	}
}
