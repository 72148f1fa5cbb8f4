package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	account  workflow.Name[int, int]      = "account"
	deposit  workflow.Update[int, int]    = "deposit"
	balance  workflow.Query[string, int]  = "balance"
	closeIt  workflow.Signal[bool]        = "close"
	renew    workflow.Update[int, int]    = "renew"
	wrong    workflow.Query[int, int]     = "wrong"
	explode  workflow.Query[int, int]     = "explode"
	stuckInQ workflow.Query[int, int]     = "stuck"
	nothing  workflow.Update[int, string] = "nothing"
)

// accounts take deposits, each checked by a step, until they are closed. After three deposits they
// go on as a new generation.
func accounts(ctx workflow.Context, sum int) (int, error) {
	n := 0
	balance.Handle(ctx, func(string) (int, error) { return sum, nil })
	wrong.Handle(ctx, func(int) (int, error) { return 0, workflow.Sleep(ctx, time.Second) })
	explode.Handle(ctx, func(int) (int, error) { panic("oops") })
	deposit.Handle(ctx, func(ctx workflow.Context, v int) (int, error) {
		v, err := workflow.Step(ctx, "check", func(context.Context) (int, error) {
			if v == 13 {
				return 0, workflow.Permanent(errors.New("unlucky"))
			}
			return v, nil
		}, nil)
		if err != nil {
			return 0, err
		}
		sum += v
		n++
		return sum, nil
	}, &workflow.UpdateOptions[int]{Validate: func(v int) error {
		if v <= 0 {
			return fmt.Errorf("%d is not positive", v)
		}
		return nil
	}})
	if err := workflow.Await(ctx, func() bool { return n >= 3 || closeIt.Pending(ctx) > 0 }); err != nil {
		return sum, err
	}
	if err := workflow.HandlersFinished(ctx); err != nil {
		return sum, err
	}
	if closeIt.Pending(ctx) > 0 {
		return sum, nil
	}
	return 0, workflow.ContinueAsNew(ctx, account, sum, nil)
}

func TestUpdatesAreAnsweredOnceWhateverCrashes(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, account, accounts, nil)
		run := runtimetest.Start(e, account, 100, nil)
		want := 100
		for i := range 4 { // the fourth comes to the second generation
			want += i + 1
			for range 2 { // the second call is the first one
				got, err := runtimetest.Update(e, run.ID(), deposit, i+1, &runtime.UpdateOptions{Key: fmt.Sprint("d", i)})
				if err != nil || got != want {
					e.Errorf("deposit %d: got %d, %v, want %d", i, got, err, want)
				}
			}
		}
		if got := runtimetest.Query(e, run.ID(), balance, ""); got != want {
			e.Errorf("the balance is %d, want %d", got, want)
		}
		runtimetest.Signal(e, run.ID(), closeIt, true, nil)
		if got := run.Must(); got != want {
			e.Errorf("got %d, want %d", got, want)
		}
		if got := runtimetest.Query(e, run.ID(), balance, ""); got != want {
			e.Errorf("the balance at the end is %d, want %d", got, want)
		}
		list := e.Generations(run.ID())
		if len(list) != 2 || !strings.HasSuffix(list[0].String(), "RunContinued\n") || list[1].Run.InboxSeen == 0 {
			e.Errorf("generations: %v", list)
		}
		// After the end, an answer that was given is still there, and a new update gets a definite
		// error.
		if got, err := runtimetest.Update(e, run.ID(), deposit, 1, &runtime.UpdateOptions{Key: "d0"}); err != nil || got != 101 {
			e.Errorf("attached again: %d, %v", got, err)
		}
		if _, err := runtimetest.Update(e, run.ID(), deposit, 1, nil); !errors.Is(err, journal.ErrClosed) {
			e.Errorf("got %v", err)
		}
	})
}

func TestUpdatesThatFail(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, account, accounts, nil)
		run := runtimetest.Start(e, account, 0, nil)
		key := &runtime.UpdateOptions{Key: "k"}
		_, err := runtimetest.Update(e, run.ID(), deposit, -1, key)
		failed, ok := errors.AsType[*runtime.UpdateError](err)
		if !ok || !errors.Is(err, runtime.ErrRejected) || !strings.Contains(err.Error(), "-1 is not positive") || !failed.Rejected {
			e.Errorf("rejected: %v", err)
		}
		if got, err := runtimetest.Update(e, run.ID(), deposit, 5, key); err != nil || got != 5 {
			e.Errorf("the key of a rejected update is free: %d, %v", got, err)
		}
		_, err = runtimetest.Update(e, run.ID(), deposit, 13, nil)
		failed, ok = errors.AsType[*runtime.UpdateError](err)
		if !ok || errors.Is(err, runtime.ErrRejected) || !strings.Contains(failed.Failure.Message, "unlucky") {
			e.Errorf("failed: %v", err)
		}
		_, err = runtimetest.Update(e, run.ID(), nothing, 1, nil)
		if !errors.Is(err, runtime.ErrRejected) || !strings.Contains(err.Error(), "deposit") {
			e.Errorf("no handler: %v", err)
		}
		_, err = runtimetest.Update(e, journal.NewRunID(), deposit, 1, nil)
		if !errors.Is(err, journal.ErrNotFound) {
			e.Errorf("no run: %v", err)
		}
		if h := e.History(run.ID()).String(); strings.Contains(h, "nothing") || strings.Count(h, "UpdateReceived") != 2 {
			e.Errorf("rejected updates left a trace:\n%s", h)
		}
	})
}

// An update is in the inbox when the run ends, in each way that a run can end.
func TestUpdatesOfRunsThatEnd(t *testing.T) {
	const slow workflow.Name[string, string] = "slow"
	const hold workflow.Update[int, int] = "hold"
	code := func(ctx workflow.Context, how string) (string, error) {
		hold.Handle(ctx, func(ctx workflow.Context, _ int) (int, error) {
			return 1, workflow.Sleep(ctx, 24*time.Hour)
		}, nil)
		err := workflow.Sleep(ctx, time.Hour)
		if how == "fail" {
			err = errors.New("failed on purpose")
		}
		return how, err
	}
	for how, want := range map[string]string{
		"complete": "has completed", "fail": "failed on purpose", "cancel": "cancelled", "terminate": "was terminated: enough",
	} {
		t.Run(how, func(t *testing.T) {
			runtimetest.Test(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, slow, code, nil)
				run := runtimetest.Start(e, slow, how, nil)
				h := runtimetest.SendUpdate(e, run.ID(), hold, 1, nil)
				e.After(time.Minute, func() {
					if how == "cancel" {
						e.Cancel(run.ID(), "enough")
					}
					if how == "terminate" {
						if err := e.Client().Terminate(e.Context(), run.ID(), "enough"); err != nil {
							e.Error(err)
						}
					}
				})
				for range 2 {
					_, err := h.Result()
					definite := errors.Is(err, journal.ErrClosed) || errors.Is(err, workflow.ErrCancelled)
					if !definite || !strings.Contains(err.Error(), want) {
						e.Errorf("got %v, want it to say %q", err, want)
					}
				}
				e.Sleep(time.Second)
				if err := e.Client().Delete(e.Context(), run.ID()); err != nil {
					e.Fatal(err)
				}
				if _, err := h.Result(); !errors.Is(err, journal.ErrNotFound) {
					e.Errorf("of a deleted run: %v", err)
				}
			})
		})
	}
}

func TestQueriesThatFail(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, account, accounts, nil)
		run := runtimetest.Start(e, account, 7, nil)
		ask := func(q workflow.Query[int, int], run journal.RunID) error {
			_, err := runtime.Query(e.Context(), e.CurrentNode(), run, q, 1)
			return err
		}
		// A handler that panics.
		if err := ask(explode, run.ID()); err == nil || !strings.Contains(err.Error(), "panicked: oops") {
			e.Errorf("got %v", err)
		}
		if err := ask(wrong, run.ID()); !errors.Is(err, workflow.ErrReadOnly) {
			e.Errorf("got %v", err)
		}
		if err := ask(stuckInQ, run.ID()); !errors.Is(err, replay.ErrNoHandler) || !strings.Contains(err.Error(), "balance, explode, wrong") {
			e.Errorf("got %v", err)
		}
		if err := ask(wrong, journal.NewRunID()); !errors.Is(err, journal.ErrNotFound) {
			e.Errorf("got %v", err)
		}
		if got := runtimetest.Query(e, run.ID(), balance, ""); got != 7 {
			e.Errorf("the balance is %d", got)
		}
	})
}
