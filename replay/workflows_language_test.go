package replay_test

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	kidName workflow.Name[string, string] = "kid"
	more    workflow.Update[int, int]     = "more"
	sumOf   workflow.Query[int, int]      = "sum"

	generations workflow.Name[*string, string] = "generations"
)

// somebody is a run that signals go to.
var somebody = journal.RunID{7}

func init() {
	register("call", func(c ctx) (string, error) {
		v, err := workflow.Call(c, kidName, "you", &workflow.ChildOptions{Key: "a key", OnParentClose: workflow.CloseTerminate})
		say(c, "kid: %q, %v, cancelled %v, key exists %v, terminated %v", v, err, errors.Is(err, workflow.ErrCancelled),
			errors.Is(err, workflow.ErrKeyExists), errors.Is(err, workflow.ErrTerminated))
		return v, err
	})
	register("modes", modes(false))
	register("modes-at-once", modes(true))
	register("leaves-child", func(c ctx) (string, error) {
		workflow.CallAsync(c, kidName, "you", nil)
		if _, err := stop.Receive(c); err != nil {
			return "", err
		}
		number.SendAsync(c, somebody, 7)
		workflow.CallAsync(c, kidName, "late", nil)
		return "left", nil
	})
	register("send", func(c ctx) (string, error) {
		f := number.SendAsync(c, somebody, 1)
		err := number.Send(c, somebody, 2)
		say(c, "second: %v, not found %v, closed %v; first ready: %v", err, errors.Is(err, workflow.ErrRunNotFound),
			errors.Is(err, workflow.ErrRunClosed), f.Ready())
		err = workflow.CancelRun(c, somebody, "enough")
		say(c, "cancel: %v, closed %v", err, errors.Is(err, workflow.ErrRunClosed))
		_, err = f.Get(c)
		return "", err
	})
	register("generations", func(c ctx) (string, error) {
		more.Handle(c, func(c ctx, n int) (int, error) { return n, workflow.Sleep(c, time.Hour) }, nil)
		async(c, "lost")
		workflow.CallAsync(c, kidName, "you", nil)
		v, err := approved.Receive(c)
		say(c, "received %q, %v", v, err)
		return "", workflow.ContinueAsNew(c, generations, new("again"), &workflow.ContinueOptions{Version: 2})
	})
	register("generations-of-another", func(c ctx) (string, error) {
		return "", workflow.ContinueAsNew(c, generations, nil, nil)
	})
	register("long", untilLong)
	register("short", untilLong)
	long := workflows["long"].Run
	workflows["long"].Run = func(sc *replay.Scope, in journal.Payload) (journal.Payload, error) {
		sc.Env().SetThresholds(replay.Thresholds{Events: 3})
		return long(sc, in)
	}
	register("sums", sums(true))
	register("sums-without-handler", sums(false))
	register("records", records(1))
	register("records-another", records(100))
	register("records-removed", func(c ctx) (string, error) { return step(c, "work") })
}

// untilLong adds signals until its history is long.
func untilLong(c ctx) (int, error) {
	n := 0
	for !c.ShouldContinue() {
		v, err := number.Receive(c)
		if err != nil {
			return 0, err
		}
		n += v
	}
	return n, nil
}

// modes cancels steps and children of all modes together, at once or later, and waits for them.
func modes(atOnce bool) func(ctx) (string, error) {
	return func(c ctx) (string, error) {
		child, cancel := workflow.WithCancel(c)
		var futures []workflow.Future[string]
		for i, mode := range langModes {
			futures = append(futures, asyncMode(child, "step "+langWords[i], mode),
				workflow.CallAsync(child, kidName, langWords[i], &workflow.ChildOptions{OnCancel: mode}).Future)
		}
		if !atOnce {
			_, _ = stop.Receive(c)
		}
		cancel()
		for i, f := range futures {
			v, err := f.Get(c)
			say(c, "%d: %q, %v, cancelled %v", i, v, err, errors.Is(err, workflow.ErrCancelled))
		}
		_, err := stop.Receive(c)
		return "", err
	}
}

// sums adds what updates and signals bring, and ends at a stop when no update is without an answer.
func sums(handles bool) func(ctx) (int, error) {
	return func(c ctx) (int, error) {
		sum := 0
		sumOf.Handle(c, func(factor int) (int, error) {
			switch factor {
			case 0:
				return 0, errors.New("a factor of 0 makes no sense")
			case 1:
				_, err := number.Receive(c)
				return 0, err
			case 2:
				panic("a bug")
			}
			return sum * factor, nil
		})
		add := func(c ctx, n int) (int, error) {
			if n > 10 {
				if err := workflow.Sleep(c, time.Minute); err != nil {
					return 0, err
				}
			}
			if n == 13 {
				return 0, errors.New("bad luck")
			}
			sum += n
			return sum, nil
		}
		if handles {
			more.Handle(c, add, &workflow.UpdateOptions[int]{Validate: func(n int) error {
				switch {
				case n < 0:
					return errors.New("only more")
				case n == 0:
					return workflow.Sleep(c, time.Second)
				case n == 1000:
					panic("a bug")
				}
				return nil
			}})
		}
		_, _ = stop.Receive(c)
		err := workflow.HandlersFinished(c)
		say(c, "handlers finished: %v", err)
		return sum, err
	}
}

// records keeps values from outside; base stands for what is outside now.
func records(base int) func(ctx) (string, error) {
	return func(c ctx) (string, error) {
		n := 0
		poll := func() int {
			return workflow.SideEffectIfChanged(c, "config", func() int { return base + n/2 }, func(a, b int) bool { return a == b })
		}
		say(c, "secret %d", workflow.SideEffect(c, "secret", func() int { return base * 10 }))
		for n = range 4 {
			say(c, "config %d", poll())
			if n%2 == 1 {
				if _, err := stop.Receive(c); err != nil {
					return "", err
				}
			}
		}
		return step(c, "work")
	}
}

func init() {
	register("changes", changes(true))
	register("changes-removed", changes(false))
	register("coordination", func(c ctx) (string, error) {
		jobs := workflow.NewChannel[string](1, "jobs")
		var desk workflow.Mutex
		first := workflow.NewPromise[string]()
		group, c2 := workflow.NewGroup(c)
		done := 0
		for i := range 2 {
			group.Go(func(c ctx) error {
				for {
					job, ok, err := jobs.Receive(c)
					if err != nil || !ok {
						return err
					}
					if err := desk.Lock(c); err != nil {
						return err
					}
					v, err := step(c, job)
					desk.Unlock()
					done++
					say(c, "worker %d: %q, %v; first %v", i, v, err, first.Resolve(v))
				}
			})
		}
		for i := range 3 {
			if err := jobs.Send(c2, string(rune('a'+i))); err != nil {
				return "", err
			}
		}
		jobs.Close()
		v, err := first.Future().Get(c)
		say(c, "the first is %q, %v", v, err)
		all, err := workflow.AwaitTimeout(c, time.Minute, func() bool { return done == 3 })
		say(c, "all: %v, %v", all, err)
		return v, group.Wait()
	})
}

// changes asks about two changes, one of them in each turn of a loop.
func changes(asks bool) func(ctx) (string, error) {
	return func(c ctx) (string, error) {
		if asks {
			say(c, "once: %v %v", workflow.Changed(c, "once"), workflow.Changed(c, "once"))
		}
		for range 2 {
			turn := workflow.ChangeScope(c)
			if asks {
				say(c, "turn: %v %v", workflow.Changed(turn, "turn"), workflow.Changed(turn, "turn"))
			}
			if _, err := step(turn, "work"); err != nil {
				return "", err
			}
		}
		return "", nil
	}
}
