package runtime_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// mutedStore does what it is asked for, and does not tell what nodes make of it.
type mutedStore struct {
	*memory.Store
	says []error // one after the other, the last one for ever
}

func (s *mutedStore) said() error {
	err := s.says[0]
	if len(s.says) > 1 {
		s.says = s.says[1:]
	}
	return err
}

func (s *mutedStore) Pauses(context.Context) ([]journal.Pause, error) { return nil, s.said() }
func (s *mutedStore) Nodes(context.Context) ([]journal.Node, error)   { return nil, s.said() }

// TestWaitsForNodesEnd: who waits for nodes goes on while the store is away, and hears of an error
// that will not pass, instead of waiting for ever.
func TestWaitsForNodesEnd(t *testing.T) {
	t.Parallel()
	gone := errors.New("the table is gone")
	for name, wait := range map[string]func(ctx context.Context, c *runtime.Client, node journal.NodeID) error{
		"pause of a scope": func(ctx context.Context, c *runtime.Client, _ journal.NodeID) error {
			return c.PauseScope(ctx, journal.Scope{Queue: "q"}, nil)
		},
		"drain": func(ctx context.Context, c *runtime.Client, node journal.NodeID) error { return c.DrainNode(ctx, node) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &mutedStore{Store: memory.New(nil), says: []error{journal.ErrUnavailable, journal.ErrUnavailable, gone}}
				j := journal.New(s, nil)
				m, err := driver.Of(j).Join(t.Context(), journal.Node{Name: "silent", Lease: time.Hour})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := wait(ctx, runtime.NewClient(j, nil), m.ID()); !errors.Is(err, gone) {
					t.Errorf("after the store was away: %v", err)
				}
				s.says = []error{journal.ErrUnavailable}
				if err := wait(ctx, runtime.NewClient(j, nil), m.ID()); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("while the store is away: %v", err)
				}
			})
		})
	}
}
