package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestHandlersRunBeforeTheEnd: signals that came before the event with which the code ends are
// handled before it.
func TestHandlersRunBeforeTheEnd(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		handled := 0
		workflow.Go(c, func(c ctx) {
			for {
				if _, err := number.Receive(c); err != nil {
					return
				}
				handled++
			}
		})
		_, err := step(c, "work")
		return fmt.Sprint(handled), err
	}, signal("1"), signal("2"), signal("3"), completed(1, "work", `""`))
	want(t, got, `RunCompleted "3"`)
}

// TestAnythingPending: code can ask what waits for it before it ends, the same on every replay.
func TestAnythingPending(t *testing.T) {
	got := play(t, func(c ctx) (string, error) {
		ch, f := workflow.NewChannel[int](3, ""), async(c, "s")
		for range 3 {
			nap(c, time.Minute)
			_, _ = ch.TrySend(c, 1)
			say(c, "%d signals, %d values, outcome %v", number.Pending(c), ch.Len(), f.Ready())
		}
		return "", nil
	}, fires, signal("1"), completed(1, "s", `""`), fires, signal("2"), fires)
	want(t, got, "0 signals, 1 values, outcome false", "1 signals, 2 values, outcome true", "2 signals, 3 values, outcome true", `RunCompleted ""`)
}

// TestTimeAtEveryResume is that of the event that the code reacts to, in every strand and in
// conditions.
func TestTimeAtEveryResume(t *testing.T) {
	at := func(seconds int, ev journal.Event) journal.Event {
		ev.Time = epoch.Add(time.Duration(seconds) * time.Second)
		return ev
	}
	got := play(t, func(c ctx) (string, error) {
		clock := func() string { return c.Now().Sub(epoch).String() }
		ch := workflow.NewChannel[int](0, "")
		workflow.Go(c, func(c ctx) {
			for {
				v, ok, err := ch.Receive(c)
				if err != nil || !ok {
					return
				}
				say(c, "value %d at %s", v, clock())
			}
		})
		tested := ""
		workflow.Go(c, func(c ctx) {
			_ = workflow.Await(c, func() bool {
				tested = clock()
				return false
			})
		})
		for range 2 {
			v, _ := number.Receive(c)
			say(c, "signal %d at %s; the condition was tested at %s", v, clock(), tested)
			_ = ch.Send(c, v)
		}
		say(c, "slept: %v until %s", workflow.Sleep(c, time.Minute), clock())
		return "", nil
	}, at(10, signal("1")), at(20, signal("2")), fires)
	want(t, got, "signal 1 at 10s; the condition was tested at 0s", "value 1 at 10s", "signal 2 at 20s; the condition was tested at 10s",
		"value 2 at 20s", "slept: <nil> until 1m20s", `RunCompleted ""`)
}

// TestFanOutIsNotSwapped: strands of a list ask for steps in their order, so a history of another
// order of the list is refused, and outcomes in any order go to whom they belong.
func TestFanOutIsNotSwapped(t *testing.T) {
	fanOut := func(names ...string) func(c ctx) (string, error) {
		return func(c ctx) (string, error) {
			out, err := workflow.Map(c, names, step, nil)
			return strings.Join(out, " "), err
		}
	}
	def := define(fanOut("a", "b", "c"))
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, completed(3, "c", `"C"`))
	mustStep(t, r, completed(1, "a", `"A"`))
	mustStep(t, r, completed(2, "b", `"B"`))
	if d := r.m.Take(); d.Terminal == nil || string(d.Terminal.Payload.Data) != `"A B C"` {
		t.Errorf("decision %+v", d)
	}
	checkPrefixes(t, def, r.history)
	other := newRig(define(fanOut("a", "c", "b")))
	defer other.m.Close()
	if err := other.m.Replay(&r.history[0]); err == nil || !strings.Contains(err.Error(), "history has step b, code has step c at") {
		t.Errorf("error %v", err)
	}
}
