package replay_test

import (
	"context"
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

func define(fn func(ctx) (string, error)) *replay.Definition {
	return workflow.Define("test", 1, func(c ctx, _ *void) (string, error) { return fn(c) })
}

func started() journal.Event { return journal.Event{Kind: journal.RunStarted, Time: epoch} }

func completed(n journal.Cmd, name, output string) journal.Event {
	return journal.Event{Kind: journal.StepCompleted, Cmd: n, Name: name, Time: epoch.Add(time.Second), Attempt: 1,
		Payload: journal.Payload{Data: []byte(output)}}
}

func mustStep(t *testing.T, r *rig, ev journal.Event) {
	t.Helper()
	if _, err := r.step(ev); err != nil {
		t.Fatal(err)
	}
}

func TestTakeOnce(t *testing.T) {
	r := newRig(workflows["order-removed"])
	defer r.m.Close()
	mustStep(t, r, started())
	d := r.m.Take()
	if len(d.Steps) != 1 || !d.OnlySteps || d.Terminal != nil {
		t.Fatalf("first decision: %+v", d)
	}
	s := d.Steps[0]
	if s.Cmd != 1 || s.Name != "reserve" || !s.IssuedAt.Equal(epoch) || s.Options.Retry.Initial != time.Second {
		t.Errorf("step: %+v", s)
	}
	if out, err := s.Body(t.Context(), nil); err != nil || string(out.Data) != `"reserve"` {
		t.Errorf("body: %s, %v", out.Data, err)
	}
	if d := r.m.Take(); len(d.Steps) != 0 || d.OnlySteps {
		t.Errorf("second decision: %+v", d)
	}
	mustStep(t, r, completed(1, "reserve", `""`))
	mustStep(t, r, completed(2, "charge", `""`))
	if d := r.m.Take(); d.Terminal == nil || len(d.Steps) != 0 || d.OnlySteps {
		t.Errorf("last decision: %+v", d)
	}
	if d := r.m.Take(); d.Terminal != nil {
		t.Errorf("the end was decided twice")
	}
}

func TestPendingAfterReplay(t *testing.T) {
	def := define(func(c ctx) (string, error) {
		a, b, d := async(c, "a"), async(c, "b"), async(c, "c")
		_, _ = b.Get(c)
		_, _ = a.Get(c)
		return d.Get(c)
	})
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, completed(2, "b", `"B"`))
	mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Time: epoch.Add(time.Minute), Inbox: 7})
	again := newRig(def)
	defer again.m.Close()
	for i := range r.history {
		if err := again.m.Replay(&r.history[i]); err != nil {
			t.Fatal(err)
		}
	}
	pending := again.m.Pending()
	if len(pending) != 2 || pending[0].Name != "a" || pending[1].Name != "c" || !pending[0].Cancelled || !pending[1].Cancelled {
		t.Errorf("pending: %+v", pending)
	}
	if again.m.InboxSeen() != 7 || again.m.LastSeq() != 3 {
		t.Errorf("inbox %d, seq %d", again.m.InboxSeen(), again.m.LastSeq())
	}
	if d := again.m.Take(); len(d.Steps)+len(d.CancelSteps) != 0 || d.Terminal != nil || d.OnlySteps {
		t.Errorf("decision after a replay: %+v", d)
	}
}

func TestCancelledAtBirth(t *testing.T) {
	def := define(func(c ctx) (string, error) {
		child, cancel := workflow.WithCancel(c)
		f := async(child, "work")
		cancel()
		return f.Get(c)
	})
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	d := r.m.Take()
	if len(d.Steps) != 1 || !d.Steps[0].Cancelled || !cmp.Equal(d.CancelSteps, []journal.Cmd{1}) || d.OnlySteps {
		t.Errorf("decision: %+v", d)
	}
}

func TestDivergenceNamesTheLine(t *testing.T) {
	old := define(func(c ctx) (string, error) { return step(c, "old") })
	line := ""
	changed := define(func(c ctx) (string, error) {
		body := func(context.Context) (string, error) { return "", nil }
		line = here(1)
		return workflow.Step(c, "new", body, nil)
	})
	parked := define(func(c ctx) (string, error) {
		line = here(1)
		return approved.Receive(c)
	})
	for _, def := range []*replay.Definition{changed, parked} {
		r := newRig(old)
		mustStep(t, r, started())
		r.history[0].Link = 0 // of another run
		m := replay.New(def, replay.Info{}, journal.New(nil, nil))
		err := m.Replay(&r.history[0])
		d, ok := errors.AsType[*replay.DivergenceError](err)
		if !ok || d.Seq != 1 || d.Want != "step old" || !strings.HasSuffix(d.Where, line) {
			t.Errorf("error %v, want one at %s", err, line)
		}
		if !m.Closed() || m.Step(&journal.Event{}) != err || m.Pending() != nil || len(m.Waiting()) != 0 {
			t.Error("the machine is not dead")
		}
		m.Close()
		m.Close()
		r.m.Close()
	}
}

// TestHistoryThatWasChanged: a gap, and an event that is not the one that was written, stop the
// machine.
func TestHistoryThatWasChanged(t *testing.T) {
	def := workflows["wait"]
	r := newRig(def)
	mustStep(t, r, started())
	r.m.Close()
	history := []journal.Event{r.history[0]}
	history[0].Seq, history[0].Link = 2, 0
	if err := replayErr(def, history); !errors.Is(err, replay.ErrOrder) {
		t.Errorf("a gap: %v", err)
	}
	history[0] = r.history[0]
	history[0].Link++
	if link, ok := errors.AsType[*replay.LinkError](replayErr(def, history)); !ok || link.Seq != 1 || link.Want != r.history[0].Link {
		t.Errorf("another link: %+v", link)
	}
}

func TestClose(t *testing.T) {
	r := newRig(workflows["wait"])
	r.m.Close() // before anything ran
	if ev := started(); !errors.Is(r.m.Step(&ev), replay.ErrClosed) || !r.m.Closed() {
		t.Error("a closed machine takes events")
	}
	r = newRig(workflows["wait"])
	mustStep(t, r, started())
	r.m.Close()
	r.m.Close()
	if d := r.m.Take(); d.Terminal != nil {
		t.Errorf("closing decided %v", d.Terminal)
	}
}

// TestOutside: verbs that are not called by running workflow code say so.
func TestOutside(t *testing.T) {
	var leaked ctx
	var timer workflow.Timer
	r := newRig(define(func(c ctx) (string, error) {
		leaked, timer = c, workflow.NewTimer(c, time.Hour)
		return approved.Receive(c)
	}))
	mustStep(t, r, started())
	for name, c := range map[string]ctx{"zero": {}, "foreign": leaked} {
		_, err := step(c, "x")
		_, get := async(c, "x").Get(c)
		_, receive := approved.Receive(c)
		_, _, timeout := approved.ReceiveTimeout(c, time.Hour)
		_, choose := workflow.Select(c)
		for i, err := range []error{err, get, receive, timeout, choose, workflow.Sleep(c, 0), new(workflow.WaitGroup).Wait(c)} {
			if !errors.Is(err, workflow.ErrOutside) {
				t.Errorf("%s: call %d returned %v", name, i, err)
			}
		}
		for i, call := range []func(){
			func() { c.Now() }, func() { c.Info() }, func() { c.Cancelled() }, func() { workflow.Go(c, nil) },
			func() { workflow.NewTimer(c, 0) }, func() { workflow.WithCancel(c) }, func() { workflow.Shield(c) },
			func() { workflow.UUID(c) }, func() { workflow.Random(c) }, func() { approved.Pending(c) },
		} {
			if err, _ := caught(call).(error); !errors.Is(err, workflow.ErrOutside) {
				t.Errorf("%s: call %d panicked with %v", name, i, err)
			}
		}
	}
	if err, _ := caught(func() { timer.Stop() }).(error); !errors.Is(err, workflow.ErrOutside) {
		t.Errorf("Stop panicked with %v", err)
	}
	r.m.Close()
	if err := workflow.Sleep(leaked, time.Hour); !errors.Is(err, workflow.ErrOutside) {
		t.Errorf("after Close: %v", err)
	}
}

func caught(call func()) (v any) {
	defer func() { v = recover() }()
	call()
	return nil
}

// TestDueIsRoundedUp: a timer is never looked at before it is due, so its time is in whole
// microseconds.
func TestDueIsRoundedUp(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) { return "", workflow.Sleep(c, time.Nanosecond) }))
	defer r.m.Close()
	mustStep(t, r, started())
	timer, ok := r.m.NextTimer()
	if want := epoch.Add(time.Microsecond); !ok || !timer.Due.Equal(want) {
		t.Errorf("due %s, want %s", timer.Due, want)
	}
}

func TestWaitingIsBounded(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		for i := range 100 {
			workflow.Go(c, func(c ctx) { _, _ = step(c, fmt.Sprint("s", i/2)) })
		}
		return approved.Receive(c)
	}))
	defer r.m.Close()
	mustStep(t, r, started())
	lines := r.m.Waiting()
	if len(lines) != 32 || lines[0] != "signal approved" || lines[1] != "step s0" || lines[2] != "step s1" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

// TestRandomDiffers: other runs and other generations draw other numbers.
func TestRandomDiffers(t *testing.T) {
	def := workflows["random"]
	seen := map[string]bool{}
	for _, info := range []replay.Info{
		{Run: journal.RunID{1}, Generation: 1}, {Run: journal.RunID{1}, Generation: 2}, {Run: journal.RunID{2}, Generation: 1},
	} {
		info.Labels = map[string]string{}
		m := replay.New(def, info, journal.New(nil, nil))
		ev := started()
		ev.Seq = 1
		if err := m.Step(&ev); err != nil {
			t.Fatal(err)
		}
		seen[info.Labels["said"]] = true
		m.Close()
	}
	if len(seen) != 3 {
		t.Errorf("%d different draws of 3", len(seen))
	}
}
