package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// stopped is a workflow whose run fails with the cancellation of its child, or with one of nothing.
const stopped workflow.Name[string, string] = "stopped"

func handleStopped(n *runtime.Node) {
	schedule.Handle(n)
	runtime.Handle(n, stopped, func(ctx workflow.Context, what string) (string, error) {
		switch what {
		case "child":
			child := workflow.CallAsync(ctx, work, job{Takes: time.Hour}, nil)
			if err := workflow.CancelRun(ctx, child.ID(), "an operator"); err != nil {
				return "", err
			}
			return child.Get(ctx)
		default:
			return "", fmt.Errorf("odd: %w", workflow.ErrCancelled)
		}
	}, nil)
}

// TestPauseAfterCancellations: a run that fails because something of its own was cancelled has
// failed, and pauses its schedule; one that was cancelled itself is neither failure nor success.
// The status of the run decides.
func TestPauseAfterCancellations(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]schedule.Counts{
		"child": {Started: 3, Failed: 3}, "wrapped": {Started: 3, Failed: 3}, "run": {Started: 10},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(r *rig) {
				r.leave()
				r.serveWith(handleStopped, nil)
				s := every("s", time.Minute, job{})
				s.Start, s.PauseAfter = schedule.StartOf(stopped, what), 3
				if what == "run" {
					s = every("s", time.Minute, job{Takes: time.Hour})
					s.Overlap, s.PauseAfter = schedule.CancelOther, 3
				}
				r.apply(s)
				r.until(10*time.Minute + 30*time.Second)
				got := r.info("s")
				if got.Counts != want {
					t.Errorf("the counts are %+v, want %+v", got.Counts, want)
				}
				if failed := want.Failed > 0; failed != strings.Contains(got.Paused, "3 runs in a row have failed") || failed != strings.Contains(got.Paused, "cancelled") {
					t.Errorf("it is paused because %q", got.Paused)
				}
				if page, err := r.client.List(r.ctx, journal.ListFilter{Where: `status = failed and workflow = "stopped"`, Limit: 100}); err != nil || len(page.Runs) != want.Failed {
					t.Errorf("%d runs have failed, %v", len(page.Runs), err)
				}
			})
		})
	}
}
