package actor

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testNode journal.NodeID = 7

// rig is a system on a store in memory, inside a bubble with its own clock.
type rig struct {
	t     *testing.T
	store *memory
	sys   *System
	defs  map[string]*replay.Definition

	idleActors int          // of a system without runs
	hanging    atomic.Int64 // abandoned bodies, as they are reported

	mu  sync.Mutex
	log []string
}

// bubble runs a test on a rig. Everything must have ended when it returns, or the bubble reports a
// deadlock.
func bubble(t *testing.T, set func(o *Options), test func(g *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := &rig{t: t, store: newMemory(), defs: map[string]*replay.Definition{}}
		o := Options{Node: testNode, Store: g.store, Hooks: g.hooks()}
		o.Lookup = func(name string, _ int32) *replay.Definition { return g.defs[name] }
		if os.Getenv("REPRISE_TEST_PASSIVATE") == "always" { // and everything is as it is without interceptors
			o.PassivateAlways, o.StepInterceptors = true, passing
		}
		if set != nil {
			set(&o)
		}
		g.sys = New(o)
		g.idleActors = g.actors()
		defer g.wantNoAttempts()
		defer time.Sleep(time.Minute) // the library's throttle of dead letters ends by the clock
		defer g.sys.Kill(ErrRunLost)
		test(g)
	})
}

// wantNoAttempts checks that every attempt has given back what it had, after all bodies have ended.
func (g *rig) wantNoAttempts() {
	g.t.Helper()
	s := g.sys.exec.slots
	if s.free.Load() != s.size || s.queued.Load() != 0 || s.stalled.Load() != 0 || len(s.lines) != 0 {
		g.t.Errorf("of %d slots %d are free; %d attempts wait, %d runs are stalled, %d have lines",
			s.size, s.free.Load(), s.queued.Load(), s.stalled.Load(), len(s.lines))
	}
	if h := g.sys.exec.hung; h.live.Load() != 0 || h.given != 0 || g.hanging.Load() != 0 {
		g.t.Errorf("%d bodies count as abandoned, %d of them have given their slots; %d were reported", h.live.Load(), h.given, g.hanging.Load())
	}
	began := time.Now()
	if g.sys.exec.wait(time.Second); time.Since(began) > 0 {
		g.t.Error("an attempt that has ended counts as one that has not")
	}
}

func (g *rig) hooks() Hooks {
	return Hooks{
		Released: func() { g.note("released") },
		Replayed: func(_ journal.RunID, events int, _ time.Duration) { g.note("replayed %d", events) },
		TxWaits:  func(_ *journal.Run, step string, after time.Duration) { g.note("tx waits: %s for %s", step, after) },
		Retry: func(_ *journal.Run, step string, attempt int32, in time.Duration, f *journal.Failure) {
			g.note("retry %s %d in %s: %s", step, attempt, in, f.Message)
		},
		Panicked: func(_ *journal.Run, step string, attempts int32, f *journal.Failure) {
			g.note("panicked %s %d: %s", step, attempts, f.Message)
		},
		Exhausted: func(_ *journal.Run, step string, attempts int32, f *journal.Failure) {
			g.note("exhausted %s %d: %s", step, attempts, f.Message)
		},
		BodyAbandoned: func(_ *journal.Run, _ string, change int) { g.hanging.Add(int64(change)) },
		BodyHangs: func(h *Hang) {
			g.note("hangs %s %d, %d in all, kept %v, at %s", h.Step, h.Attempt, h.Bodies, h.Kept, h.At)
		},
		Full:   func(_ *journal.Run, waiting, retries int) { g.note("full: %d wait, %d are in retry", waiting, retries) },
		Closed: func(_ *journal.Run, ev *journal.Event) { g.note("closed %s", ev.Kind) },
		Blocked: func(_ *journal.Run, problem, _ string, in time.Duration) {
			line, _, _ := strings.Cut(problem, "\n")
			g.note("blocked in %s: %s", in, line)
		},
		Stray:      func(driver.Holding) { g.note("stray") },
		Lost:       func(_ *journal.Run, err error) { g.note("lost: %v", err) },
		Stuck:      func(_ *journal.Run, after time.Duration, _ string) { g.note("stuck after %s", after) },
		Deadlocked: func(_ *journal.Run, lines []string) { g.note("deadlocked: %s", strings.Join(lines, ", ")) },
	}
}

func (g *rig) note(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = append(g.log, fmt.Sprintf(format, args...))
}

// said tells how often a line with the text was noted.
func (g *rig) said(text string) (n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, line := range g.log {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

func (g *rig) wantSaid(text string, n int) {
	g.t.Helper()
	if got := g.said(text); got != n {
		g.t.Errorf("%q was noted %d times, want %d:\n%s", text, got, n, strings.Join(g.log, "\n"))
	}
}

func (g *rig) wantLive(n int) {
	g.t.Helper()
	if got := g.sys.Live(); got != n {
		g.t.Errorf("%d runs live, want %d", got, n)
	}
}

// define registers a workflow without input whose output is a text.
func (g *rig) define(name string, fn func(ctx workflow.Context) (string, error)) {
	g.defs[name] = workflow.Define(workflow.Name[int, string](name), 1, func(ctx workflow.Context, _ int) (string, error) { return fn(ctx) })
}

// create makes a run that the node owns, but does not activate it.
func (g *rig) create(name string) journal.RunID {
	id := journal.NewRunID()
	in, _ := g.store.Encode("input", 0)
	run := journal.Run{ID: id, Workflow: name, Version: 1, Queue: "default", Input: in, Generation: 1, StartAt: g.store.Now()}
	task := journal.Task{Run: id, Generation: 1, Workflow: name, Version: 1, Owner: testNode, Fence: journal.FenceAtBirth}
	stored := task
	g.store.mu.Lock()
	g.store.runs[id] = &record{run: run, task: &stored}
	g.store.mu.Unlock()
	return id
}

// claimed is what a claim returns for a run at this moment.
func (g *rig) claimed(id journal.RunID) driver.Claimed {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	return driver.Claimed{Task: *g.store.runs[id].task, Run: g.store.runs[id].run}
}

// start makes a run that the node owns from its start, and activates it.
func (g *rig) start(name string) journal.RunID {
	id := g.create(name)
	g.sys.Activate(g.claimed(id))
	synctest.Wait()
	return id
}

// claim takes a run over, as a claim by this node does.
func (g *rig) claim(id journal.RunID) {
	g.sys.Activate(g.store.claim(id, testNode))
	synctest.Wait()
}

// signal sends a message, and the hint if the node owns the run.
func (g *rig) signal(id journal.RunID, name string, v any) {
	g.store.send(id, name, v)
	if t := g.task(id); t != nil && t.Owner == testNode {
		g.sys.Attend(id)
	}
	synctest.Wait()
}

// wake lets time pass until the parked run is due, and claims it.
func (g *rig) wake(id journal.RunID) {
	g.t.Helper()
	wait()
	task := g.task(id)
	if task == nil || task.Owner != 0 || task.VisibleAt.IsZero() {
		g.t.Fatalf("run is not parked: %+v", task)
	}
	pass(max(time.Until(task.VisibleAt), 0) + time.Millisecond)
	g.claim(id)
}

// task is the stored task, nil once the run is closed.
func (g *rig) task(id journal.RunID) *journal.Task {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	if t := g.store.runs[id].task; t != nil {
		c := *t
		return &c
	}
	return nil
}

// history prints the stored events.
func (g *rig) history(id journal.RunID) string {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	var b strings.Builder
	for _, ev := range g.store.runs[id].events {
		fmt.Fprintf(&b, "%s", ev.Kind)
		if ev.Name != "" {
			fmt.Fprintf(&b, "(%s)", ev.Name)
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

func (g *rig) wantHistory(id journal.RunID, want string) {
	g.t.Helper()
	if got := g.history(id); got != want {
		g.t.Errorf("history is\n%s\nwant\n%s", got, want)
	}
}

// gate is a step that ends when the test opens it.
type gate struct {
	began chan struct{}
	open  chan error
}

func newGate() *gate { return &gate{began: make(chan struct{}, 100), open: make(chan error, 100)} }

// heedful ends early with its context; stubborn does not.
func (s *gate) heedful(ctx context.Context) (string, error) {
	s.began <- struct{}{}
	select {
	case err := <-s.open:
		return "done", err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (s *gate) stubborn(context.Context) (string, error) {
	s.began <- struct{}{}
	return "done", <-s.open
}

func wait() { synctest.Wait() }

func pass(d time.Duration) {
	time.Sleep(d) // of the bubble's clock
	synctest.Wait()
}
