package runtime_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// pollStore notes the loads of a caller. At the third one it acts first.
type pollStore struct {
	driver.Store
	loads []driver.LoadRequest
	third func()
}

func (s *pollStore) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	if s.loads = append(s.loads, requests...); len(s.loads) == 3 {
		s.third()
	}
	return s.Store.Load(ctx, requests)
}

// TestPausePollsTheState: who waits for the node of a run asks again and again, and reads neither
// the input of the run nor its inbox.
func TestPausePollsTheState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		routes := []journal.Route{{Queue: journal.DefaultQueue, Workflow: string(belt), Version: 1}}
		s := &pollStore{Store: memory.New(nil)}
		j := journal.New(s, nil)
		m, err := driver.Of(j).Join(t.Context(), journal.Node{Name: "silent", Routes: routes, Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		client := runtime.NewClient(j, nil)
		run, err := runtime.Start(t.Context(), client, belt, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		claim, err := driver.Of(j).Claim(t.Context(), driver.ClaimRequest{Node: m.ID(), Routes: routes, Max: 1})
		if err != nil || len(claim.Tasks) != 1 {
			t.Fatalf("%d tasks, %v", len(claim.Tasks), err)
		}
		s.loads = nil
		s.third = func() {
			if err := client.Resume(t.Context(), run.ID()); err != nil {
				t.Error(err)
			}
		}
		if err := client.Pause(t.Context(), run.ID(), nil); err == nil || !strings.Contains(err.Error(), "somebody has resumed it") {
			t.Errorf("the pause says %v", err)
		}
		for _, q := range s.loads {
			if want := (driver.LoadRequest{Run: run.ID(), Answer: driver.StateOnly}); q != want {
				t.Errorf("a poll asks for %+v, want %+v", q, want)
			}
		}
		if len(s.loads) != 3 {
			t.Errorf("%d polls", len(s.loads))
		}
	})
}
