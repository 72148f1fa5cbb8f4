package replay_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestManyGoroutines: an actor's mailbox runs on another goroutine each time.
func TestManyGoroutines(t *testing.T) {
	r := newRig(workflows["order"])
	defer r.m.Close()
	for _, ev := range []journal.Event{started(), completed(1, "reserve", `""`), completed(2, "charge", `""`), completed(3, "ship", `""`)} {
		failed := make(chan error)
		go func() {
			_, err := r.step(ev)
			failed <- err
		}()
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
	if !r.m.Finished() {
		t.Error("not finished")
	}
}

// TestSynctest: machines work in a bubble, where the test kit runs them.
func TestSynctest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(workflows["nap"])
		mustStep(t, r, started())
		time.Sleep(time.Minute)
		r.m.Close()
	})
}

// TestTimeZone: the time zone of a node or of a driver does not reach the code, nor do nanoseconds.
func TestTimeZone(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) { return c.Now().Format(time.RFC3339Nano), nil }))
	defer r.m.Close()
	ev := started()
	ev.Time = ev.Time.In(time.FixedZone("far", 3600)).Add(1234567)
	mustStep(t, r, ev)
	if d := r.m.Take(); string(d.Terminal.Payload.Data) != `"2026-01-02T03:04:05.001234Z"` {
		t.Errorf("code sees %s", d.Terminal.Payload.Data)
	}
	if got := r.history[0].Time; got.Nanosecond() != 1234000 || got.Location() != time.UTC {
		t.Errorf("the event has %s", got)
	}
}

// TestFailedTurnLeavesNothing: code that panics once, with a deferred call that cancels a timer,
// leaves no trace of the failed turn; repaired code goes on from the history.
func TestFailedTurnLeavesNothing(t *testing.T) {
	broken := true
	def := define(func(c ctx) (string, error) {
		timer := workflow.NewTimer(c, time.Hour)
		defer timer.Stop()
		if _, err := approved.Receive(c); err != nil {
			return "", err
		}
		f := async(c, "work")
		if broken {
			panic("a bug")
		}
		return f.Get(c)
	})
	r := newRig(def)
	mustStep(t, r, started())
	signal := journal.Event{Seq: 2, Kind: journal.SignalReceived, Name: "approved", Inbox: 1, Time: epoch}
	err := r.m.Step(&signal)
	if _, ok := errors.AsType[*replay.PanicError](err); !ok {
		t.Fatalf("error %v", err)
	}
	if d := r.m.Take(); len(signal.Issued)+len(d.Steps)+len(d.CancelSteps) != 0 || d.Terminal != nil {
		t.Errorf("issued %v, decision %+v", signal.Issued, d)
	}
	r.m.Close()
	broken = false
	again := newRig(def)
	defer again.m.Close()
	if err := again.m.Replay(&r.history[0]); err != nil {
		t.Fatal(err)
	}
	mustStep(t, again, journal.Event{Kind: journal.SignalReceived, Name: "approved", Inbox: 1, Time: epoch})
	mustStep(t, again, completed(2, "work", `"done"`))
	if d := again.m.Take(); d.Terminal == nil || d.Terminal.Kind != journal.RunCompleted {
		t.Errorf("decision %+v", d)
	}
}

// TestDivergenceWritesNothing: the first divergence stops the machine, also one that the code's end
// makes.
func TestDivergenceWritesNothing(t *testing.T) {
	r := newRig(workflows["order"])
	mustStep(t, r, started())
	r.m.Close()
	m := replay.New(workflows["order-all-removed"], replay.Info{}, journal.New(nil, nil))
	defer m.Close()
	if err := m.Replay(&r.history[0]); err == nil {
		t.Fatal("no divergence")
	}
	if d := m.Take(); d.Terminal != nil {
		t.Errorf("decision %+v", d)
	}
}

// TestDivergenceOutsideOfStrand: a cancel request that cancels what the history does not have is
// told with the place where the code waits, not with the engine's.
func TestDivergenceOutsideOfStrand(t *testing.T) {
	r := newRig(workflows["wait"])
	mustStep(t, r, started())
	mustStep(t, r, journal.Event{Kind: journal.CancelRequested, Time: epoch, Inbox: 1})
	r.m.Close()
	r.history[0].Issued, r.history[0].Link, r.history[1].Link = []journal.Issued{{Kind: journal.CommandTimer}}, 0, 0
	line := ""
	m := replay.New(define(func(c ctx) (string, error) {
		line = here(1)
		return "", workflow.Sleep(c, time.Minute)
	}), replay.Info{}, journal.New(nil, nil))
	defer m.Close()
	if err := m.Replay(&r.history[0]); err != nil {
		t.Fatal(err)
	}
	d, ok := errors.AsType[*replay.DivergenceError](m.Replay(&r.history[1]))
	if !ok || d.Want != "nothing more" || d.Got != "cancel 1" || len(d.Where) < len(line) || d.Where[len(d.Where)-len(line):] != line {
		t.Errorf("error %+v, want one at %s", d, line)
	}
}
