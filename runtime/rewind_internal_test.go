package runtime

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestARewindPlansAgain: a run that moves on while it is planned where it goes back to is planned
// again, a dry run too, and not for ever.
func TestARewindPlansAgain(t *testing.T) {
	client := NewClient(journal.New(memory.New(nil), nil), nil)
	for _, moves := range []int{0, 1, rewindTries - 1, rewindTries} {
		planned := 0
		plan := func(context.Context) (*plan, error) {
			if planned++; planned <= moves {
				return nil, driver.ErrMoved
			}
			return &plan{h: &driver.History{}, out: &Rewinding{Kept: 7}}, nil
		}
		out, err := rewind(t.Context(), client, Call{Kind: SkipCall}, driver.AdminAction{}, plan, true)
		if moves == rewindTries {
			if !errors.Is(err, driver.ErrMoved) || planned != rewindTries {
				t.Errorf("of a run that moves on and on it says %v, after %d plans", err, planned)
			}
		} else if err != nil || out.Kept != 7 || planned != moves+1 {
			t.Errorf("after %d moves: %+v, %v, %d plans", moves, out, err, planned)
		}
	}
}
