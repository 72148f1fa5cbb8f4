package actor

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// report is one call of Hooks.Blocked.
type report struct{ problem, stack string }

// reports makes a system keep what it says of blocked runs. Tests look at rest.
func reports(list *[]report) func(o *Options) {
	return func(o *Options) {
		o.Hooks.Blocked = func(_ *journal.Run, problem, stack string, _ time.Duration) {
			*list = append(*list, report{problem, stack})
		}
	}
}

// The problem of a run whose code panics names the line. The stack is reported each time the run is
// blocked, and once: not again when the commit that blocks it is repeated.
func TestStackOfAPanic(t *testing.T) {
	var got []report
	bubble(t, reports(&got), func(g *rig) {
		g.define("moody", func(workflow.Context) (string, error) { panic("not today") })
		refused := 0
		g.store.fate = func(*driver.Commit) error {
			if refused++; refused <= 2 {
				return errors.New("the disk is on fire")
			}
			return nil
		}
		id := g.start("moody")
		pass(time.Minute)
		g.claim(id)
		task := g.task(id)
		if task.State != journal.Blocked || !strings.Contains(task.Problem, "panicked: not today at actor.TestStackOfAPanic.") ||
			!strings.Contains(task.Problem, " (blocked_test.go:") || strings.Contains(task.Problem, "goroutine") {
			t.Errorf("task is %s: %s", task.State, task.Problem)
		}
	})
	if len(got) != 4 {
		t.Fatalf("%d reports, want three of the first time and one of the second", len(got))
	}
	for i, r := range got {
		if !strings.Contains(r.problem, "(blocked_test.go:") || strings.Contains(r.stack, "blocked_test.go:") != (i == 0 || i == 3) {
			t.Errorf("report %d: %s, stack %s", i, r.problem, r.stack)
		}
	}
}

// What blocks a run without a panic has no stack, also if the run was blocked by one before.
func TestStackIsOfThisTime(t *testing.T) {
	var got []report
	bubble(t, reports(&got), func(g *rig) {
		bad := true
		g.define("moody", func(ctx workflow.Context) (string, error) {
			if bad {
				panic("not today")
			}
			return workflow.Signal[string]("word").Receive(ctx)
		})
		id := g.start("moody")
		bad = false
		g.claim(id)
		g.define("moody", func(ctx workflow.Context) (string, error) { return "", workflow.Sleep(ctx, time.Hour) })
		g.signal(id, "word", "x")
		pass(10 * time.Minute) // out of memory
		g.claim(id)
	})
	if len(got) != 2 || got[0].stack == "" || got[1].stack != "" || !strings.Contains(got[1].problem, "calling workflow.Sleep") {
		t.Errorf("reports %+v", got)
	}
}

// A deferred call that waits while the code panics leaves nothing in the journal, and nothing is
// executed.
func TestPanicDoesNotWait(t *testing.T) {
	var got []report
	bubble(t, reports(&got), func(g *rig) {
		bad, executed := true, 0
		g.define("tidy", func(ctx workflow.Context) (string, error) {
			defer func() {
				_, _ = workflow.Step(ctx, "tidy up", func(context.Context) (string, error) { executed++; return "", nil }, nil)
			}()
			word, err := workflow.Signal[string]("word").Receive(ctx)
			if bad {
				panic("not today")
			}
			return word, err
		})
		id := g.start("tidy")
		g.signal(id, "word", "x")
		g.claim(id)
		if task := g.task(id); task.State != journal.Blocked || !strings.Contains(task.Problem, "panicked: not today at actor.") {
			t.Errorf("task is %s: %s", task.State, task.Problem)
		}
		g.wantHistory(id, "RunStarted")
		if executed != 0 {
			t.Error("the step was executed")
		}
		bad = false
		g.claim(id)
		pass(time.Second)
		g.wantHistory(id, "RunStarted SignalReceived(word) StepCompleted(tidy up) RunCompleted")
		if executed != 1 {
			t.Errorf("executed %d times", executed)
		}
	})
}

// A block that the store refuses is tried again when its time has come and not before, whatever the
// run is told meanwhile: without the head, because to compare it may be what the store cannot do.
func TestBlockIsRefused(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("moody", func(workflow.Context) (string, error) { panic("not today") })
		var tries, blind atomic.Int32
		g.store.fate = func(c *driver.Commit) error {
			if tries.Add(1); c.Head.Link == 0 {
				blind.Add(1)
				return nil
			}
			return errors.New("the file is damaged")
		}
		id := g.start("moody")
		for range 10 {
			g.sys.Pause(nil)
			pass(blockedFirst / 20)
		}
		if task := g.task(id); tries.Load() != 1 || task.State != journal.Ready {
			t.Errorf("before its time: %d tries, the task is %+v", tries.Load(), *task)
		}
		pass(blockedMax)
		if task := g.task(id); tries.Load() != 2 || blind.Load() != 1 || task.State != journal.Blocked || task.Owner != 0 || !strings.Contains(task.Problem, "not today") {
			t.Errorf("%d tries, %d of them without the head, the task is %+v", tries.Load(), blind.Load(), *task)
		}
		g.claim(id) // the next trouble begins with the head, and at once
		if c := g.store.written(); len(c) != 3 || c[2].Next.Kind != driver.NextBlock || c[2].Head.Link == 0 {
			t.Errorf("%d commits: %+v", len(c), c[len(c)-1])
		}
	})
}

// While the store is away nothing is known against the head, so a block goes on to name it.
func TestBlockMeetsAnOutage(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		g.define("moody", func(workflow.Context) (string, error) { panic("not today") })
		var tries atomic.Int32
		g.store.fate = func(c *driver.Commit) error {
			if c.Head.Link == 0 {
				t.Error("a block does not name the head")
			}
			if tries.Add(1) < 3 {
				return journal.ErrUnavailable
			}
			return nil
		}
		id := g.start("moody")
		pass(blockedMax)
		if task := g.task(id); task.State != journal.Blocked || tries.Load() != 3 {
			t.Errorf("after %d tries the task is %+v", tries.Load(), *task)
		}
	})
}
