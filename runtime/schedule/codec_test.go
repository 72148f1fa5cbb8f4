package schedule_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// refusing is a codec that cannot encode what has some text.
type refusing struct {
	journal.JSON
	text string
}

func (c refusing) Encode(v any) (journal.Payload, error) {
	p, err := c.JSON.Encode(v)
	if strings.Contains(string(p.Data), c.text) {
		return p, errors.New("the key is not there")
	}
	return p, err
}

// TestCodecRefusesInput: a schedule whose run a node cannot encode is blocked, and starts the slot
// when a node can.
func TestCodecRefusesInput(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.apply(every("s", time.Minute, job{}))
		r.until(time.Second)
		r.leave()
		r.codec = refusing{text: `{"Takes"`}
		r.serve(nil)
		r.until(80 * time.Second)
		d, err := r.client.Describe(r.ctx, r.info("s").Run)
		r.must(err)
		if task := d.Run.Task; task == nil || !strings.Contains(task.Problem, `schedule "s": its run cannot be started: `) || !strings.Contains(task.Problem, "the key is not there") {
			t.Errorf("its task is %+v", task)
		}
		r.leave()
		r.codec = nil
		r.serve(nil)
		r.until(150 * time.Second)
		r.wantSlots("s", "1m 2m")
		if got := r.info("s"); got.Paused != "" || got.Counts.Started != 2 {
			t.Errorf("it shows %+v", got.Info)
		}
	})
}

// TestCodecRefuses: a set with a schedule that a node cannot encode is blocked, and says so; a node
// that can makes the change as a whole.
func TestCodecRefuses(t *testing.T) {
	t.Parallel()
	bubble(t, func(r *rig) {
		r.leave()
		r.codec = refusing{text: `"id":"refused"`}
		r.serve(nil)
		list := []schedule.Schedule{every("a", time.Minute, job{}), every("refused", time.Minute, job{}), every("s", time.Minute, job{})}
		a, err := schedule.Apply(r.ctx, r.client, schedule.Set{Schedules: list}, nil)
		r.must(err)
		if _, err := a.Wait(r.ctx); !errors.Is(err, runtime.ErrBlocked) || !strings.Contains(err.Error(), `schedule "refused": `) || !strings.Contains(err.Error(), "the key is not there") {
			t.Errorf("the answer is %v", err)
		}
		r.until(10 * time.Second)
		if page, err := r.client.List(r.ctx, journal.ListFilter{Workflow: schedule.Workflow}); err != nil || len(page.Runs) > 0 {
			t.Errorf("the set is half applied: it has %d schedules, %v", len(page.Runs), err)
		}
		r.leave()
		r.codec = nil
		r.serve(nil)
		r.until(59 * time.Second)
		if got := r.apply(list...); got.Kept != 3 {
			t.Errorf("the next change has done %+v", got)
		}
		r.until(90 * time.Second)
		r.wantSlots("refused", "1m")
	})
}
