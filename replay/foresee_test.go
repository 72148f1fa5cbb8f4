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

// foreseen is a machine that runs ahead of an empty history, through the first turn.
func foreseen(t *testing.T, fn func(ctx) (string, error)) (*replay.Machine, *journal.Run, error) {
	t.Helper()
	def := define(fn)
	run := &journal.Run{ID: journal.RunID{1, 2, 3}, Workflow: def.Name, Version: 1, Generation: 1, StartAt: epoch}
	m := replay.New(def, replay.InfoOf(run), journal.New(nil, nil))
	t.Cleanup(m.Close)
	return m, run, replay.ForeseeFirst(m, run, epoch.Add(time.Hour))
}

func signalMessage(n journal.InboxSeq, name, payload string, after time.Duration) *journal.Message {
	return &journal.Message{Number: n, Kind: journal.MessageSignal, Name: name, Payload: journal.Payload{Data: []byte(payload)}, Time: epoch.Add(after)}
}

// TestForeseenCodeIsNotDecided: a machine that runs ahead stops at what only the run's owner
// decides, in the first turn and after a message, executes none of it, and names the line.
func TestForeseenCodeIsNotDecided(t *testing.T) {
	executed := 0
	fn := func() int { executed++; return executed }
	for name, c := range map[string]struct {
		do    func(ctx)
		first bool // the first turn is a function of the run's row, but for this
		want  string
	}{
		"side effect": {func(c ctx) { workflow.SideEffect(c, "x", fn) }, true, "side effect x is not decided yet"},
		"if changed": {func(c ctx) {
			workflow.SideEffectIfChanged(c, "y", fn, func(a, b int) bool { return a == b })
		}, true, "side effect y is not decided yet"},
		"change": {func(c ctx) { workflow.Changed(c, "new") }, true, "change new is not decided yet"},
		"time":   {func(c ctx) { c.Now() }, false, "the time at which the run goes on is not decided yet"},
		"child":  {func(c ctx) { workflow.CallAsync(c, kidName, "", nil).ID() }, false, "the id of child kid is not decided yet"},
	} {
		wants := func(where string, err error) {
			t.Helper()
			if u, ok := errors.AsType[*replay.UndecidedError](err); !ok || !strings.HasPrefix(err.Error(), c.want) || u.Verb == "" || !strings.Contains(u.Where, "foresee_test.go") {
				t.Errorf("%s, %s: %v", name, where, err)
			}
		}
		_, _, err := foreseen(t, func(x ctx) (string, error) { c.do(x); return approved.Receive(x) })
		if c.first {
			wants("in the first turn", err)
		} else if err != nil {
			t.Errorf("%s, in the first turn: %v", name, err)
		}
		m, _, err := foreseen(t, func(x ctx) (string, error) {
			_, err := approved.Receive(x)
			c.do(x)
			return "", err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = replay.Foresee(m, signalMessage(1, "approved", `"x"`, 0), epoch)
		wants("after a message", err)
	}
	if executed > 0 {
		t.Errorf("functions of side effects were executed %d times", executed)
	}
}

// TestForeseenHandlersAreNotDecided: a handler that asks for the time is not told one that the run
// may never have; other handlers are answered, before and after. A validator decides nothing
// either.
func TestForeseenHandlersAreNotDecided(t *testing.T) {
	const when workflow.Query[int, time.Time] = "when"
	m, _, err := foreseen(t, func(c ctx) (string, error) {
		sum := 0
		when.Handle(c, func(int) (time.Time, error) { return c.Now(), nil })
		sumOf.Handle(c, func(int) (int, error) { return sum, nil })
		more.Handle(c, func(_ ctx, n int) (int, error) { return n, nil }, &workflow.UpdateOptions[int]{Validate: func(int) error {
			if c.Now().IsZero() {
				return errors.New("never")
			}
			return nil
		}})
		for {
			v, err := number.Receive(c)
			if sum += v; err != nil {
				return "", err
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	arg := journal.Payload{Data: []byte("1")}
	if p, err := m.Query("when", arg); err != nil || string(p.Data) != `"2026-01-02T03:04:05Z"` {
		t.Errorf("in the first turn, whose time is known: %s, %v", p.Data, err)
	}
	if taken, err := replay.Foresee(m, signalMessage(1, "number", "5", 0), epoch); !taken || err != nil {
		t.Fatal(taken, err)
	}
	for range 2 {
		if _, err := m.Query("when", arg); !errors.As(err, new(*replay.UndecidedError)) {
			t.Errorf("a handler that asks for the time: %v", err)
		}
		if p, err := m.Query("sum", arg); err != nil || string(p.Data) != "5" {
			t.Errorf("another handler: %s, %v", p.Data, err)
		}
	}
	update := &journal.Message{Number: 2, Kind: journal.MessageUpdate, Name: "more", Payload: arg}
	if _, err := replay.Foresee(m, update, epoch); !errors.As(err, new(*replay.UndecidedError)) {
		t.Errorf("a validator that asks for the time: %v", err)
	}
}

// TestForeseenChildren: a child that is foreseen to start stops nothing but code that asks for its
// id. That of a child of the first turn is known.
func TestForeseenChildren(t *testing.T) {
	const first, second workflow.Query[int, journal.RunID] = "first", "second"
	got := ""
	m, _, err := foreseen(t, func(c ctx) (string, error) {
		one := workflow.CallAsync(c, kidName, "", nil)
		first.Handle(c, func(int) (journal.RunID, error) { return one.ID(), nil })
		v, err := approved.Receive(c)
		if err != nil {
			return "", err
		}
		two := workflow.CallAsync(c, kidName, "", nil)
		second.Handle(c, func(int) (journal.RunID, error) { return two.ID(), nil })
		two.Cancel()
		got = v
		return two.Get(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := replay.Foresee(m, signalMessage(1, "approved", `"x"`, 0), epoch); !taken || err != nil || got != "x" {
		t.Fatalf("the message that starts a child: taken %v, %v; the code got %q", taken, err, got)
	}
	arg := journal.Payload{Data: []byte("1")}
	if p, err := m.Query("first", arg); err != nil || len(p.Data) < 36 {
		t.Errorf("the id of the first turn's child: %s, %v", p.Data, err)
	}
	for range 2 {
		if p, err := m.Query("second", arg); !errors.As(err, new(*replay.UndecidedError)) {
			t.Errorf("the id of the foreseen child: %s, %v", p.Data, err)
		}
	}
}

// TestForeseenTimersComeInTheirOrder: a timer that was due when a message came is first, and one
// that was armed by what is foreseen is not: the owner arms it later than all these messages came.
func TestForeseenTimersComeInTheirOrder(t *testing.T) {
	var seen []string
	m, _, err := foreseen(t, func(c ctx) (string, error) {
		early := workflow.NewTimer(c, time.Minute)
		for {
			i, err := workflow.Select(c, workflow.OnTimer(early, nil), workflow.OnSignal(approved, nil))
			if err != nil {
				return "", err
			}
			seen = append(seen, fmt.Sprint(i))
			early = workflow.NewTimer(c, time.Minute)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, after := range []time.Duration{0, 2 * time.Minute, time.Hour} {
		for taken := false; !taken; {
			if taken, err = replay.Foresee(m, signalMessage(journal.InboxSeq(n+1), "approved", `""`, after), epoch.Add(after)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff([]string{"1", "1", "1"}, seen); diff != "" {
		t.Errorf("each message came before the timer that the one before has armed (-want +got):\n%s", diff)
	}
	seen = nil
	m, _, err = foreseen(t, func(c ctx) (string, error) {
		late, err := workflow.AwaitTimeout(c, time.Minute, func() bool { return approved.Pending(c) > 0 })
		seen = append(seen, fmt.Sprint(late))
		_ = workflow.Sleep(c, time.Hour)
		return "", err
	})
	if err != nil {
		t.Fatal(err)
	}
	if taken, err := replay.Foresee(m, signalMessage(1, "approved", `""`, 2*time.Minute), epoch.Add(time.Hour)); taken || err != nil || seen[0] != "false" {
		t.Errorf("the timer that was due before the message: taken %v, %v, the wait came true: %v", taken, err, seen)
	}
}

// TestForeseenGenerations: what a generation that is foreseen to end has not received comes to the
// next one, with its content.
func TestForeseenGenerations(t *testing.T) {
	m, run, err := foreseen(t, func(c ctx) (string, error) {
		for approved.Pending(c) == 0 {
			if err := workflow.Await(c, func() bool { return approved.Pending(c) > 0 || c.Cancelled() }); err != nil {
				return "", err
			}
			if c.Cancelled() {
				return "", workflow.ContinueAsNew(c, workflow.Name[string, string]("test"), "next", &workflow.ContinueOptions{Version: 2})
			}
		}
		return "", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	reason := journal.EncodeFailure(&journal.Failure{Message: "enough"})
	for _, msg := range []*journal.Message{signalMessage(1, "number", "7", 0), {Number: 2, Kind: journal.MessageCancel, Payload: reason}} {
		if _, _, ok := replay.Successor(m, run); ok {
			t.Error("a generation that goes on has a successor")
		}
		if taken, err := replay.Foresee(m, msg, epoch); !taken || err != nil {
			t.Fatal(taken, err)
		}
	}
	next, carried, ok := replay.Successor(m, run)
	if !ok || next.Generation != 2 || next.Version != 2 || string(next.Input.Data) != `"next"` || next.Continued.Seen != 2 || next.ID != run.ID {
		t.Errorf("successor %+v, %v", next, ok)
	}
	want := []journal.Message{
		{Number: 1, Kind: journal.MessageSignal, Name: "number", Payload: journal.Payload{Data: []byte("7")}},
		{Number: 2, Kind: journal.MessageCancel, Payload: reason},
	}
	if diff := cmp.Diff(want, carried); diff != "" {
		t.Errorf("carried (-want +got):\n%s", diff)
	}
}
