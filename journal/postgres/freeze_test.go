package postgres_test

import (
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// TestAResumeBehindAPause: a resume that waits with a pause for the lock of a task takes the freeze
// back that the pause has begun: it looks at the rows once it has the lock, and not before. Else
// the run would go on with timers that stand still.
func TestAResumeBehindAPause(t *testing.T) {
	t.Parallel()
	w := newHeldWorld(t)
	runs := w.runs()
	watch := connect(t, w.conn.Config().ConnString())
	act := func(run journal.RunID, kind driver.AdminKind, waiting int) (answer chan error) {
		answer = make(chan error, 1)
		go func() {
			_, err := w.j.Admin(t.Context(), driver.AdminAction{Run: run, Kind: kind, FreezeTimers: kind == driver.AdminPause})
			answer <- err
		}()
		eventually(t, fmt.Sprintf("%d operators wait in the server", waiting), func() bool { return query[int](t, watch, waitingForLocks) == waiting })
		return answer
	}
	for i := range 5 {
		run := runs[i].Run
		w.lockTask(run)
		pause := act(run, driver.AdminPause, 1)
		resume := act(run, driver.AdminResume, 2)
		w.release()
		for what, err := range map[string]error{"pause": <-pause, "resume": <-resume} {
			if err != nil {
				t.Errorf("the %s: %v", what, err)
			}
		}
		h, err := w.j.Load(t.Context(), []driver.LoadRequest{{Run: run}})
		if err != nil {
			t.Fatal(err)
		}
		if r := h[0].Run; r.Freezes.Lasts() || r.Task.State.OnHold() {
			t.Errorf("after the resume the run is %s, and its timers stood still at %v", r.Task.State, r.Freezes)
		}
	}
}
