package runtime_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// While the timers of a paused run stand still nobody can say when one is due, only what is left of
// its time. After the resume the timer is due later by as long as it stood still, and all who tell of
// it agree: the description, the reasons, and the task, whose owner has computed it.
func TestFreezeTimers(t *testing.T) {
	onEachStore(t, handleNap, func(t *testing.T, client *runtime.Client) {
		ctx := runtime.WithActor(clustertest.Context(t), "eva")
		started, err := runtime.Start(ctx, client, nap, 1, &runtime.StartOptions{Timeout: 2 * time.Hour})
		run := clustertest.MustStart(t, started, err)
		armed := clustertest.Parked(t, client, run.ID()).Timers[0]
		var stood time.Duration
		for i := range 2 {
			if err := client.Pause(ctx, run.ID(), &runtime.PauseOptions{FreezeTimers: true}); err != nil {
				t.Fatal(err)
			}
			d, err := client.Describe(ctx, run.ID())
			if err != nil {
				t.Fatal(err)
			}
			from := d.Run.Freezes[i].From
			left := armed.Due.Add(stood).Sub(from)
			if p := d.Timers[0]; !d.Run.Freezes.Lasts() || !p.Due.IsZero() || p.Left != left || len(d.Waiting) != 0 {
				t.Errorf("the timer is %+v, the run waits for %v; want %s left", p, d.Waiting, left)
			}
			r, e := whyOf(t, client, run.ID(), runtime.ReasonTimer)
			if want := "timer alarm stands still, with " + left.String() + " left"; r.Text != want || !r.Until.IsZero() {
				t.Errorf("why: %+v, want %s", r, want)
			}
			if r := e.Reasons[0]; r.Text != "eva has paused it; its timers stand still" {
				t.Errorf("why: %+v", r)
			}
			if r, _ := whyOf(t, client, run.ID(), runtime.ReasonDeadline); r.Text != "the run's time of 2h0m0s stands still, with "+(left+time.Hour).String()+" left" {
				t.Errorf("why: %+v", r)
			}
			if err := client.Resume(ctx, run.ID()); err != nil {
				t.Fatal(err)
			}
			d = clustertest.Described(t, client, run.ID(), "the timer is armed anew", func(d *runtime.Description) bool {
				return d.Run.Task.Owner == 0 && d.Run.Task.VisibleAt.After(armed.Due.Add(stood))
			})
			z := d.Run.Freezes[i]
			stood += z.Until.Sub(z.From)
			due := armed.Due.Add(stood)
			if p := d.Timers[0]; z.From != from || !p.Due.Equal(due) || p.Left != 0 || !d.Run.Task.VisibleAt.Equal(due) {
				t.Errorf("the timer is %+v, the task is visible at %s; want %s", p, d.Run.Task.VisibleAt, due)
			}
			if len(d.Waiting) != 1 || !strings.Contains(d.Waiting[0], due.Format(time.RFC3339Nano)) {
				t.Errorf("the run waits for %v, want %s", d.Waiting, due)
			}
			if r, _ := whyOf(t, client, run.ID(), runtime.ReasonDeadline); !r.Until.Equal(due.Add(time.Hour)) {
				t.Errorf("why: %+v", r)
			}
		}
		scope := journal.Scope{Workflow: string(nap)}
		err = client.PauseScope(ctx, scope, &runtime.PauseOptions{FreezeTimers: true})
		if list, err2 := client.Pauses(ctx); !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "bulk") || err2 != nil || len(list) != 0 {
			t.Errorf("a scope: %v, pauses %v", err, list)
		}
		if err := client.Terminate(ctx, run.ID(), ""); err != nil {
			t.Error(err)
		}
	})
}
