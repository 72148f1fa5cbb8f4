package sqlite_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// slowly is a context for a listing that takes as long as the test wants: a listing looks at its
// context while it reads.
type slowly struct {
	context.Context
	release <-chan struct{}
}

func (c slowly) Err() error {
	<-c.release
	return c.Context.Err()
}

// TestListingsLeaveReadersForLoads: as many listings as there are readers read at the same time,
// and a load answers.
func TestListingsLeaveReadersForLoads(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]func(ctx context.Context, s *sqlite.Store) error{
		"list": func(ctx context.Context, s *sqlite.Store) error {
			_, err := s.List(ctx, journal.ListFilter{})
			return err
		},
		"find": func(ctx context.Context, s *sqlite.Store) error {
			_, err := s.List(ctx, journal.ListFilter{Where: "version = 1"})
			return err
		},
		"aggregate": func(ctx context.Context, s *sqlite.Store) error {
			_, err := s.Aggregate(ctx, journal.Aggregate{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const readers = 4
				w := newWorld(t, &sqlite.Options{Readers: readers})
				run := w.start(journal.Start{})[0].Run
				release := make(chan struct{})
				listed := make(chan error, readers)
				for range readers {
					go func() { listed <- list(slowly{t.Context(), release}, w.s) }()
				}
				synctest.Wait() // each has a reader or waits for one
				loaded := make(chan error, 1)
				go func() {
					_, err := w.s.Load(t.Context(), []driver.LoadRequest{{Run: run}})
					loaded <- err
				}()
				synctest.Wait()
				select {
				case err := <-loaded:
					if err != nil {
						t.Error(err)
					}
				default:
					t.Error("a load waits for listings")
				}
				if len(listed) > 0 {
					t.Errorf("%d listings have ended, which tells nothing", len(listed))
				}
				close(release)
				for range readers {
					if err := <-listed; err != nil {
						t.Error(err)
					}
				}
				w.s.Close()
			})
		})
	}
}
