package replay_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestGoroutines: a goroutine that workflow code starts cannot use the run, however it tries, and
// nothing of that turn is kept. The reason names the verb and the line. Nothing is left running,
// and no panic reaches the process.
func TestGoroutines(t *testing.T) {
	for name, use := range map[string]func(ctx) (string, error){
		"steps": func(c ctx) (string, error) {
			var g errgroup.Group
			for range 10 {
				g.Go(func() error { _, err := step(c, "x"); return err })
			}
			return "done", g.Wait()
		},
		"steps, ignored": func(c ctx) (string, error) {
			var g errgroup.Group
			g.Go(func() error { _, _ = step(c, "x"); return nil })
			return "done", g.Wait()
		},
		"one": func(c ctx) (string, error) {
			var g sync.WaitGroup
			g.Go(func() { _, _ = step(c, "x") })
			g.Wait()
			return step(c, "y")
		},
		"futures": func(c ctx) (string, error) {
			f := async(c, "x")
			var g errgroup.Group
			g.Go(func() error { _, err := f.Get(c); return err })
			return "", g.Wait()
		},
		"without an error": func(c ctx) (string, error) {
			var g sync.WaitGroup
			g.Go(func() { c.Now() })
			g.Wait()
			return approved.Receive(c)
		},
		"spawning": func(c ctx) (string, error) {
			var g sync.WaitGroup
			g.Go(func() { workflow.Go(c, func(ctx) {}) })
			g.Wait()
			return approved.Receive(c)
		},
		"a query's handler": func(c ctx) (string, error) {
			var g sync.WaitGroup
			g.Go(func() {
				workflow.Query[string, string]("q").Handle(c, func(string) (string, error) { return "", nil })
			})
			g.Wait()
			return approved.Receive(c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(define(use))
			defer r.m.Close()
			_, err := r.step(started())
			if !errors.Is(err, workflow.ErrOutside) || !strings.Contains(err.Error(), "_test.go:") ||
				!strings.Contains(err.Error(), "workflow.") {
				t.Errorf("the turn ended with %v", err)
			}
			if d := r.m.Take(); len(d.Steps) != 0 || d.Terminal != nil {
				t.Errorf("the turn is kept: %+v", d)
			}
		})
	}
}

// TestGoroutineAtRest: a goroutine that outlives the turn is noticed at the next event, and in a
// replay.
func TestGoroutineAtRest(t *testing.T) {
	called := make(chan struct{})
	rest := make(chan struct{})
	def := define(func(c ctx) (string, error) {
		go func() {
			defer func() { called <- struct{}{} }()
			<-rest
			c.Info()
		}()
		return step(c, "main")
	})
	r := newRig(def)
	defer r.m.Close()
	mustStep(t, r, started())
	rest <- struct{}{}
	<-called
	if _, err := r.step(completed(1, "main", `"x"`)); !errors.Is(err, workflow.ErrOutside) {
		t.Errorf("the next event: %v", err)
	}
	if d := r.m.Take(); d.Terminal != nil {
		t.Errorf("the run ended: %+v", d)
	}
	if err := r.m.Replay(&journal.Event{}); !errors.Is(err, workflow.ErrOutside) {
		t.Errorf("the machine lives: %v", err)
	}
}

// TestStrandsAreNotForeign: what runs on the machine's own goroutines is not refused, whoever steps
// it: strands, conditions, validators, deferred calls while it is closed.
func TestStrandsAreNotForeign(t *testing.T) {
	unwound := false
	r := newRig(define(func(c ctx) (string, error) {
		defer func() { unwound = c.Info().Workflow != "" }()
		workflow.Go(c, func(c ctx) { _, _ = step(c, "strand") })
		ready := false
		workflow.Go(c, func(c ctx) { ready = !c.Now().IsZero() })
		if err := workflow.Await(c, func() bool { return ready && !c.Cancelled() }); err != nil {
			return "", err
		}
		return step(c, "main")
	}))
	mustStep(t, r, started())
	if n := len(r.m.Take().Steps); n != 2 {
		t.Errorf("%d steps", n)
	}
	var elsewhere sync.WaitGroup
	elsewhere.Go(func() {
		if _, err := r.step(completed(1, "strand", `"x"`)); err != nil {
			t.Error(err)
		}
	})
	elsewhere.Wait()
	r.m.Close()
	if !unwound {
		t.Error("a deferred call was refused")
	}
}
