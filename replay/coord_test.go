package replay_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// play runs fn with the events, checks replays from every prefix, and returns what fn said, one
// line each, and how it ended.
func play(t *testing.T, fn func(ctx) (string, error), events ...journal.Event) string {
	t.Helper()
	def := define(fn)
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	now, inbox := epoch, journal.InboxSeq(0)
	for _, ev := range events {
		switch ev.Kind {
		case journal.TimerFired:
			timer, ok := r.m.NextTimer()
			if !ok {
				t.Fatal("no timer is armed")
			}
			ev.Cmd, ev.Name, ev.Time = timer.Cmd, timer.Name, timer.Due
		case journal.SignalReceived, journal.CancelRequested:
			inbox++
			ev.Inbox = inbox
		}
		if ev.Time.Before(now) {
			ev.Time = now
		}
		now = ev.Time
		mustStep(t, r, ev)
	}
	end := "waiting for " + strings.Join(r.m.Waiting(), ", ")
	if d := r.m.Take(); d.Terminal != nil {
		end = describe(d.Terminal)
		if f, err := journal.DecodeFailure(d.Terminal.Payload); err == nil {
			end = d.Terminal.Kind.String() + " " + f.Message
		}
		ev := *d.Terminal
		ev.Time = now
		mustStep(t, r, ev)
	}
	checkPrefixes(t, def, r.history)
	return r.said["said"] + end
}

func want(t *testing.T, got string, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(lines, "\n"), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

var (
	fires   = journal.Event{Kind: journal.TimerFired}
	cancels = journal.Event{Kind: journal.CancelRequested}
)

func signal(v string) journal.Event {
	return journal.Event{Kind: journal.SignalReceived, Name: "number", Payload: journal.Payload{Data: []byte(v)}}
}

func failed(n journal.Cmd, name, text string) journal.Event {
	ev := completed(n, name, "")
	ev.Kind, ev.Payload = journal.StepFailed, failure("*errors.errorString", text)
	return ev
}

// nap is a strand that tells when it wakes.
func nap(c ctx, d time.Duration) {
	if err := workflow.Sleep(c, d); err != nil {
		say(c, "nap: %v", err)
	}
}

func TestConditions(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		free, n := false, 0
		for _, name := range []string{"a", "b", "c"} {
			workflow.Go(c, func(c ctx) {
				err := workflow.Await(c, func() bool { return free })
				say(c, "%s has it: %v", name, err)
				free = false
				nap(c, time.Second)
				free = true
				n++
			})
		}
		nap(c, time.Second)
		free = true
		err := workflow.Await(c, func() bool { return n == 3 })
		return "done", err
	}, fires, fires, fires, fires)
	want(t, got, "a has it: <nil>", "b has it: <nil>", "c has it: <nil>", `RunCompleted "done"`)
}

func TestConditionOfWorkflowTime(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		late := c.Now().Add(time.Hour)
		workflow.Go(c, func(c ctx) { nap(c, time.Hour) })
		return "late", workflow.Await(c, func() bool { return !c.Now().Before(late) })
	}, signal("1"), fires)
	want(t, got, `RunCompleted "late"`)
}

func TestConditionCancelled(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		say(c, "true at once: %v", workflow.Await(c, func() bool { return true }))
		err := workflow.Await(c, func() bool { return false })
		say(c, "%v", err)
		say(c, "true in a cancelled scope: %v", workflow.Await(c, func() bool { return true }))
		met, err2 := workflow.AwaitTimeout(c, time.Second, func() bool { return false })
		say(c, "%v, %v", met, err2)
		met, err2 = workflow.AwaitTimeout(c, time.Second, func() bool { return true })
		say(c, "%v, %v", met, err2)
		return "", err
	}, cancels)
	want(t, got, "true at once: <nil>", "cancelled", "true in a cancelled scope: <nil>", "false, cancelled", "true, <nil>", "RunCancelled cancelled")
}

// TestConditionTrueWhenCancelled: the event that cancels makes the condition true as well.
func TestConditionTrueWhenCancelled(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		met, err := workflow.AwaitTimeout(c, time.Hour, c.Cancelled)
		say(c, "%v, %v", met, err)
		return "", nil
	}, cancels)
	want(t, got, "true, <nil>", `RunCompleted ""`)
}

func TestAwaitTimeout(t *testing.T) {
	fn := func(c ctx) (string, error) {
		n := 0
		workflow.Go(c, func(c ctx) { n, _ = number.Receive(c) })
		met, err := workflow.AwaitTimeout(c, time.Minute, func() bool { return n > 0 })
		say(c, "%v, %v", met, err)
		met, err = workflow.AwaitTimeout(c, 0, func() bool { return n > 1 })
		say(c, "%v, %v", met, err)
		return "", workflow.Sleep(c, time.Second)
	}
	want(t, play(t, fn, signal("1"), fires), "true, <nil>", "false, <nil>", `RunCompleted ""`) // the first timer was stopped
	want(t, play(t, fn, fires, signal("1"), fires), "false, <nil>", "false, <nil>", `RunCompleted ""`)
}

// TestConditionComesTrueAsTimeIsUp: one event makes both happen; the condition counts.
func TestConditionComesTrueAsTimeIsUp(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		due := c.Now().Add(time.Minute)
		met, err := workflow.AwaitTimeout(c, time.Minute, func() bool { return !c.Now().Before(due) })
		say(c, "%v, %v", met, err)
		return "", nil
	}, fires)
	want(t, got, "true, <nil>", `RunCompleted ""`)
}

// TestConditionPanics: a condition that panics blocks the run, also if another strand tests it, and
// that strand's deferred calls do not get the panic.
func TestConditionPanics(t *testing.T) {
	recovered := false
	def := define(func(c ctx) (string, error) {
		boom := false
		workflow.Go(c, func(c ctx) {
			defer func() {
				if v := recover(); v == "boom" {
					recovered = true
				}
			}()
			_ = workflow.Await(c, func() bool { return false })
		})
		workflow.Go(c, func(c ctx) {
			_ = workflow.Await(c, func() bool {
				if boom {
					panic("boom")
				}
				return false
			})
		})
		_, _ = number.Receive(c)
		boom = true
		return "", workflow.Sleep(c, time.Second)
	})
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	_, err := r.step(journal.Event{Kind: journal.SignalReceived, Name: "number", Payload: journal.Payload{Data: []byte("1")}, Time: epoch, Inbox: 1})
	p, ok := errors.AsType[*replay.PanicError](err)
	if !ok || p.Value != "boom" || !strings.Contains(p.Stack, "coord_test.go") || recovered {
		t.Errorf("error %v, recovered %v", err, recovered)
	}
}

// TestConditionReadOnly: a verb in a condition is refused.
func TestConditionReadOnly(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		var refused error
		err := workflow.Await(c, func() bool {
			refused = workflow.Sleep(c, time.Second)
			return true
		})
		say(c, "%v, %v", err, refused)
		return "", nil
	})
	want(t, got, "<nil>, workflow.Sleep called by code that may only read at coord_test.go", `RunCompleted ""`)
}

// TestConditionsDoNotSpin: a loop over conditions that hold is stopped.
func TestConditionsDoNotSpin(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		for {
			_ = workflow.Await(c, func() bool { return true })
		}
	}))
	defer r.m.Close()
	if _, err := r.step(started()); !errors.Is(err, replay.ErrRunaway) || !strings.Contains(err.Error(), "after 1000000 actions") {
		t.Errorf("error %v", err)
	}
}
