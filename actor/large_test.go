package actor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

const mebibyte = 1 << 20

// wantSmallTurns checks that no commit of a run has more than a turn may have and one event, and
// that there are no more of them than needed.
func (g *rig) wantSmallTurns(id journal.RunID, most int) {
	g.t.Helper()
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	n := 0
	for i := range g.store.commits {
		c := &g.store.commits[i]
		if c.Run != id {
			continue
		}
		n++
		if bytes := driver.CommitBytes(c); bytes > turnBytesMax+2*mebibyte {
			g.t.Errorf("commit %d has %d bytes in %d events", i, bytes, len(c.Events))
		}
	}
	if n > most {
		g.t.Errorf("%d commits, want at most %d", n, most)
	}
}

// Results of steps that wait for a commit in flight are not one commit if they are large.
func TestLargeOutcomesAreSeveralTurns(t *testing.T) {
	bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
		const steps = 30
		gate, written := make(chan struct{}), make(chan struct{})
		g.define("wide", func(ctx workflow.Context) (string, error) {
			var list []workflow.Future[string]
			for range steps {
				list = append(list, workflow.StepAsync(ctx, "s", func(context.Context) (string, error) {
					<-gate
					return strings.Repeat("x", mebibyte), nil
				}, nil))
			}
			for _, f := range list {
				if _, err := f.Get(ctx); err != nil {
					return "", err
				}
			}
			return "", nil
		})
		g.store.fate = func(*driver.Commit) error { <-written; return nil }
		id := g.start("wide")
		close(gate)
		wait()
		close(written)
		wait()
		g.wantHistory(id, "RunStarted"+strings.Repeat(" StepCompleted(s)", steps)+" RunCompleted")
		g.wantSmallTurns(id, 7)
	})
}

// listens defines a workflow that receives so many messages and does something after each.
func (g *rig) listens(messages int, then func(workflow.Context)) {
	g.define("ears", func(ctx workflow.Context) (string, error) {
		for range messages {
			if _, err := workflow.Signal[string]("word").Receive(ctx); err != nil {
				return "", err
			}
			then(ctx)
		}
		return "", nil
	})
}

// Large messages are neither read nor consumed all at once.
func TestLargeMessagesAreSeveralTurns(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		const messages = 30
		g.listens(messages, func(workflow.Context) {})
		id := g.create("ears")
		for range messages {
			g.store.send(id, "word", strings.Repeat("x", mebibyte))
		}
		g.store.loadFate = func(*driver.LoadRequest) error {
			g.store.mu.Lock()
			defer g.store.mu.Unlock()
			if g.store.loads > 4 && len(g.store.commits) == 0 {
				t.Errorf("load %d, and nothing is consumed yet", g.store.loads)
			}
			return nil
		}
		g.sys.Activate(g.claimed(id))
		wait()
		g.wantHistory(id, "RunStarted"+strings.Repeat(" SignalReceived(word)", messages)+" RunCompleted")
		g.wantSmallTurns(id, 8)
	})
}

// Nor are very many. What is small is read with other runs' messages; what is too large for that is
// read in pages of its own until the inbox is empty, and not longer.
func TestManyMessagesAreSeveralTurns(t *testing.T) {
	for name, test := range map[string]struct {
		messages, bytes int
		loads           string // those of one message that comes at the end included
	}{
		"small": {2 * turnEventsMax, 1, strings.Repeat("lean ", 8) + "lean"},
		"large": {20, mebibyte, "lean page page page lean"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(o *Options) { o.PassivateAlways = false }, func(g *rig) {
				g.listens(test.messages+1, func(workflow.Context) {})
				id := g.create("ears")
				for range test.messages {
					g.store.send(id, "word", strings.Repeat("x", test.bytes))
				}
				var loads []string
				g.store.loadFate = func(q *driver.LoadRequest) error {
					g.store.mu.Lock()
					defer g.store.mu.Unlock()
					how := "page"
					if q.Lean {
						how = "lean"
					}
					if loads = append(loads, how); len(loads) > 5 && len(g.store.commits) == 0 {
						t.Errorf("load %d, and nothing is consumed yet", len(loads))
					}
					return nil
				}
				g.sys.Activate(g.claimed(id))
				wait()
				g.store.send(id, "word", "x")
				g.wake(id)
				g.wantHistory(id, "RunStarted"+strings.Repeat(" SignalReceived(word)", test.messages+1)+" RunCompleted")
				if got := strings.Join(loads, " "); got != test.loads {
					t.Errorf("loads: %s, want %s", got, test.loads)
				}
			})
		})
	}
}

// The sum of what waits is right after inputs that a turn had taken wait again.
func TestSizeOfWhatWaits(t *testing.T) {
	var q inputs
	for n := range 3 {
		q.add(input{message: &journal.Message{Payload: journal.Payload{Data: make([]byte, 100<<n)}}})
	}
	taken := []input{q.first(), q.first()}
	if q.bytes != 400 {
		t.Errorf("%d bytes wait, want 400", q.bytes)
	}
	if q.again(taken); q.bytes != 700 {
		t.Errorf("%d bytes wait, want 700", q.bytes)
	}
	if q.clear(); q.bytes != 0 || q.full() {
		t.Errorf("%d bytes wait in an empty queue", q.bytes)
	}
}

// Large inputs of children and messages to others count too: a turn ends when it has many.
func TestLargeEffectsAreSeveralTurns(t *testing.T) {
	bubble(t, nil, func(g *rig) {
		const messages = 30
		g.listens(messages, func(ctx workflow.Context) {
			workflow.CallAsync(ctx, workflow.Name[string, string]("child"), strings.Repeat("x", mebibyte), nil)
		})
		id := g.create("ears")
		for range messages {
			g.store.send(id, "word", "x")
		}
		g.sys.Activate(g.claimed(id))
		wait()
		g.wantHistory(id, "RunStarted"+strings.Repeat(" SignalReceived(word)", messages)+" RunCompleted")
		g.wantSmallTurns(id, 8)
	})
}

// longRun is a run with a history of 20 MiB, parked, and forgotten by its node.
func longRun(g *rig) (id journal.RunID) {
	const steps = 20
	g.define("long", func(ctx workflow.Context) (string, error) {
		for range steps {
			if _, err := workflow.Step(ctx, "s", func(context.Context) (string, error) { return strings.Repeat("x", mebibyte), nil }, nil); err != nil {
				return "", err
			}
		}
		return workflow.Signal[string]("word").Receive(ctx)
	})
	id = g.start("long")
	if task := g.task(id); task.Owner != 0 {
		g.t.Fatalf("the run is not parked: %+v", task)
	}
	g.store.send(id, "word", "x")
	g.store.mu.Lock()
	g.store.loads, g.store.commits = 0, nil
	g.store.mu.Unlock()
	return id
}

func longBubble(t *testing.T, test func(g *rig)) {
	bubble(t, func(o *Options) { o.PassivateAlways = true }, test)
}

// A long history comes in pages, is replayed as they come, and its messages are read at the end.
func TestALongHistoryIsLoadedInPages(t *testing.T) {
	longBubble(t, func(g *rig) {
		id := longRun(g)
		var asked []string
		g.store.loadFate = func(q *driver.LoadRequest) error {
			g.store.mu.Lock()
			defer g.store.mu.Unlock()
			asked = append(asked, fmt.Sprintf("after %d, lean %v, inbox %v, events %v, owned %v", q.AfterSeq, q.Lean, q.InboxOnly, q.EventsOnly, q.Owned))
			return nil
		}
		g.log = nil
		g.claim(id)
		g.wantHistory(id, "RunStarted"+strings.Repeat(" StepCompleted(s)", 20)+" SignalReceived(word) RunCompleted")
		want := []string{
			"after 0, lean true, inbox false, events false, owned true",
			"after 1, lean false, inbox false, events true, owned true",
			"after 8, lean false, inbox false, events true, owned true",
			"after 15, lean false, inbox false, events true, owned true",
			"after 0, lean true, inbox true, events false, owned true",
		}
		if strings.Join(asked, "\n") != strings.Join(want, "\n") {
			t.Errorf("loads:\n%s\nwant:\n%s", strings.Join(asked, "\n"), strings.Join(want, "\n"))
		}
		g.wantSaid("replayed 21", 1)
		g.wantSaid("replayed", 1)
	})
}

// A run that somebody takes, or that is another generation, between two pages is given up, and what
// was replayed of it is thrown away: the next claim begins anew.
func TestARunIsLostBetweenPages(t *testing.T) {
	for name, change := range map[string]func(*journal.Task){
		"taken":      func(task *journal.Task) { task.Owner, task.Fence = testNode+1, task.Fence.Next(1) },
		"claimed":    func(task *journal.Task) { task.Fence = task.Fence.Next(1) },
		"generation": func(task *journal.Task) { task.Generation++ },
	} {
		t.Run(name, func(t *testing.T) {
			longBubble(t, func(g *rig) {
				id := longRun(g)
				var before journal.Task
				g.store.loadFate = func(q *driver.LoadRequest) error {
					if q.AfterSeq > 8 {
						g.store.mu.Lock()
						before = *g.store.runs[id].task
						change(g.store.runs[id].task)
						g.store.loadFate = nil
						g.store.mu.Unlock()
					}
					return nil
				}
				g.claim(id)
				g.wantSaid("lost", 1)
				g.wantSaid("replayed 21", 0)
				g.wantLive(0)
				if len(g.store.commits) != 0 {
					t.Errorf("%d commits of a run that is lost", len(g.store.commits))
				}
				g.store.mu.Lock()
				g.store.runs[id].task.Generation = before.Generation
				g.store.mu.Unlock()
				g.claim(id)
				g.wantSaid("replayed 21", 1)
				g.wantHistory(id, "RunStarted"+strings.Repeat(" StepCompleted(s)", 20)+" SignalReceived(word) RunCompleted")
			})
		})
	}
}

// A page that does not follow the one before it stops the run, as any other history does that is
// not the run's: the run is blocked.
func TestAPageOfAnotherHistoryBlocks(t *testing.T) {
	longBubble(t, func(g *rig) {
		id := longRun(g)
		g.store.loadFate = func(q *driver.LoadRequest) error {
			if q.AfterSeq > 8 {
				g.store.mu.Lock()
				defer g.store.mu.Unlock()
				g.store.runs[id].events[int(q.AfterSeq)].Link++
			}
			return nil
		}
		g.claim(id)
		g.wantSaid("blocked", 1)
		if task := g.task(id); task.State != journal.Blocked || task.Owner != 0 {
			t.Errorf("task %+v", task)
		}
	})
}
