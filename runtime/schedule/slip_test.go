package schedule_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// slipMax is within how many seeds a slip must be found.
const slipMax = 500

// slip is a fault that the simulation must find: it stands between a node and the store, does what
// a slip in the code of schedules would come to, and no harm before something else goes wrong.
type slip func(w *simulated, s driver.Store, kill func()) driver.Store

// TestSlipsAreFound: the simulation notices what it is there for.
func TestSlipsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		slip slip
		want string
	}{
		{"two starts in a slot", func(w *simulated, s driver.Store, kill func()) driver.Store { return &apart{s, w, kill} }, "has 2 runs"},
		{"a window that a restart moves", func(w *simulated, s driver.Store, _ func()) driver.Store { return &fresh{s, w.now()} }, "has 0 runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= slipMax; seed++ {
				w := simulate(t, seed, c.slip)
				if slices.ContainsFunc(w.broken, func(text string) bool { return strings.Contains(text, c.want) }) {
					t.Logf("seed %d: %s", seed, w.broken[0])
					return
				}
			}
			t.Errorf("%d seeds have not found it", slipMax)
		})
	}
}

// apart starts the runs of slots ahead of the commit that moves the schedule behind them, and
// without their keys. That is two starts if the node dies in between.
type apart struct {
	driver.Store
	w    *simulated
	kill func()
}

func (a *apart) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	var ahead []journal.Start
	for i := range commits {
		c := &commits[i]
		for _, s := range c.Starts {
			if s.Labels[schedule.LabelSlot] != "" {
				s.Key, s.Parent = "", nil
				ahead = append(ahead, s)
			}
		}
		c.Starts = slices.DeleteFunc(slices.Clone(c.Starts), func(s journal.Start) bool { return s.Labels[schedule.LabelSlot] != "" })
	}
	if len(ahead) > 0 {
		if _, err := a.Store.Start(ctx, nil, ahead); err != nil {
			return nil, err
		}
		if a.w.draw(50) == 0 {
			a.kill()
			return nil, journal.ErrUnavailable
		}
	}
	return a.Store.Commit(ctx, commits)
}

// fresh starts no slot from ahead of the moment at which the node began. That loses those that came
// while no node was there.
type fresh struct {
	driver.Store
	began time.Time
}

func (f *fresh) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		commits[i].Starts = slices.DeleteFunc(slices.Clone(commits[i].Starts), func(s journal.Start) bool {
			slot, err := time.Parse(time.RFC3339, s.Labels[schedule.LabelSlot])
			return err == nil && slot.Before(f.began.Add(-time.Second))
		})
	}
	return f.Store.Commit(ctx, commits)
}
