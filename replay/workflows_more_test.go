package replay_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

func init() {
	register("saga", func(c ctx) (string, error) {
		v, err := workflow.Saga(c, trip)
		say(c, "saga: %v, cancelled %v", err, c.Cancelled())
		return v, err
	})
	register("cleanup", func(c ctx) (_ string, err error) {
		defer func() {
			if errors.Is(err, workflow.ErrCancelled) {
				_, cleaned := step(workflow.Shield(c), "clean")
				say(c, "cleaned: %v", cleaned)
			}
		}()
		return "slept", workflow.Sleep(c, time.Minute)
	})
	register("race", func(c ctx) (string, error) {
		f := async(c, "fetch")
		i, err := workflow.Select(c,
			workflow.OnFuture(f, func(v string, err error) { say(c, "fetched %q, %v", v, err) }),
			workflow.OnSignal(approved, func(v string) { say(c, "approved %q", v) }),
			workflow.OnTimer(workflow.NewTimer(c, time.Minute), func() { say(c, "late") }))
		say(c, "case %d, %v", i, err)
		return "", err
	})
	register("poll", func(c ctx) (string, error) {
		for {
			i, err := workflow.Select(c,
				workflow.OnSignal(approved, func(v string) { say(c, "approved %q", v) }),
				workflow.Default(func() { say(c, "nothing: %v", workflow.Sleep(c, time.Minute)) }))
			if err != nil || i == 0 || c.Cancelled() {
				return "", err
			}
		}
	})
	register("workers", func(c ctx) (int, error) {
		var wg workflow.WaitGroup
		sum := 0
		for i := range 3 {
			wg.Go(c, func(c ctx) {
				v, err := number.Receive(c)
				say(c, "worker %d: %d, %v", i, v, err)
				sum += v
			})
		}
		return sum, wg.Wait(c)
	})
	register("fan-out", func(c ctx) (string, error) {
		var wg workflow.WaitGroup
		names := []string{"a", "b", "c"}
		got := make([]string, len(names))
		for i, name := range names {
			wg.Go(c, func(c ctx) { got[i], _ = step(c, name) })
		}
		err := wg.Wait(c)
		return strings.Join(got, " "), err
	})
	register("abandon", func(c ctx) (string, error) {
		async(c, "slow")
		workflow.NewTimer(c, time.Hour)
		workflow.Go(c, func(c ctx) { _, _ = approved.Receive(c) })
		_, err := stop.Receive(c)
		async(c, "never")
		return "left", err
	})
	register("contest", contest)
	register("scopes", scopes)
	register("deadline", func(c ctx) (string, error) {
		c2, cancel := workflow.WithTimeout(c, time.Minute)
		_, err := step(c2, "slow")
		say(c, "slow: %v, timeout %v, scope: %v", err, errors.Is(err, workflow.ErrTimeout), c2.Err())
		cancel()
		_, err = approved.Receive(c2)
		say(c, "receive: %v", err)
		return "", nil
	})
	register("random", func(c ctx) (string, error) {
		say(c, "%d %d %s %s", workflow.Random(c).IntN(1000), workflow.Random(c).IntN(1000), workflow.UUID(c), workflow.UUID(c))
		_, err := step(c, "work")
		say(c, "%d %s", workflow.Random(c).IntN(1000), workflow.UUID(c))
		return "", err
	})
	register("counts", func(c ctx) (int, error) {
		n, err := workflow.Step(c, "count", func(context.Context) (int, error) { return 1, nil }, nil)
		say(c, "never if the payload is no number")
		return n, err
	})
	register("huge", func(ctx) (string, error) { return strings.Repeat("x", 2<<10), nil })
	register("unencodable", func(ctx) (chan int, error) { return make(chan int), nil })
	register("refused", func(c ctx) (string, error) {
		none := func(context.Context) (void, error) { return void{}, nil }
		_, err := workflow.Step(c, "", none, nil)
		say(c, "%v", err)
		_, err = workflow.Step(c, "new\nline", none, nil)
		say(c, "%v", err)
		_, err = workflow.Step(c, "x", none, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Factor: 0.5}})
		say(c, "%v", err)
		_, _, err = workflow.Signal[int]("").ReceiveTimeout(c, 0)
		say(c, "%v", err)
		say(c, "%v", workflow.NewNamedTimer(c, "\xff", time.Hour).Get(c))
		_, err = workflow.Select(c, workflow.OnFuture(workflow.Future[int]{}, nil))
		say(c, "%v", err)
		say(c, "%v %v", workflow.Sleep(c, 0), workflow.Sleep(c, -time.Hour))
		return "", nil
	})
}

// trip books a hotel and a flight, waits, and undoes both if it must.
func trip(c ctx, undo *workflow.Undo) (string, error) {
	nothing := func(context.Context) error { return nil }
	if _, err := step(c, "hotel"); err != nil {
		return "", err
	}
	undo.Push("cancel hotel", nothing, nil)
	if _, err := step(c, "flight"); err != nil {
		return "", err
	}
	workflow.PushTx(undo, "cancel flight", func(context.Context, int) error { return nil }, nil)
	if _, ok, err := approved.ReceiveTimeout(c, time.Hour); err != nil || !ok {
		return "", errors.Join(errors.New("not approved"), err)
	}
	return "booked", nil
}

// contest: the first strand is woken for a signal but may take its step instead; the second must
// get the signal then.
func contest(c ctx) (string, error) {
	child, cancel := workflow.WithCancel(c)
	f := async(child, "work")
	workflow.Go(c, func(c ctx) {
		_, _ = workflow.Select(c,
			workflow.OnFuture(f, func(v string, err error) { say(c, "first: %q, %v", v, err) }),
			workflow.OnSignal(approved, func(v string) { say(c, "first: signal %q", v) }))
	})
	workflow.Go(c, func(c ctx) {
		v, err := approved.Receive(c)
		say(c, "second: signal %q, %v", v, err)
	})
	_, _ = stop.Receive(c)
	cancel()
	cancel()
	say(c, "child: %v", child.Err())
	_, err := stop.Receive(c)
	return "", err
}

// scopes builds parent > child > grandchild with a shield between, and cancels the child.
func scopes(c ctx) (string, error) {
	child, cancel := workflow.WithCancel(c)
	grandchild, _ := workflow.WithCancel(child)
	shield := workflow.Shield(child)
	for _, s := range []struct {
		name string
		ctx  ctx
	}{{"parent", c}, {"child", child}, {"grandchild", grandchild}, {"shield", shield}} {
		workflow.Go(s.ctx, func(c ctx) {
			err := workflow.NewNamedTimer(c, s.name, time.Hour).Get(c)
			say(c, "%s: %v", s.name, err)
		})
	}
	_, _ = stop.Receive(c)
	cancel()
	say(c, "late child: %v", workflow.Sleep(child, time.Second))
	late, _ := workflow.WithCancel(grandchild)
	say(c, "late scope: %v", late.Err())
	_, err := approved.Receive(c)
	return "", err
}
