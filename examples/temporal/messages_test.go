package temporal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// answers compares the answer to an update.
func answers[T any](e *runtimetest.Env, want T) func(T, error) {
	return func(got T, err error) {
		e.Helper()
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			e.Errorf("answer %v, %v, want %v", got, err, want)
		}
	}
}

func TestAccount(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 4 // a generation is short
		runtimetest.Handle(e, Account, account, nil)
		run := runtimetest.Start(e, Account, Balance{}, &runtime.StartOptions{Key: "Ann"})
		sum := 0
		for _, cents := range []int{100, 20, 3, 400, 50, 6} {
			sum += cents
			answers(e, sum)(runtimetest.Update(e, run.ID(), Deposit, cents, nil))
		}
		answers(e, 500)(runtimetest.Update(e, run.ID(), Debit, 79, nil))
		_, err := runtimetest.Update(e, run.ID(), Debit, 501, nil)
		if failed := new(runtime.UpdateError); !errors.As(err, &failed) || !failed.Rejected || failed.Failure.Message != errFunds.Error() {
			e.Errorf("error %v", err)
		}
		once := &runtime.UpdateOptions{Key: "cheque 1"}
		answers(e, 400)(runtimetest.Update(e, run.ID(), Debit, 100, once))
		answers(e, 400)(runtimetest.Update(e, run.ID(), Debit, 100, once)) // the same call
		answers(e, Balance{400, 8})(runtimetest.Query(e, run.ID(), Look, struct{}{}), nil)
		answers(e, Balance{400, 8})(runtimetest.Update(e, run.ID(), Close, struct{}{}, nil))
		answers(e, Balance{400, 8})(run.Result())
	})
}

func TestProgress(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Copy, copier(func(context.Context, string) error { time.Sleep(time.Hour); return nil }).copy, nil)
		run := runtimetest.Start(e, Copy, []string{"a", "b", "c"}, nil)
		e.Sleep(90 * time.Minute)
		answers(e, HowFar{"b", 1, 3})(runtimetest.Query(e, run.ID(), Progress, struct{}{}), nil)
		run.Must()
		answers(e, HowFar{"", 3, 3})(runtimetest.Query(e, run.ID(), Progress, struct{}{}), nil)
	})
}

func TestPaymentAnswersEarly(t *testing.T) {
	pay := func(e *runtimetest.Env, b *bank) (*runtime.Run[string], *runtime.UpdateHandle[string]) {
		runtimetest.Handle(e, Payment, b.payment, nil)
		run, accepted, err := runtime.UpdateWithStart(e.Context(), e.Client(), Payment, 100, Accepted, struct{}{},
			&runtime.StartOptions{Key: "payment 1"}, nil)
		if err != nil {
			e.Fatal(err)
		}
		return run, accepted
	}
	t.Run("settled", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			run, accepted := pay(e, &bank{
				check: func(context.Context, int) (string, error) { time.Sleep(time.Second); return "tx-1", nil },
				settle: func(ctx context.Context, key, id string) error {
					time.Sleep(time.Hour)
					return nil
				},
			})
			answers(e, "tx-1")(accepted.Result(e.Context()))
			if at := e.Elapsed(); at != time.Second {
				e.Errorf("answered after %s", at)
			}
			answers(e, "tx-1")(run.Result(e.Context()))
			if at := e.Elapsed(); at != time.Hour+time.Second {
				e.Errorf("settled after %s", at)
			}
		})
	})
	t.Run("refused", func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			_, accepted := pay(e, &bank{check: func(context.Context, int) (string, error) {
				return "", workflow.Permanent(errors.New("unknown card"))
			}})
			_, err := accepted.Result(e.Context())
			if failed := new(runtime.UpdateError); !errors.As(err, &failed) || failed.Rejected || failed.Failure.Message != "unknown card" {
				e.Errorf("error %v", err)
			}
		})
	})
}

func TestCluster(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 3
		runtimetest.Handle(e, Cluster, operator(func(context.Context, string, string) error { return nil }).cluster, nil)
		run := runtimetest.Start(e, Cluster, Machines{"m1": "", "m2": "", "m3": ""}, nil)
		var lends []*runtime.UpdateHandle[string]
		for _, name := range []string{"red", "blue", "red", "green", "grey"} { // all at once
			h, err := runtime.SendUpdate(e.Context(), e.Client(), run.ID(), Lend, Job{name}, nil)
			if err != nil {
				e.Fatal(err)
			}
			lends = append(lends, h)
		}
		for i, want := range []string{"m1", "m2", "m1", "m3"} {
			answers(e, want)(lends[i].Result(e.Context()))
		}
		if _, err := lends[4].Result(e.Context()); err == nil {
			e.Error("a fourth machine was lent")
		}
		answers(e, struct{}{})(runtimetest.Update(e, run.ID(), Return, "m2", nil))
		if _, err := runtimetest.Update(e, run.ID(), Return, "m2", nil); !errors.Is(err, runtime.ErrRejected) {
			e.Errorf("error %v", err)
		}
		answers(e, []Machine{{"m1", "red"}, {"m3", "green"}})(runtimetest.Query(e, run.ID(), Lent, struct{}{}), nil)
		runtimetest.Signal(e, run.ID(), Shutdown, struct{}{}, nil)
		answers(e, Machines{"m1": "red", "m2": "", "m3": "green"})(run.Result())
	})
}

func TestStages(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Stages, stages, nil)
		run := runtimetest.Start(e, Stages, time.Hour, nil)
		for i, s := range []workflow.Signal[string]{Stage2, Stage1, Stage3} {
			e.After(time.Duration(25*(i+1))*time.Minute, func() { runtimetest.Signal(e, run.ID(), s, string(s[6:]), nil) })
		}
		wants(e, run, "123", 75*time.Minute)
	})
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Stages, stages, nil)
		run := runtimetest.Start(e, Stages, time.Hour, nil)
		runtimetest.Signal(e, run.ID(), Stage1, "1", nil)
		runtimetest.Signal(e, run.ID(), Stage3, "3", nil)
		var failed *runtime.FailedError
		if _, err := run.Result(); !errors.As(err, &failed) || failed.Failure.Message != `stage 2 is late, there was "1"` {
			e.Errorf("error %v", err)
		}
	})
}

func TestRequestAndAnswer(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 6
		runtimetest.Handle(e, Server, oracle(func(_ context.Context, q string) (string, error) { return q + "!", nil }).server, nil)
		runtimetest.Handle(e, Asker, asker, nil)
		server := runtimetest.Start(e, Server, 0, nil)
		for _, questions := range [][]string{{"why", "when"}, {"who", "where"}} {
			want := slices.Clone(questions)
			for i := range want {
				want[i] += "!"
			}
			answers(e, want)(runtimetest.Start(e, Asker, Errand{server.ID(), questions}, nil).Result())
		}
	})
}

func TestLock(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		inside, most := 0, 0
		v := &vault{client: e.Client, work: func(ctx context.Context, _ string) error {
			inside++
			defer func() { inside-- }()
			most = max(most, inside)
			select {
			case <-time.After(time.Minute):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}}
		runtimetest.Handle(e, Lock, lock, nil)
		runtimetest.Handle(e, Exclusive, v.exclusive, nil)
		var users []*runtimetest.Run[struct{}]
		for range 3 {
			users = append(users, runtimetest.Start(e, Exclusive, "printer", nil))
		}
		for _, u := range users {
			u.Must()
		}
		if most != 1 || e.Effects("work") < 3 {
			e.Errorf("%d at once, %d in all", most, e.Effects("work"))
		}
	})
}

func TestLockIsTakenFromWhoKeepsIt(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Lock, lock, nil)
		runtimetest.Handle(e, Exclusive, (&vault{client: e.Client, work: func(ctx context.Context, _ string) error {
			select { // it hangs for ever
			case <-ctx.Done():
			case <-time.After(10 * day):
			}
			return ctx.Err()
		}}).exclusive, nil)
		keeps := runtimetest.Start(e, Exclusive, "printer", nil)
		e.Sleep(time.Minute)
		runtimetest.Fake(e, "work", func(context.Context) (struct{}, error) { return struct{}{}, nil })
		wants(e, runtimetest.Start(e, Exclusive, "printer", nil), struct{}{}, time.Hour)
		wants(e, keeps, struct{}{}, 10*day)
	})
}
