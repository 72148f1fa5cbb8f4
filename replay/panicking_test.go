package replay_test

import (
	"errors"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// waits are all kinds of verbs that wait.
var waits = map[string]func(c ctx) error{
	"Sleep":   func(c ctx) error { return workflow.Sleep(c, time.Hour) },
	"Step":    func(c ctx) error { _, err := step(c, "clean"); return err },
	"Call":    func(c ctx) error { _, err := workflow.Call(c, kidName, "", nil); return err },
	"Send":    func(c ctx) error { return number.Send(c, somebody, 1) },
	"Receive": func(c ctx) error { _, err := approved.Receive(c); return err },
	"ReceiveTimeout": func(c ctx) error {
		_, _, err := approved.ReceiveTimeout(c, time.Hour)
		return err
	},
	"Await": func(c ctx) error { return workflow.Await(c, func() bool { return false }) },
	"AwaitTimeout": func(c ctx) error {
		_, err := workflow.AwaitTimeout(c, time.Hour, func() bool { return false })
		return err
	},
	"Select": func(c ctx) error {
		_, err := workflow.Select(c, workflow.OnSignal(approved, nil))
		return err
	},
	"Channel": func(c ctx) error { _, _, err := workflow.NewChannel[int](0, "").Receive(c); return err },
	"Promise": func(c ctx) error { _, err := workflow.NewPromise[int]().Future().Get(c); return err },
	"Mutex":   func(c ctx) error { var mu workflow.Mutex; return errors.Join(mu.Lock(c), mu.Lock(c)) },
	"Map": func(c ctx) error {
		_, err := workflow.Map(c, []int{1}, func(c ctx, n int) (int, error) { return n, workflow.Sleep(c, time.Hour) }, nil)
		return err
	},
	"Saga": func(c ctx) error {
		_, err := workflow.Saga(workflow.Shield(c), func(c ctx, _ *workflow.Undo) (int, error) { return 0, workflow.Sleep(c, time.Hour) })
		return err
	},
	"a wait in a loop": func(c ctx) error {
		for workflow.Sleep(c, time.Hour) != nil { // not for ever
		}
		return nil
	},
	"a wait far below": func(c ctx) error {
		var dig func(n int) error
		dig = func(n int) error {
			if n == 0 {
				return workflow.Sleep(c, time.Hour)
			}
			return dig(n - 1)
		}
		return dig(1000)
	},
}

// ends are the ways of code that does not return.
var ends = map[string]func(){
	"panic":  func() { panic("boom") },
	"Goexit": goruntime.Goexit,
}

// TestDeferredWaitWhilePanicking: a deferred call of code that panics does not wait: what it asks
// for would be committed, and stay in the way of code that does not panic. The turn leaves nothing,
// and the error is the panic's.
func TestDeferredWaitWhilePanicking(t *testing.T) {
	for name, wait := range waits {
		for how, end := range ends {
			t.Run(name+" in "+how, func(t *testing.T) {
				broken := true
				def := define(func(c ctx) (string, error) {
					defer func() {
						_, _ = async(c, "also asked for"), wait(c)
						_ = wait(c) // a second one
					}()
					got, err := approved.Receive(c)
					if broken {
						end()
					}
					return got, err
				})
				r := newRig(def)
				defer r.m.Close()
				mustStep(t, r, started())
				r.m.Take()
				ev := signalOf(1, "approved", `"go"`)
				ev.Seq = 2
				err := r.m.Step(&ev)
				p, ok := errors.AsType[*replay.PanicError](err)
				if name == "a wait in a loop" {
					if !errors.Is(err, workflow.ErrPanicking) {
						t.Errorf("error %v", err)
					}
				} else if !ok || how == "panic" && p.Value != "boom" || !strings.Contains(p.Where, "replay_test.") {
					t.Errorf("error %v", err)
				}
				if d := r.m.Take(); ev.Issued != nil || len(d.Steps) > 0 || len(d.Starts) > 0 || len(d.Messages) > 0 || !r.m.Closed() {
					t.Errorf("issued %v, decision %+v", ev.Issued, d)
				}
				if strings.Contains(name, "loop") {
					return
				}
				broken = false
				again := newRig(def)
				defer again.m.Close()
				mustStep(t, again, started())
				mustStep(t, again, signalOf(1, "approved", `"go"`)) // the code was mended
				if again.m.Finished() {
					t.Error("without a panic the deferred call does not wait")
				}
				checkPrefixes(t, def, again.history)
			})
		}
	}
}

// TestDeferredWaitOfRecovered: nobody can tell whether a deferred call has recovered, so it cannot
// wait either, and the error says so. Once it has returned, all is as ever; what does not wait is
// always possible.
func TestDeferredWaitOfRecovered(t *testing.T) {
	for name, wait := range waits {
		if name == "a wait in a loop" {
			continue
		}
		for _, late := range []bool{false, true} {
			r := newRig(define(func(c ctx) (string, error) {
				func() {
					defer func() {
						_ = recover()
						async(c, "tell")
						if !late {
							_ = wait(c)
						}
					}()
					panic("boom")
				}()
				return "", wait(c)
			}))
			_, err := r.step(started())
			if late && err != nil || !late && (!errors.Is(err, workflow.ErrPanicking) || !strings.Contains(err.Error(), "at replay_test.")) {
				t.Errorf("%s, late %v: %v", name, late, err)
			}
			r.m.Close()
		}
	}
}

// TestDeferredWaitInOldHistories: a history in which a panic's deferred call waited is replayed;
// then the panic is seen.
func TestDeferredWaitInOldHistories(t *testing.T) {
	broken := false
	def := define(func(c ctx) (string, error) {
		defer func() { _ = workflow.Sleep(c, time.Hour) }()
		if broken {
			panic("boom")
		}
		return "", nil
	})
	r := newRig(def)
	mustStep(t, r, started())
	r.m.Close()
	broken = true
	again := newRig(def)
	defer again.m.Close()
	if err := again.m.Replay(&r.history[0]); err != nil {
		t.Fatal(err)
	}
	_, err := again.step(journal.Event{Kind: journal.TimerFired, Cmd: 1, Time: epoch.Add(time.Hour)})
	if p, ok := errors.AsType[*replay.PanicError](err); !ok || p.Value != "boom" {
		t.Errorf("error %v", err)
	}
}

// TestHandlersFinishedInHandler: a handler that waits for all handlers is told so at once, alone or
// with others, and the workflow's own wait ends when they have. A strand that a handler leaves
// behind may wait.
func TestHandlersFinishedInHandler(t *testing.T) {
	def := define(func(c ctx) (string, error) {
		var left workflow.WaitGroup
		more.Handle(c, func(c ctx, n int) (int, error) {
			left.Go(c, func(c ctx) { say(c, "%d is left behind: %v", n, workflow.HandlersFinished(c)) })
			if err := workflow.Sleep(c, time.Hour); err != nil {
				return 0, err
			}
			return n, workflow.HandlersFinished(c)
		}, nil)
		if _, err := stop.Receive(c); err != nil {
			return "", err
		}
		return "finished", errors.Join(workflow.HandlersFinished(c), left.Wait(c))
	})
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, updateOf(1, "1"))
	mustStep(t, r, updateOf(2, "2"))
	mustStep(t, r, signalOf(3, "stop", `{}`))
	if r.m.Finished() {
		t.Fatal("nobody waits for the handlers")
	}
	for cmd := journal.Cmd(1); cmd <= 2; cmd++ {
		mustStep(t, r, journal.Event{Kind: journal.TimerFired, Cmd: cmd, Time: epoch.Add(time.Hour)})
	}
	d := r.m.Take()
	if len(d.Replies) != 2 || d.Terminal == nil || d.Terminal.Kind != journal.RunCompleted {
		t.Fatalf("decision %+v", d)
	}
	for _, reply := range d.Replies {
		if f, err := journal.DecodeFailure(reply.Payload); err != nil || f.Message != workflow.ErrInHandler.Error() {
			t.Errorf("reply %v, %v", f, err)
		}
	}
	if want := "1 is left behind: <nil>\n2 is left behind: <nil>\n"; r.said["said"] != want {
		t.Errorf("said %q", r.said["said"])
	}
	checkPrefixes(t, def, r.history)
}

// TestDeferredWaitBehindWaits: a wait in a panic is seen behind waits that were as they should,
// also in deferred calls of the same function.
func TestDeferredWaitBehindWaits(t *testing.T) {
	turn := func(c ctx, bad bool) (err error) {
		defer func() { _, err = step(c, "clean") }()
		for range 3 {
			if _, err := step(c, "work"); err != nil {
				return err
			}
		}
		if bad {
			panic("boom")
		}
		return nil
	}
	r := newRig(define(func(c ctx) (string, error) { return "", errors.Join(turn(c, false), turn(c, false), turn(c, true)) }))
	defer r.m.Close()
	mustStep(t, r, started())
	for cmd := journal.Cmd(1); ; cmd++ {
		s := r.m.Take().Steps
		if len(s) != 1 || s[0].Cmd != cmd {
			t.Fatalf("steps %v", s)
		}
		if _, err := r.step(completed(cmd, s[0].Name, `""`)); err != nil {
			if p, ok := errors.AsType[*replay.PanicError](err); !ok || p.Value != "boom" || cmd != 11 {
				t.Errorf("command %d: %v", cmd, err)
			}
			return
		}
	}
}
