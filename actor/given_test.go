package actor

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Steps whose results are given are not executed, and others are. Each commit keeps the results of
// which it has no event: an owner that dies behind it leaves them to the next.
func TestGivenResults(t *testing.T) {
	const given = turnEventsMax + 100
	for _, passivate := range []bool{false, true} {
		bubble(t, func(o *Options) { o.PassivateAlways = passivate }, func(g *rig) {
			var executed []int
			g.define("many", func(ctx workflow.Context) (string, error) {
				var steps []workflow.Future[string]
				for i := range given + 1 {
					steps = append(steps, workflow.StepAsync(ctx, "s", func(context.Context) (string, error) {
						executed = append(executed, i)
						return "done", nil
					}, nil))
				}
				sum := 0
				for _, s := range steps {
					out, err := s.Get(ctx)
					if err != nil {
						return "", err
					}
					sum += len(out)
				}
				return fmt.Sprint(sum), nil
			})
			id := g.create("many")
			g.store.mu.Lock()
			r := g.store.runs[id]
			ident := replay.InfoOf(&r.run)
			ev := journal.Event{Seq: 1, Kind: journal.RunStarted, Time: r.run.StartAt, Issued: slices.Repeat([]journal.Issued{{Kind: journal.CommandStep, Name: "s"}}, given+1)}
			ev.Link = ev.LinkAfter(replay.OriginOf(&ident))
			r.events = append(r.events, ev)
			for cmd := range given {
				out, _ := g.store.Encode("result", "given")
				r.task.Attempts = append(r.task.Attempts, journal.Attempt{Cmd: journal.Cmd(cmd + 1), Name: "s", Given: &out})
			}
			r.task.Turn, r.task.Owner = 1, 0
			g.store.mu.Unlock()
			g.claim(id)
			wait()
			for g.task(id) != nil {
				g.wake(id)
			}
			if got, want := string(g.output(id)), fmt.Sprintf("%q", fmt.Sprint(given*len("given")+len("done"))); got != want {
				t.Errorf("output %s, want %s", got, want)
			}
			if !slices.Equal(executed, []int{given}) {
				t.Errorf("executed %v, want the one that has no result", executed)
			}
			left := given
			for _, c := range g.store.written() {
				for i := range c.Events {
					if int(c.Events[i].Cmd) <= given && c.Events[i].Kind == journal.StepCompleted {
						left--
						if a := c.Events[i].Attempt; a != 0 {
							t.Errorf("a given result took %d attempts", a)
						}
					}
				}
				kept := 0
				for i := range c.Attempts {
					if c.Attempts[i].Given != nil {
						kept++
					}
				}
				if kept != left {
					t.Errorf("a commit keeps %d given results, want %d", kept, left)
				}
			}
			if left != 0 {
				t.Errorf("%d given results have no event", left)
			}
		})
	}
}
