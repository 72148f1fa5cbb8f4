package actor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// The package documentation prints the table of transitions as it is.
func TestDocHasTransitions(t *testing.T) {
	var table strings.Builder
	for _, tr := range transitions {
		fmt.Fprintf(&table, "//\t%-10s → %-10s  %s\n", tr.from, tr.to, tr.why)
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), table.String()) {
		t.Errorf("doc.go does not have this table:\n%s", &table)
	}
}

// phaseCase drives a run so that it makes certain changes of phase.
type phaseCase struct {
	name  string
	shows []string // changes that must be among those that are seen
	set   func(o *Options)
	drive func(g *rig)
}

// A run makes each change of phase in the table, and no other one, which would panic.
func TestTransitions(t *testing.T) {
	untested := map[string]bool{}
	for _, tr := range transitions {
		untested[tr.from.String()+" "+tr.to.String()] = true
	}
	for _, c := range phaseCases {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			bubble(t, c.set, func(g *rig) {
				var mu sync.Mutex
				g.sys.onPhase = func(from, to phase) {
					mu.Lock()
					defer mu.Unlock()
					seen[from.String()+" "+to.String()] = true
				}
				c.drive(g)
				wait()
			})
			for _, want := range c.shows {
				if !seen[want] {
					t.Errorf("there was no change %q, but %v", want, seen)
				}
				delete(untested, want)
			}
		})
	}
	for change := range untested {
		t.Errorf("no case shows the change %q", change)
	}
}

var phaseCases = []phaseCase{
	{
		name:  "a run is started, commits and closes",
		shows: []string{"idle ready", "ready committing", "committing ready", "ready idle"},
		drive: func(g *rig) {
			g.define("one", func(workflow.Context) (string, error) { return "x", nil })
			g.start("one")
		},
	}, {
		name:  "a claimed run is loaded",
		shows: []string{"ready loading", "loading ready"},
		drive: func(g *rig) {
			id := startEars(g)
			g.signal(id, "word", "x")
			g.claim(id)
		},
	}, {
		name:  "code panics, and the store refuses the block once",
		shows: []string{"ready failed", "failed blocking", "blocking failed", "failed idle"},
		drive: func(g *rig) {
			g.define("moody", func(workflow.Context) (string, error) { panic("not today") })
			refused := false
			g.store.fate = func(*driver.Commit) error {
				if refused {
					return nil
				}
				refused = true
				return errors.New("the disk is on fire")
			}
			g.start("moody")
			pass(time.Minute)
			g.wantLive(0)
		},
	}, {
		name:  "the engine fails while messages are read",
		shows: []string{"loading failed"},
		set:   engineFailsAtRetry,
		drive: func(g *rig) {
			id, fails := startFailing(g)
			answer := holdLoads(g)
			g.signal(id, "word", "x")
			fails()
			close(answer)
			pass(time.Minute)
			g.wantSaid("blocked in 1s: the engine failed: planted", 1)
		},
	}, {
		name:  "a run is lost while messages are read",
		shows: []string{"loading idle"},
		drive: func(g *rig) {
			id, _ := startFailing(g)
			answer := holdLoads(g)
			g.signal(id, "word", "x")
			g.claim(id)
			g.wantSaid("lost", 1)
			close(answer)
		},
	}, {
		name:  "the engine fails while a turn is in flight",
		shows: []string{"committing failing", "failing failed"},
		set:   engineFailsAtRetry,
		drive: func(g *rig) {
			id, fails := startFailing(g)
			answer := holdCommits(g)
			g.signal(id, "word", "x")
			fails()
			close(answer)
			pass(time.Minute)
			g.wantSaid("blocked in 1s: the engine failed: planted", 1)
			g.wantHistory(id, "RunStarted SignalReceived(word)")
		},
	}, {
		name:  "a run is lost while a turn is in flight",
		shows: []string{"committing idle"},
		drive: func(g *rig) {
			id, _ := startFailing(g)
			answer := holdCommits(g)
			g.signal(id, "word", "x")
			g.claim(id)
			g.wantSaid("lost", 1)
			close(answer)
		},
	}, {
		name:  "a run is lost after the engine failed, while a turn is in flight",
		shows: []string{"failing idle"},
		set:   engineFailsAtRetry,
		drive: func(g *rig) {
			id, fails := startFailing(g)
			answer := holdCommits(g)
			g.signal(id, "word", "x")
			fails()
			g.claim(id)
			g.wantSaid("lost", 1)
			close(answer)
		},
	}, {
		name:  "a claim overtakes the answer of the commit that blocked the run",
		shows: []string{"blocking idle"},
		drive: func(g *rig) {
			bad := true
			g.define("moody", func(workflow.Context) (string, error) {
				if bad {
					panic("not today")
				}
				return "x", nil
			})
			answer := make(chan struct{})
			g.store.late = func(c *driver.Commit) {
				if c.Next.Kind == driver.NextBlock {
					<-answer
				}
			}
			id := g.start("moody")
			bad = false
			g.claim(id)
			close(answer)
			wait()
			g.wantSaid("lost", 0)
			g.wantHistory(id, "RunStarted RunCompleted")
		},
	},
}

// startEars starts a run that waits for a signal.
func startEars(g *rig) journal.RunID {
	g.define("ears", func(ctx workflow.Context) (string, error) {
		return workflow.Signal[string]("word").Receive(ctx)
	})
	return g.start("ears")
}

// startFailing starts a run that takes signals while a step is executed. fails makes the step fail.
func startFailing(g *rig) (id journal.RunID, fails func()) {
	s := newGate()
	g.define("both", func(ctx workflow.Context) (string, error) {
		workflow.StepAsync(ctx, "a", s.heedful, nil)
		for {
			if _, err := workflow.Signal[string]("word").Receive(ctx); err != nil {
				return "", err
			}
		}
	})
	return g.start("both"), func() {
		s.open <- errors.New("not yet")
		wait()
	}
}

// engineFailsAtRetry plants a panic where a run's actor handles the failure of an attempt.
func engineFailsAtRetry(o *Options) {
	o.Hooks.Retry = func(*journal.Run, string, int32, time.Duration, *journal.Failure) { panic("planted") }
}

// holdLoads makes loads wait until the channel is closed.
func holdLoads(g *rig) chan struct{} {
	answer := make(chan struct{})
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	g.store.loadFate = func(*driver.LoadRequest) error { <-answer; return nil }
	return answer
}

// holdCommits makes commits wait until the channel is closed.
func holdCommits(g *rig) chan struct{} {
	answer := make(chan struct{})
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	g.store.fate = func(*driver.Commit) error { <-answer; return nil }
	return answer
}

// A change of phase that is not in the table blocks the run, and the problem says which change it
// was.
func TestIllegalTransition(t *testing.T) {
	allowed[ready][committing] = false // planted
	defer func() { allowed = matrix(transitions) }()
	bubble(t, nil, func(g *rig) {
		g.define("one", func(ctx workflow.Context) (string, error) {
			return workflow.Step(ctx, "a", func(context.Context) (string, error) { return "x", nil }, nil)
		})
		id := g.start("one")
		const want = "the engine failed: a run must not change from phase ready to phase committing"
		if task := g.task(id); task.State != journal.Blocked || !strings.Contains(task.Problem, want) {
			t.Errorf("task is %s: %s", task.State, task.Problem)
		}
		g.wantLive(0)
	})
}
