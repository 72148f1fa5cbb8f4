package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

func TestMutexIsFair(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		var mu workflow.Mutex
		var wg workflow.WaitGroup
		for _, name := range []string{"a", "b", "c"} {
			wg.Go(c, func(c ctx) {
				for range 2 {
					if err := mu.Lock(c); err != nil {
						say(c, "%s: %v", name, err)
					}
					say(c, "%s has it, another could take it: %v", name, mu.TryLock(c))
					nap(c, time.Second)
					mu.Unlock()
				}
			})
		}
		return "", wg.Wait(c)
	}, fires, fires, fires, fires, fires, fires)
	want(t, got, "a has it, another could take it: false", "b has it, another could take it: false", "c has it, another could take it: false",
		"a has it, another could take it: false", "b has it, another could take it: false", "c has it, another could take it: false", `RunCompleted ""`)
}

// TestMutexCancelled: a strand that is cancelled while it waits does not get the mutex, nor does it
// keep others from it; one that gets it at the same moment has it.
func TestMutexCancelled(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		mu := workflow.Mutex{Name: "m"}
		inner, cancel := workflow.WithCancel(c)
		lock := func(c ctx, name string) {
			workflow.Go(c, func(c ctx) {
				err := mu.Lock(c)
				if say(c, "%s: %v", name, err); err == nil {
					mu.Unlock()
				}
			})
		}
		say(c, "free: %v", mu.TryLock(c))
		lock(inner, "cancelled")
		lock(c, "patient")
		nap(c, time.Second)
		cancel()
		nap(c, time.Second)
		mu.Unlock()
		nap(c, time.Second)
		_ = mu.Lock(c)
		both, cancel := workflow.WithCancel(c)
		lock(both, "both at once")
		nap(c, time.Second)
		mu.Unlock()
		cancel()
		nap(c, time.Second)
		say(c, "free: %v", mu.TryLock(c))
		say(c, "in a cancelled scope: %v", mu.Lock(both))
		return "", nil
	}, fires, fires, fires, fires, fires)
	want(t, got, "free: true", "cancelled: cancelled", "patient: <nil>", "both at once: <nil>", "free: true", "in a cancelled scope: cancelled", `RunCompleted ""`)
}

func TestSemaphore(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		s := workflow.NewSemaphore(3, "s")
		say(c, "too much: %v, %v; negative: %v; nothing: %v", s.Acquire(c, 4), s.TryAcquire(c, 4), s.Acquire(c, -1), s.Acquire(c, 0))
		say(c, "two: %v", s.Acquire(c, 2))
		for i, n := range []int{2, 1, 3} { // the second would fit, but it is not its turn
			workflow.Go(c, func(c ctx) {
				err := s.Acquire(c, n)
				say(c, "%d has %d: %v", i, n, err)
				nap(c, time.Second)
				s.Release(n)
			})
		}
		nap(c, time.Second)
		say(c, "one is free, but others wait: %v", s.TryAcquire(c, 1))
		s.Release(2)
		nap(c, time.Hour)
		say(c, "all: %v", s.TryAcquire(c, 3))
		return "", nil
	}, fires, fires, fires, fires, fires)
	want(t, got, `too much: semaphore "s": cannot acquire 4 of 3, at locks_test.go, calling workflow.Semaphore.Acquire, false; `+
		`negative: semaphore "s": cannot acquire -1 of 3, at locks_test.go, calling workflow.Semaphore.Acquire; nothing: <nil>`,
		"two: <nil>", "one is free, but others wait: false", "0 has 2: <nil>", "1 has 1: <nil>", "2 has 3: <nil>", "all: true", `RunCompleted ""`)
}

// TestSemaphoreCancelled: when one that wants much gives up, those behind that want little go on.
func TestSemaphoreCancelled(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		s := workflow.NewSemaphore(2, "")
		_ = s.Acquire(c, 1)
		inner, cancel := workflow.WithCancel(c)
		workflow.Go(inner, func(c ctx) { say(c, "much: %v", s.Acquire(c, 2)) })
		workflow.Go(c, func(c ctx) { say(c, "little: %v", s.Acquire(c, 1)) })
		nap(c, time.Second)
		cancel()
		nap(c, time.Second)
		return "", nil
	}, fires, fires)
	want(t, got, "much: cancelled", "little: <nil>", `RunCompleted ""`)
}

// TestMisuse panics, which blocks the run.
func TestMisuse(t *testing.T) {
	tests := map[string]func(c ctx){
		"unlock of a mutex that is not locked":             func(c ctx) { new(workflow.Mutex).Unlock() },
		"release of 1 of a semaphore of which 0 are taken": func(c ctx) { workflow.NewSemaphore(1, "").Release(1) },
		"negative size of a semaphore":                     func(c ctx) { workflow.NewSemaphore(-1, "") },
		"negative size of a channel":                       func(c ctx) { workflow.NewChannel[int](-1, "") },
		"a promise fails with a nil error":                 func(c ctx) { workflow.NewPromise[int]().Fail(nil) },
		"negative WaitGroup counter":                       func(c ctx) { new(workflow.WaitGroup).Done() },
	}
	for text, fn := range tests {
		t.Run(text, func(t *testing.T) {
			r := newRig(define(func(c ctx) (string, error) { fn(c); return "", nil }))
			defer r.m.Close()
			_, err := r.step(started())
			if p, ok := errors.AsType[*replay.PanicError](err); !ok || p.Value != "workflow: "+text {
				t.Errorf("error %v", err)
			}
		})
	}
}

// shared is one of each kind of thing that strands share.
type shared struct {
	ch *workflow.Channel[int]
	mu workflow.Mutex
	s  *workflow.Semaphore
	p  *workflow.Promise[int]
	g  *workflow.Group
}

func (s *shared) verbs(c ctx) map[string]func() error {
	return map[string]func() error{
		"Send":         func() error { return s.ch.Send(c, 1) },
		"TrySend":      func() error { _, err := s.ch.TrySend(c, 1); return err },
		"Receive":      func() error { _, _, err := s.ch.Receive(c); return err },
		"TryReceive":   func() error { _, _, err := s.ch.TryReceive(c); return err },
		"nil Send":     func() error { return (*workflow.Channel[int])(nil).Send(c, 1) },
		"OnReceive":    func() error { _, err := workflow.Select(c, workflow.OnReceive(s.ch, nil)); return err },
		"OnSend":       func() error { _, err := workflow.Select(c, workflow.OnSend(s.ch, 1, nil)); return err },
		"Close":        func() error { s.ch.Close(); return nil },
		"Lock":         func() error { return s.mu.Lock(c) },
		"TryLock":      func() error { s.mu.TryLock(c); return nil },
		"Unlock":       func() error { s.mu.Unlock(); return nil },
		"Acquire":      func() error { return s.s.Acquire(c, 1) },
		"TryAcquire":   func() error { s.s.TryAcquire(c, 1); return nil },
		"Release":      func() error { s.s.Release(1); return nil },
		"Resolve":      func() error { s.p.Resolve(1); return nil },
		"Fail":         func() error { s.p.Fail(errors.New("no")); return nil },
		"Future":       func() error { _, err := s.p.Future().Get(c); return err },
		"First":        func() error { _, _, err := workflow.First(c, s.p.Future()); return err },
		"FirstSuccess": func() error { _, _, err := workflow.FirstSuccess(c, s.p.Future()); return err },
		"All":          func() error { _, err := workflow.All(c, s.p.Future()); return err },
		"Await":        func() error { return workflow.Await(c, func() bool { return true }) },
		"AwaitTimeout": func() error { _, err := workflow.AwaitTimeout(c, 0, func() bool { return true }); return err },
		"Group.Go":     func() error { s.g.Go(func(ctx) error { return nil }); return nil },
		"Group.Wait":   func() error { return s.g.Wait() },
		"NewGroup":     func() error { workflow.NewGroup(c); return nil },
		"Race":         func() error { _, _, err := workflow.Race(c, func(ctx) (int, error) { return 0, nil }); return err },
		"Map": func() error {
			_, err := workflow.Map(c, []int{1}, func(ctx, int) (int, error) { return 0, nil }, nil)
			return err
		},
	}
}

func refusal(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err, _ = v.(error)
		}
	}()
	return fn()
}

// sharing is a run at rest that shares one of each kind.
func sharing(t *testing.T) (r *rig, s *shared, kept *ctx) {
	s, kept = new(shared), new(ctx)
	r = newRig(define(func(c ctx) (string, error) {
		*kept = c
		*s = shared{ch: workflow.NewChannel[int](2, ""), s: workflow.NewSemaphore(2, ""), p: workflow.NewPromise[int]()}
		s.g, _ = workflow.NewGroup(c)
		_, _ = workflow.Select(c, workflow.OnFuture(s.p.Future(), nil), workflow.Default(nil)) // it knows its run now
		_ = errors.Join(s.ch.Send(c, 1), s.mu.Lock(c), s.s.Acquire(c, 1))
		_, _ = number.Receive(c)
		v, ok, err := s.ch.TryReceive(c)
		say(c, "%d, %v, %v; len %d; %v, %v", v, ok, err, s.ch.Len(), s.mu.TryLock(c), s.s.TryAcquire(c, 2))
		say(c, "%v", s.p.Future().Ready())
		return "", nil
	}))
	t.Cleanup(r.m.Close)
	mustStep(t, r, started())
	return r, s, kept
}

// TestCoordinationReading is refused in code that may only read, and changes nothing; a zero
// Context is no run's.
func TestCoordinationReading(t *testing.T) {
	r, s, kept := sharing(t)
	for name, fn := range s.verbs(*kept) {
		r.m.Env().ReadOnly(func() {
			if err := refusal(fn); !errors.Is(err, workflow.ErrReadOnly) {
				t.Errorf("%s reading: %v", name, err)
			}
		})
	}
	for name, fn := range s.verbs(ctx{}) {
		if name != "Close" && name != "Unlock" && name != "Release" && name != "Resolve" && name != "Fail" && name[:2] != "Gr" {
			if err := refusal(fn); !errors.Is(err, workflow.ErrOutside) {
				t.Errorf("%s with a zero Context: %v", name, err)
			}
		}
	}
	ev := signal("1")
	ev.Time = epoch
	mustStep(t, r, ev)
	want(t, r.said["said"], "1, true, <nil>; len 0; false, false", "false", "")
}

// TestCoordinationOutside of workflow code is refused, and stops the machine at its next event.
func TestCoordinationOutside(t *testing.T) {
	r, s, kept := sharing(t)
	for name, fn := range s.verbs(*kept) {
		if err := refusal(fn); !errors.Is(err, workflow.ErrOutside) {
			t.Errorf("%s outside: %v", name, err)
		}
	}
	ev := signal("1")
	ev.Time = epoch
	if _, err := r.step(ev); !errors.Is(err, workflow.ErrOutside) {
		t.Errorf("the next event: %v", err)
	}
	want(t, r.said["said"])
}

// TestSharedByTwoRuns: what a run made is refused to another one.
func TestSharedByTwoRuns(t *testing.T) {
	ch, p, mu := workflow.NewChannel[int](2, ""), workflow.NewPromise[int](), new(workflow.Mutex)
	def := define(func(c ctx) (string, error) {
		_, err := workflow.Select(c, workflow.OnFuture(p.Future(), nil), workflow.Default(nil))
		_, err2 := workflow.Select(c, workflow.OnSend(ch, 1, nil), workflow.Default(nil))
		return "", errors.Join(ch.Send(c, 1), mu.Lock(c), err, err2)
	})
	for i, want := range []journal.Kind{journal.RunCompleted, journal.RunFailed} {
		r := newRig(def)
		defer r.m.Close()
		mustStep(t, r, started())
		d := r.m.Take()
		if d.Terminal == nil || d.Terminal.Kind != want {
			t.Fatalf("decision %+v", d)
		}
		if f, err := journal.DecodeFailure(d.Terminal.Payload); i == 1 && (err != nil || strings.Count(f.Message, "belongs to another run") != 4) {
			t.Errorf("failure %+v, %v", f, err)
		}
	}
}

// TestStuck: strands that wait for nothing but each other are told, with their lines; nothing else
// is.
func TestStuck(t *testing.T) {
	never := func() bool { return false }
	block := func(c ctx) { _, _, _ = workflow.NewChannel[int](0, "").Receive(c) }
	tests := []struct {
		name string
		fn   func(c ctx)
		want []string
	}{
		{"channel", func(c ctx) { _ = workflow.NewChannel[int](0, "c").Send(c, 1) }, []string{`channel "c" (send)`}},
		{"nameless", block, []string{`channel (receive)`}},
		{"mutex", func(c ctx) { mu := workflow.Mutex{Name: "m"}; _ = mu.Lock(c); _ = mu.Lock(c) }, []string{`mutex "m"`}},
		{"semaphore", func(c ctx) { s := workflow.NewSemaphore(1, "s"); _ = s.Acquire(c, 1); _ = s.Acquire(c, 1) }, []string{`semaphore "s"`}},
		{"condition", func(c ctx) { _ = workflow.Await(c, never) }, []string{"condition"}},
		{"promise", func(c ctx) { _, _ = workflow.NewPromise[int]().Future().Get(c) }, []string{"promise"}},
		{"all", func(c ctx) { _, _ = workflow.All(c, workflow.NewPromise[int]().Future()) }, []string{"promise"}},
		{"select", func(c ctx) {
			_, _ = workflow.Select(c, workflow.OnReceive(workflow.NewChannel[int](0, "a"), nil), workflow.OnFuture(workflow.NewPromise[int]().Future(), nil))
		}, []string{`channel "a" (receive), promise`}},
		{"group", func(c ctx) {
			g, _ := workflow.NewGroup(c)
			g.Go(func(c ctx) error { block(c); return nil })
			_ = g.Wait()
		},
			[]string{"wait group", "channel (receive)"}},
		{"in a scope", func(c ctx) { c, _ = workflow.WithCancel(c); block(c) }, []string{"channel (receive)"}},
		{"step", func(c ctx) { async(c, "s"); block(c) }, nil},
		{"timer", func(c ctx) { workflow.NewTimer(c, time.Hour); block(c) }, nil},
		{"time limit", func(c ctx) { c, _ = workflow.WithTimeout(c, time.Hour); block(c) }, nil},
		{"signal", func(c ctx) { _, _ = number.Receive(c) }, nil},
		{"signal elsewhere", func(c ctx) { workflow.Go(c, func(c ctx) { _, _ = number.Receive(c) }); block(c) }, nil},
		{"signal in a condition", func(c ctx) { _ = workflow.Await(c, func() bool { return number.Pending(c) > 0 }) }, nil},
		{"cancellation in a condition", func(c ctx) { _ = workflow.Await(c, c.Cancelled) }, nil},
		{"cancellation", func(c ctx) { workflow.Go(c, func(c ctx) { _, _ = workflow.Select(c) }); block(c) }, nil},
		{"update handler", func(c ctx) {
			workflow.Update[int, int]("u").Handle(c, func(ctx, int) (int, error) { return 0, nil }, nil)
			block(c)
		}, nil},
		{"end", func(ctx) {}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			def := define(func(c ctx) (string, error) { test.fn(c); return "", nil })
			r := newRig(def)
			defer r.m.Close()
			mustStep(t, r, started())
			again := newRig(def)
			defer again.m.Close()
			if err := again.m.Replay(&r.history[0]); err != nil {
				t.Fatal(err)
			}
			lines := r.m.Stuck()
			if diff := cmp.Diff(lines, again.m.Stuck()); diff != "" {
				t.Errorf("(-live +replayed)\n%s", diff)
			}
			for i, line := range lines {
				what, where, _ := strings.Cut(line, " at ")
				if !strings.Contains(where, "locks_test.go:") {
					t.Errorf("line %q", line)
				}
				lines[i] = what
			}
			if diff := cmp.Diff(test.want, lines); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if w := fmt.Sprint(r.m.Waiting()); len(lines) == 1 && !strings.Contains(lines[0], ",") && w != "["+lines[0]+"]" {
				t.Errorf("waiting for %s", w)
			}
		})
	}
}
