package replay_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

var errBad = errors.New("bad")

func TestPromise(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		p, q := workflow.NewPromise[int](), workflow.NewPromise[int]()
		for _, f := range []workflow.Future[int]{p.Future(), q.Future()} {
			workflow.Go(c, func(c ctx) {
				v, err := f.Get(c)
				say(c, "got %d, %v", v, err)
			})
		}
		inner, cancel := workflow.WithCancel(c)
		workflow.Go(inner, func(c ctx) {
			i, err := workflow.Select(c, workflow.OnFuture(p.Future(), nil))
			say(c, "select: %d, %v", i, err)
			_, err = p.Future().Get(c)
			say(c, "get: %v", err)
		})
		nap(c, time.Second)
		cancel()
		nap(c, time.Second)
		say(c, "ready %v, settled %v %v %v", p.Future().Ready(), p.Resolve(7), p.Resolve(8), p.Fail(errBad))
		say(c, "ready %v, settled %v %v", p.Future().Ready(), q.Fail(errBad), q.Resolve(1))
		nap(c, time.Second)
		v, err := p.Future().Get(inner) // there: it wins over the cancelled scope
		say(c, "got %d, %v", v, err)
		var early workflow.Promise[string]
		early.Resolve("before anybody waits")
		return early.Future().Get(c)
	}, fires, fires, fires)
	want(t, got, "select: -1, cancelled", "get: cancelled", "ready false, settled true false false", "ready true, settled true false",
		"got 7, <nil>", "got 0, bad", "got 7, <nil>", `RunCompleted "before anybody waits"`)
}

func TestFirst(t *testing.T) {
	fn := func(c ctx) (string, error) {
		fs := []workflow.Future[string]{async(c, "a"), async(c, "b"), async(c, "c")}
		i, v, err := workflow.First(c, fs...)
		say(c, "%d, %q, %v", i, v, err)
		i, v, err = workflow.FirstSuccess(c, fs...)
		say(c, "success: %d, %q, %v", i, v, err)
		return "", nil
	}
	want(t, play(t, fn, completed(2, "b", `"B"`)), `1, "B", <nil>`, `success: 1, "B", <nil>`, `RunCompleted ""`)
	want(t, play(t, fn, failed(2, "b", "no"), completed(3, "c", `"C"`)), `1, "", step b: no`, `success: 2, "C", <nil>`, `RunCompleted ""`)
	want(t, play(t, fn, failed(2, "b", "no"), failed(3, "c", "nor"), failed(1, "a", "not")),
		`1, "", step b: no`, `success: -1, "", step a: not`, "step b: no", "step c: nor", `RunCompleted ""`)
	want(t, play(t, fn), "waiting for step a, step b, step c")
	want(t, play(t, fn, cancels), `-1, "", cancelled`, `success: -1, "", cancelled`, `RunCompleted ""`)
}

func TestOfNothing(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		i, _, err := workflow.First[int](c)
		k, _, err2 := workflow.FirstSuccess[int](c)
		n, _, err3 := workflow.Race[int](c)
		say(c, "%d %v, %d %v, %d %v", i, err, k, err2, n, err3)
		all, err := workflow.All[int](c)
		say(c, "%v, %v", all, err)
		mapped, err := workflow.Map(c, nil, func(ctx, int) (int, error) { return 0, errBad }, nil)
		say(c, "%v, %v", mapped, err)
		_, _, err = workflow.First(c, workflow.Future[int]{})
		g, _ := workflow.NewGroup(c)
		say(c, "%v, %v", err, g.Wait())
		return "", nil
	})
	want(t, got, "-1 nothing to wait for, -1 nothing to wait for, -1 nothing to wait for", "[], <nil>", "[], <nil>",
		"future 0: a zero Future: called outside of workflow code, <nil>", `RunCompleted ""`)
}

func TestAll(t *testing.T) {
	fn := func(c ctx) (string, error) {
		a, b, d := async(c, "a"), async(workflow.Shield(c), "b"), workflow.NewPromise[string]()
		workflow.Go(c, func(c ctx) {
			v, err := number.Receive(c)
			if err == nil && v > 0 {
				d.Resolve("D")
			} else if err == nil {
				d.Fail(errBad)
			}
		})
		all, err := workflow.All(c, a, b, d.Future(), a)
		say(c, "%q, %v", all, err)
		return "", nil
	}
	want(t, play(t, fn), "waiting for step a, signal number")
	want(t, play(t, fn, completed(2, "b", `"B"`), signal("1"), completed(1, "a", `"A"`)), `["A" "B" "D" "A"], <nil>`, `RunCompleted ""`)
	want(t, play(t, fn, failed(2, "b", "no")), `[], step b: no`, `RunCompleted ""`)
	want(t, play(t, fn, completed(1, "a", `"A"`), signal("0")), `[], bad`, `RunCompleted ""`)
	// Step a is asked to stop, and waited for. Nobody will settle the promise.
	want(t, play(t, fn, cancels), "waiting for step a")
	want(t, play(t, fn, cancels, completed(1, "a", `"A"`)), `[], cancelled`, `RunCompleted ""`)
}

// TestAllOfMany: the first failure is told among many outcomes, without the square of their number.
func TestAllOfMany(t *testing.T) {
	const n = 5000
	r := newRig(define(func(c ctx) (string, error) {
		fs := make([]workflow.Future[string], n)
		for i := range fs {
			fs[i] = async(c, fmt.Sprint("s", i))
		}
		all, err := workflow.All(c, fs...)
		return fmt.Sprint(len(all)), err
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	for i := n - 1; i >= 0; i-- { // not with the rig: it looks at all that is pending
		ev := completed(journal.Cmd(i+1), fmt.Sprint("s", i), `""`)
		ev.Seq = r.m.LastSeq() + 1
		if err := r.m.Step(&ev); err != nil {
			t.Fatal(err)
		}
	}
	if d := r.m.Take(); d.Terminal == nil || string(d.Terminal.Payload.Data) != `"5000"` {
		t.Errorf("decision %+v", d)
	}
}

func TestGroup(t *testing.T) {
	fn := func(c ctx) (string, error) {
		g, inner := workflow.NewGroup(c)
		for _, name := range []string{"a", "b", "c"} {
			g.Go(func(c ctx) error {
				_, err := step(c, name)
				say(c, "%s: %v", name, err)
				return err
			})
		}
		err := g.Wait()
		say(c, "cancelled %v", inner.Cancelled())
		return "", err
	}
	want(t, play(t, fn, completed(2, "b", `""`), completed(1, "a", `""`), completed(3, "c", `""`)),
		"b: <nil>", "a: <nil>", "c: <nil>", "cancelled true", `RunCompleted ""`)
	// The others are asked to stop, and waited for; their errors are not the first.
	want(t, play(t, fn, failed(2, "b", "no"), failed(1, "a", "stopped")), "b: step b: no", "a: step a: stopped", "waiting for wait group, step c")
	want(t, play(t, fn, failed(2, "b", "no"), failed(1, "a", "stopped"), completed(3, "c", `""`)),
		"b: step b: no", "a: step a: stopped", "c: <nil>", "cancelled true", "RunFailed no")
	// Also if the scope of Wait is cancelled.
	want(t, play(t, fn, cancels), "waiting for wait group, step a, step b, step c")
}

// TestGroupLimit: so many at once, in their order, and none any more after a failure.
func TestGroupLimit(t *testing.T) {
	fn := func(c ctx) (string, error) {
		g, _ := workflow.NewGroup(c)
		g.SetLimit(2)
		running, most := 0, 0
		for i := range 5 {
			g.Go(func(c ctx) error {
				running++
				most = max(most, running)
				defer func() { running-- }()
				_, err := step(c, fmt.Sprint("s", i))
				return err
			})
		}
		err := g.Wait()
		say(c, "at most %d, now %d", most, running)
		return "", err
	}
	ok := func(n journal.Cmd) journal.Event { return completed(n, fmt.Sprint("s", n-1), `""`) }
	want(t, play(t, fn, ok(2)), "waiting for wait group, step s0, step s2")
	want(t, play(t, fn, ok(2), ok(1), ok(3), ok(4), ok(5)), "at most 2, now 0", `RunCompleted ""`)
	want(t, play(t, fn, failed(2, "s1", "no"), ok(1)), "at most 2, now 0", "RunFailed no")
}

func TestRace(t *testing.T) {
	fn := func(c ctx) (string, error) {
		racer := func(name string) func(ctx) (string, error) {
			return func(c ctx) (string, error) {
				v, err := step(c, name)
				say(c, "%s: %v", name, err)
				return v, err
			}
		}
		i, v, err := workflow.Race(c, racer("a"), racer("b"))
		say(c, "%d, %q, %v", i, v, err)
		return "", nil
	}
	want(t, play(t, fn, completed(2, "b", `"B"`)), "b: <nil>", "waiting for wait group, step a")
	want(t, play(t, fn, completed(2, "b", `"B"`), completed(1, "a", `"late"`)), "b: <nil>", "a: <nil>", `1, "B", <nil>`, `RunCompleted ""`)
	want(t, play(t, fn, failed(2, "b", "no"), failed(1, "a", "stopped")), "b: step b: no", "a: step a: stopped", `1, "", step b: no`, `RunCompleted ""`)
}

// double is a function for Map, of a step for each item.
func double(c ctx, n int) (int, error) {
	_, err := step(c, fmt.Sprint("s", n))
	return 2 * n, err
}

func TestMap(t *testing.T) {
	fn := func(o *workflow.MapOptions) func(c ctx) (string, error) {
		return func(c ctx) (string, error) {
			out, err := workflow.Map(c, []int{0, 1, 2}, double, o)
			say(c, "%v, %v", out, err)
			return "", nil
		}
	}
	ok := func(cmd journal.Cmd, n int) journal.Event { return completed(cmd, fmt.Sprint("s", n), `""`) }
	two, collect := &workflow.MapOptions{Limit: 2}, &workflow.MapOptions{Limit: 2, CollectErrors: true}
	end := `RunCompleted ""`
	want(t, play(t, fn(nil), ok(3, 2), ok(1, 0), ok(2, 1)), "[0 2 4], <nil>", end)
	want(t, play(t, fn(two), ok(2, 1)), "waiting for wait group, step s0, step s2")
	want(t, play(t, fn(two), ok(2, 1), ok(3, 2), ok(1, 0)), "[0 2 4], <nil>", end)
	want(t, play(t, fn(two), failed(2, "s1", "no")), "waiting for wait group, step s0")
	want(t, play(t, fn(two), failed(2, "s1", "no"), ok(1, 0)), "[], item 1: step s1: no", end)
	want(t, play(t, fn(collect), failed(2, "s1", "no"), failed(3, "s2", "nor"), ok(1, 0)),
		"[0 0 0], item 1: step s1: no", "item 2: step s2: nor", end)
	want(t, play(t, fn(two), cancels, ok(1, 0), ok(2, 1)), "[], cancelled", end) // the third is not begun
	want(t, play(t, fn(collect), cancels, ok(1, 0), ok(2, 1)), "[0 2 0], cancelled", end)
	want(t, play(t, fn(nil), cancels, ok(1, 0), ok(2, 1), ok(3, 2)), "[0 2 4], <nil>", end)
}

func TestMapRetries(t *testing.T) {
	fn := func(c ctx) (string, error) {
		calls := map[int]int{}
		began := c.Now()
		out, err := workflow.Map(c, []int{0, 1, 2}, func(c ctx, n int) (int, error) {
			calls[n]++
			say(c, "item %d after %s", n, c.Now().Sub(began))
			switch {
			case n == 0 && calls[n] < 3:
				return 0, errBad
			case n == 1:
				return 0, workflow.Permanent(errBad)
			case n == 2:
				return 0, errBad
			}
			return 10, nil
		}, &workflow.MapOptions{Attempts: 3, Backoff: time.Minute, CollectErrors: true})
		say(c, "%v, %v", out, err)
		return "", nil
	}
	want(t, play(t, fn, fires, fires, fires, fires), "item 0 after 0s", "item 1 after 0s", "item 2 after 0s", "item 0 after 1m0s", "item 2 after 1m0s",
		"item 0 after 2m40s", "item 2 after 2m40s", "[10 0 0], item 1: bad", "item 2: bad", `RunCompleted ""`)
	want(t, play(t, fn, fires, cancels), "item 0 after 0s", "item 1 after 0s", "item 2 after 0s", "item 0 after 1m0s",
		"[0 0 0], item 0: bad", "item 1: bad", "item 2: bad", `RunCompleted ""`) // no further attempts
}

func TestMapOptions(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		for _, o := range []workflow.MapOptions{{Limit: -1}, {Attempts: -1}, {Backoff: -1}} {
			_, err := workflow.Map(c, []int{1}, double, &o)
			say(c, "%v", err)
		}
		return "", nil
	})
	where := ", at futures_test.go, calling workflow.Map"
	want(t, got, "map: option Limit is -1: it must be positive, or 0 for the default"+where, "map: option Attempts is -1: it must be positive, or 0 for the default"+where,
		"map: option Backoff is -1ns: it must be positive, or 0 for the default"+where, `RunCompleted ""`)
}

// TestMapOfMany: ten thousand items that need no wait are one turn, with few strands.
func TestMapOfMany(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		items := make([]int, 10_000)
		for i := range items {
			items[i] = i
		}
		out, err := workflow.Map(c, items, func(_ ctx, n int) (int, error) { return n, nil }, nil)
		return fmt.Sprint(slices.Equal(items, out)), err
	})
	want(t, got, `RunCompleted "true"`)
}
