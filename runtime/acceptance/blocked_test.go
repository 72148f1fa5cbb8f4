package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// stores are all that a node can have.
var stores = map[string]func(t *testing.T) (s driver.Store, closes func()){
	"memory": func(*testing.T) (driver.Store, func()) {
		db := memory.New(nil)
		return db, func() { db.Close() }
	},
	"sqlite": func(t *testing.T) (driver.Store, func()) {
		s, err := sqlite.Open(clustertest.Context(t), filepath.Join(t.TempDir(), "reprise.db"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s, func() { s.Close() }
	},
	"postgres": func(t *testing.T) (driver.Store, func()) {
		s, err := postgres.Open(clustertest.Context(t), pgtest.New(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s, s.Close
	},
}

// mistakes are a node on one of the stores whose workflows are wrong, until they are mended.
type mistakes struct {
	*testing.T
	*runtime.Node
	log     *clustertest.Log
	changed atomic.Bool // the code is another than when the runs began
	mended  atomic.Bool
	mu      sync.Mutex
	lines   map[string]string // where the code of each run goes wrong, as problems have it
}

// here notes the line behind the caller's as the one where name goes wrong.
func (m *mistakes) here(name string) {
	_, file, line, _ := goruntime.Caller(1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines[name] = fmt.Sprintf(" (%s:%d)", filepath.Base(file), line+1)
}

func (m *mistakes) line(name string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lines[name]
}

// onStores runs a test with a node on each of the stores.
func onStores(t *testing.T, register func(m *mistakes, n *runtime.Node), test func(m *mistakes)) {
	t.Parallel()
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &mistakes{T: t, log: &clustertest.Log{}, lines: map[string]string{}}
			store, closes := open(t)
			m.Node = runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(m.log, nil)), PassivateAlways: true})
			register(m, m.Node)
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- m.Node.Run(ctx) }()
			t.Cleanup(func() {
				cancel()
				if err := <-ended; err != nil {
					t.Errorf("the node ended with %v", err)
				}
				closes()
				if t.Failed() {
					t.Logf("log:\n%s", m.log)
				}
			})
			clustertest.Until(t, "the node has joined", func() bool { return m.ID() != 0 })
			test(m)
		})
	}
}

const mistaken workflow.Name[string, string] = "mistaken"

// wrong is code that goes wrong at the signal, each in its way.
var wrong = map[string]func(m *mistakes, ctx workflow.Context) error{
	"function": func(m *mistakes, _ workflow.Context) error {
		orders := map[string]*journal.Run{}
		m.here("function")
		return errors.New(orders["none"].Key)
	},
	"strand": func(m *mistakes, ctx workflow.Context) error {
		workflow.Go(ctx, func(workflow.Context) {
			m.here("strand")
			panic("a bug")
		})
		return workflow.Sleep(ctx, time.Hour)
	},
	"map": func(m *mistakes, ctx workflow.Context) error {
		_, err := workflow.Map(ctx, []int{1, 0}, func(_ workflow.Context, n int) (int, error) {
			m.here("map")
			return 1 / n, nil
		}, nil)
		return err
	},
	"condition": func(m *mistakes, ctx workflow.Context) error {
		return workflow.Await(ctx, func() bool {
			m.here("condition")
			panic("a bug")
		})
	},
	"clean-up": func(m *mistakes, ctx workflow.Context) error {
		defer func() { _ = step(ctx, "clean up"); _ = workflow.Sleep(ctx, time.Hour) }()
		_ = workflow.StepAsync(ctx, "lost", workOnce, nil)
		m.here("clean-up")
		panic("a bug")
	},
	"recovered": func(m *mistakes, ctx workflow.Context) (err error) {
		defer func() {
			err = fmt.Errorf("caught: %v", recover())
			m.here("recovered")
			_ = workflow.Sleep(ctx, time.Hour)
		}()
		panic("a bug")
	},
	"other step": func(*mistakes, workflow.Context) error { return nil }, // see mistakenCode
}

// mistakenCode does a step, waits for a signal, goes wrong unless it is mended, and does another
// step.
func mistakenCode(m *mistakes) func(ctx workflow.Context, how string) (string, error) {
	return func(ctx workflow.Context, how string) (string, error) {
		first := "first"
		if how == "other step" && m.changed.Load() && !m.mended.Load() {
			first = "another"
		}
		m.here("other step")
		if _, err := workflow.Step(ctx, first, workOnce, nil); err != nil {
			return "", err
		}
		got, err := approved.Receive(ctx)
		if err != nil {
			return "", err
		}
		if !m.mended.Load() {
			if err := wrong[how](m, ctx); err != nil {
				return "", err
			}
		}
		return got, step(ctx, "second")
	}
}

// TestBlockedRunsSayWhere: on every store, the problem of a blocked run names the error, the
// function and the line. The log has the stack of a panic. Nothing of the turn is stored or
// executed, and the run continues when the code is corrected.
func TestBlockedRunsSayWhere(t *testing.T) {
	says := map[string]string{
		"function": "workflow code panicked: runtime error: ", "strand": "workflow code panicked: a bug at ",
		"map": "workflow code panicked: runtime error: integer divide by zero at ", "condition": "workflow code panicked: a bug at ",
		"clean-up": "workflow code panicked: a bug at ", "recovered": workflow.ErrPanicking.Error() + " at ",
		"other step": "code and history differ at event 1: history has step first, code has step another at ",
	}
	onStores(t, func(m *mistakes, n *runtime.Node) { runtime.Handle(n, mistaken, mistakenCode(m), nil) }, func(m *mistakes) {
		runs, before := map[string]*runtime.Run[string]{}, map[string][]journal.Kind{}
		for how := range wrong {
			run, err := runtime.Start(clustertest.Context(m.T), m.Client(), mistaken, how, nil)
			runs[how] = clustertest.MustStart(m.T, run, err)
			clustertest.Parked(m.T, m.Client(), run.ID())
			before[how] = clustertest.Kinds(m.T, m.Client(), run.ID())
		}
		m.changed.Store(true)
		for how, run := range runs {
			if err := runtime.Signal(clustertest.Context(m.T), m.Client(), run.ID(), approved, how, nil); err != nil {
				m.Fatal(err)
			}
		}
		for how, run := range runs {
			d := clustertest.Described(m.T, m.Client(), run.ID(), how+" is blocked", func(d *runtime.Description) bool {
				return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
			})
			problem := d.Run.Task.Problem
			if !strings.HasPrefix(problem, says[how]) || !strings.Contains(problem, m.line(how)) || !strings.Contains(problem, " acceptance_test.") ||
				strings.ContainsAny(problem, "/\n") {
				m.Errorf("%s: want %q and%s: %s", how, says[how], m.line(how), problem)
			}
			if diff := cmp.Diff(before[how], clustertest.Kinds(m.T, m.Client(), run.ID())); diff != "" {
				m.Errorf("%s: of the turn this is stored: %s", how, diff)
			}
			if line := logged(m.log, run.ID()); !strings.Contains(line, problem[:20]) || strings.Contains(line, "stack=") != strings.Contains(problem, "panicked") ||
				strings.Contains(line, "stack=") && !strings.Contains(line, "blocked_test.go:") {
				m.Errorf("%s: log: %s", how, line)
			}
		}
		m.mended.Store(true)
		for how, run := range runs {
			if got := clustertest.MustResult(m.T, run); got != how {
				m.Errorf("%s: got %q", how, got)
			}
		}
	})
}

// logged is the first line of the log about a blocked run.
func logged(log *clustertest.Log, run journal.RunID) string {
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, `msg="run is blocked"`) && strings.Contains(line, run.String()) {
			return line
		}
	}
	return ""
}

// TestRefusedHandlersSayWhere: when a handler calls a verb that it may not call, the caller's error
// names the verb and the line. An update handler that waits until all handlers have finished does
// not wait for itself.
func TestRefusedHandlersSayWhere(t *testing.T) {
	register := func(m *mistakes, n *runtime.Node) {
		runtime.Handle(n, mistaken, func(ctx workflow.Context, _ string) (string, error) {
			writes.Handle(ctx, func(int) (int, error) {
				m.here("query")
				return 0, workflow.Sleep(ctx, time.Hour)
			})
			broken.Handle(ctx, func(int) (int, error) {
				m.here("broken query")
				panic("a bug")
			})
			refuse.Handle(ctx, nil, &workflow.UpdateOptions[int]{Validate: func(int) error {
				m.here("validator")
				_, err := approved.Receive(ctx)
				return err
			}})
			bump.Handle(ctx, func(ctx workflow.Context, n int) (int, error) {
				if err := workflow.Sleep(ctx, time.Millisecond); err != nil {
					return 0, err
				}
				return n, workflow.HandlersFinished(ctx)
			}, nil)
			if _, err := approved.Receive(ctx); err != nil {
				return "", err
			}
			return "finished", workflow.HandlersFinished(ctx)
		}, nil)
	}
	onStores(t, register, func(m *mistakes) {
		ctx := clustertest.Context(m.T)
		run, err := runtime.Start(ctx, m.Client(), mistaken, "", nil)
		clustertest.MustStart(m.T, run, err)
		clustertest.Parked(m.T, m.Client(), run.ID())
		wantSays := func(who string, err error, want string) {
			m.Helper()
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), m.line(who)) {
				m.Errorf("%s: want %q and%s: %v", who, want, m.line(who), err)
			}
		}
		_, err = runtime.Query(ctx, m.Node, run.ID(), writes, 1)
		wantSays("query", err, "workflow.Sleep called by code that may only read at acceptance_test.")
		if !errors.Is(err, workflow.ErrReadOnly) {
			m.Errorf("query: %v", err)
		}
		_, err = runtime.Query(ctx, m.Node, run.ID(), broken, 1)
		wantSays("broken query", err, `query "broken" panicked: a bug at acceptance_test.`)
		_, err = runtime.CallUpdate(ctx, m.Client(), run.ID(), refuse, 1, nil)
		wantSays("validator", err, "workflow.Signal.Receive called by code that may only read at acceptance_test.")
		for range 2 {
			_, err = runtime.CallUpdate(ctx, m.Client(), run.ID(), bump, 1, nil)
			wantSays("handler", err, workflow.ErrInHandler.Error())
		}
		if err := runtime.Signal(ctx, m.Client(), run.ID(), approved, "", nil); err != nil {
			m.Fatal(err)
		}
		if got := clustertest.MustResult(m.T, run); got != "finished" {
			m.Errorf("got %q", got)
		}
	})
}
