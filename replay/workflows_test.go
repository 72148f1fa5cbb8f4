package replay_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

type (
	ctx  = workflow.Context
	void = struct{}
)

const (
	stop     workflow.Signal[void]   = "stop"
	approved workflow.Signal[string] = "approved"
	number   workflow.Signal[int]    = "number"
)

// workflows is the code that scripts run.
var workflows = map[string]*replay.Definition{}

func register[Out any](name string, fn func(ctx) (Out, error)) {
	workflows[name] = workflow.Define(workflow.Name[*string, Out](name), 1,
		func(c ctx, _ *string) (Out, error) { return fn(c) })
}

func step(c ctx, name string) (string, error) {
	return workflow.Step(c, name, func(context.Context) (string, error) { return name, nil }, nil)
}

func async(c ctx, name string) workflow.Future[string] {
	return workflow.StepAsync(c, name, func(context.Context) (string, error) { return name, nil }, nil)
}

func asyncMode(c ctx, name string, mode workflow.CancelMode) workflow.Future[string] {
	body := func(context.Context) (string, error) { return name, nil }
	return workflow.StepAsync(c, name, body, &workflow.StepOptions{OnCancel: mode})
}

// sequence registers a workflow of steps, each waited for.
func sequence(name string, steps ...string) {
	register(name, func(c ctx) (string, error) {
		for _, s := range steps {
			if _, err := step(c, s); err != nil {
				return "", err
			}
		}
		return strings.Join(steps, " "), nil
	})
}

func init() {
	sequence("order", "reserve", "charge", "ship")
	sequence("order-swapped", "reserve", "ship", "charge")
	sequence("order-renamed", "reserve", "bill", "ship")
	sequence("order-removed", "reserve", "charge")
	sequence("order-first-removed", "charge", "ship")
	sequence("order-added", "reserve", "charge", "ship", "thank")
	sequence("order-all-removed")

	register("order-timer", func(c ctx) (string, error) {
		if _, err := step(c, "reserve"); err != nil {
			return "", err
		}
		return "", workflow.Sleep(c, time.Minute)
	})
	register("order-signal", func(c ctx) (string, error) {
		if _, err := step(c, "reserve"); err != nil {
			return "", err
		}
		return approved.Receive(c)
	})
	register("order-fails", func(c ctx) (string, error) {
		if _, err := step(c, "reserve"); err != nil {
			return "", err
		}
		return "", errors.New("out of stock")
	})
	register("nap", func(c ctx) (string, error) {
		err := workflow.Sleep(c, time.Minute)
		say(c, "sleep: %v", err)
		return "rested", err
	})
	register("alarm", alarm(true))
	register("alarm-kept", alarm(false))
	register("twins", func(c ctx) (string, error) {
		a, b := workflow.NewNamedTimer(c, "a", time.Minute), workflow.NewNamedTimer(c, "b", time.Minute)
		for _, w := range []string{"first", "second"} {
			i, err := workflow.Select(c, workflow.OnTimer(a, nil), workflow.OnTimer(b, nil))
			if err != nil {
				return "", err
			}
			say(c, "%s: %d at %s", w, i, c.Now().Format(time.TimeOnly))
			if i == 0 {
				a = workflow.NewTimer(c, time.Hour)
			} else {
				b = workflow.NewTimer(c, time.Hour)
			}
		}
		return "rung", nil
	})
	register("charge", func(c ctx) (string, error) {
		v, err := step(c, "charge")
		var s *workflow.StepError
		if errors.As(err, &s) {
			say(c, "charge failed: %s, %s, permanent %v, %d attempts, cancelled %v, timeout %v", s.Type(), s.Message(),
				s.Permanent(), s.Attempts, errors.Is(err, workflow.ErrCancelled), errors.Is(err, workflow.ErrTimeout))
		} else {
			say(c, "charge: %q, %v", v, err)
		}
		return v, err
	})
	register("charge-ignores", func(c ctx) (string, error) {
		f := async(workflow.Shield(c), "charge")
		_, err := f.Get(c)
		say(c, "get: %v, ready %v", err, f.Ready())
		v, err := f.Get(workflow.Shield(c))
		say(c, "get shielded: %q, %v", v, err)
		_, err = step(c, "ship")
		say(c, "ship: %v", err)
		return v, err
	})
	register("wait", func(c ctx) (string, error) {
		v, err := approved.Receive(c)
		say(c, "receive: %q, %v, %d pending", v, err, approved.Pending(c))
		if err != nil {
			v, again := approved.Receive(c)
			say(c, "again: %q, %v", v, again)
		}
		return v, err
	})
	register("wait-briefly", func(c ctx) (string, error) {
		v, ok, err := approved.ReceiveTimeout(c, time.Minute)
		say(c, "receive: %q, %v, %v", v, ok, err)
		w, more, err := approved.ReceiveTimeout(c, 0)
		say(c, "look: %q, %v, %v", w, more, err)
		_, end := stop.Receive(c)
		return v, end
	})
	register("ignores-signals", func(c ctx) (string, error) { return step(c, "work") })
	register("sum", func(c ctx) (int, error) {
		sum := 0
		for number.Pending(c) < 3 {
			if err := workflow.Sleep(c, time.Minute); err != nil {
				return 0, err
			}
		}
		for sum < 6 {
			v, err := number.Receive(c)
			if err != nil {
				return 0, err
			}
			say(c, "got %d", v)
			sum += v
		}
		return sum, nil
	})
	register("panics", func(c ctx) (string, error) {
		_, _ = step(c, "work")
		panic("no way on")
	})
	register("exits", func(c ctx) (string, error) {
		_, _ = step(c, "work")
		runtime.Goexit()
		return "", nil
	})
	register("panics-in-strand", func(c ctx) (string, error) {
		workflow.Go(c, func(c ctx) {
			_ = workflow.Sleep(c, time.Minute)
			panic(errors.New("strand is lost"))
		})
		return approved.Receive(c)
	})
	register("spins", func(c ctx) (string, error) {
		for !c.Cancelled() {
			if _, err := workflow.Select(c, workflow.OnSignal(stop, nil), workflow.Default(nil)); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	register("defers", func(c ctx) (string, error) {
		workflow.Go(c, func(c ctx) {
			defer say(c, "strand ends")
			_ = workflow.Sleep(c, time.Hour)
			say(c, "never")
		})
		defer say(c, "root ends")
		defer func() {
			say(c, "cleaning up")
			workflow.Go(c, func(c ctx) { say(c, "never") })
			_, err := step(c, "clean")
			say(c, "cleaned: %v", err)
		}()
		return approved.Receive(c)
	})
	register("recovers", func(c ctx) (string, error) {
		for {
			func() {
				defer func() { _ = recover() }()
				_, _ = approved.Receive(c)
			}()
		}
	})
}

// alarm arms a timer that a signal stops, and looks at it in the end.
func alarm(stops bool) func(ctx) (string, error) {
	return func(c ctx) (string, error) {
		t := workflow.NewNamedTimer(c, "alarm", time.Hour)
		if _, err := stop.Receive(c); err != nil {
			return "", err
		}
		if stops {
			say(c, "stop: %v, again: %v", t.Stop(), t.Stop())
		}
		err := t.Get(c)
		say(c, "alarm: %v, fired %v", err, t.Fired())
		_, err = stop.Receive(c)
		return "done", err
	}
}
