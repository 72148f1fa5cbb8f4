package memory_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// owned is a store with a run, and the commit that parks it.
func owned(t *testing.T) (*memory.Store, driver.Commit) {
	t.Helper()
	s := memory.New(nil)
	route := journal.Route{Queue: "q", Workflow: "w", Version: 1}
	m, err := s.Join(t.Context(), journal.Node{Name: "n", Routes: []journal.Route{route}, Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	run := journal.Start{ID: journal.NewRunID(), Queue: route.Queue, Workflow: route.Workflow, Version: 1, Priority: 3, Owner: m.ID()}
	out, err := s.Start(t.Context(), nil, []journal.Start{run})
	if err != nil || !out[0].Owned {
		t.Fatal(out, err)
	}
	load, err := s.Load(t.Context(), []driver.LoadRequest{{Run: run.ID}})
	if err != nil {
		t.Fatal(err)
	}
	task := load[0].Run.Task
	return s, driver.Commit{
		Run: run.ID, Node: m.ID(), Fence: task.Fence, Turn: task.Turn, Generation: 1, Next: driver.Next{Kind: driver.NextPark},
	}
}

// TestTry: a function of Try is called when the commit is sure to be accepted, before those of Do,
// and its error refuses it.
func TestTry(t *testing.T) {
	t.Parallel()
	why := errors.New("a constraint")
	for name, test := range map[string]struct {
		tries  []error
		spoil  func(*driver.Commit)
		want   error
		called []string
	}{
		"accepted":         {tries: []error{nil, nil}, called: []string{"try", "try", "do"}},
		"refused":          {tries: []error{nil, why, nil}, want: why, called: []string{"try", "try"}},
		"refused as it is": {tries: []error{journal.ErrTxLost}, want: journal.ErrTxLost, called: []string{"try"}},
		"of a lost owner":  {tries: []error{nil}, spoil: func(c *driver.Commit) { c.Turn++ }, want: journal.ErrFenced},
		"not valid": {tries: []error{nil}, spoil: func(c *driver.Commit) {
			c.Events = []journal.Event{{Seq: 7, Kind: journal.StepCompleted}}
		}, want: journal.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := owned(t)
			tx, err := s.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var called []string
			effects := tx.Value().(*memory.Effects)
			effects.Do(func() { called = append(called, "do") })
			for _, err := range test.tries {
				effects.Try(func() error { called = append(called, "try"); return err })
			}
			c.Tx = tx
			if test.spoil != nil {
				test.spoil(&c)
			}
			out, err := s.Commit(t.Context(), []driver.Commit{c})
			if err != nil || !errors.Is(out[0].Err, test.want) ||
				test.want == why && !errors.Is(out[0].Err, journal.ErrTxLost) || test.want == journal.ErrTxLost && out[0].Err != test.want {
				t.Errorf("outcome %v, %v, want %v", out[0].Err, err, test.want)
			}
			if !slices.Equal(called, test.called) {
				t.Errorf("called were %q, want %q", called, test.called)
			}
			load, err := s.Load(t.Context(), []driver.LoadRequest{{Run: c.Run}})
			if err != nil {
				t.Fatal(err)
			}
			if written := load[0].Run.Task.Turn > 0; written != (test.want == nil) {
				t.Errorf("the turn is written: %v", written)
			}
		})
	}
}

// TestTryMayWait: a function of Try waits for the clock of a bubble. Who meanwhile waits for the
// store, and sees nothing of the commit yet, does not stop that clock.
func TestTryMayWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, c := owned(t)
		tx, err := s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		tx.Value().(*memory.Effects).Try(func() error { time.Sleep(time.Minute); return nil })
		c.Tx = tx
		began := time.Now()
		var others sync.WaitGroup
		for range 3 {
			others.Go(func() {
				time.Sleep(time.Second)
				load, err := s.Load(context.Background(), []driver.LoadRequest{{Run: c.Run}})
				if err != nil || load[0].Run.Task.Turn != 1 || time.Since(began) < time.Minute {
					t.Errorf("after %s: %v, %v", time.Since(began), load, err)
				}
			})
		}
		if out, err := s.Commit(t.Context(), []driver.Commit{c}); err != nil || out[0].Err != nil {
			t.Error(out, err)
		}
		others.Wait()
	})
}
