package sim

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// olderRest is how long a run may stay blocked after a node could read it again: the back-off
// doubles from a second on, and no such fault lasts longer than three.
const olderRest = 4 * time.Second

func (p *plan) hasOlder() bool {
	return slices.ContainsFunc(p.Faults, func(f fault) bool { return f.Kind == older })
}

// unreadable tells whether the process cannot read a run now: half of them, while the fault lasts.
func (p *process) unreadable(run journal.RunID) bool {
	return p.place > 0 && p.w.active(older, p.place) && hash(p.w.plan.Seed, "unreadable", run)%2 == 0
}

// blocked looks at a commit that has blocked a run: programs do the same whenever they are
// replayed, so the only reason is that the process could not read the run, and what it could not
// read must be as it was before. The tape is locked.
func (l *line) blocked(c *driver.Commit, before *journal.Task) {
	w := l.p.w
	if !w.plan.hasOlder() || !strings.Contains(c.Next.Problem, "column attempts cannot be read") {
		w.tape.blocks = append(w.tape.blocks, fmt.Sprintf("run %s is blocked: %s", c.Run, c.Next.Problem))
		return
	}
	after, err := w.tasks([]driver.Commit{*c})
	if err == nil && before != nil && after[0] != nil && !reflect.DeepEqual(before.Attempts, after[0].Attempts) {
		w.breaks("unreadable", "run %s could not be read and was blocked; it had the attempts %+v and has %+v", c.Run, before.Attempts, after[0].Attempts)
	}
}

// unreadableOften makes every fault one of a node that cannot read some runs.
func unreadableOften(p *plan) {
	p.Faults = nil
	for i := range 6 {
		p.Faults = append(p.Faults, fault{At: time.Duration(i) * 1500 * time.Millisecond, Kind: older, Node: 1 + i%len(p.Nodes), For: 700 * time.Millisecond})
	}
}

// overwriting lets a commit that blocks a run write what it says of attempts, which is nothing.
type overwriting struct{ store }

// Commit implements driver.Store.
func (s overwriting) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		if next := &commits[i].Next; next.Kind == driver.NextBlock {
			next.Kind, commits[i].InboxSeen = driver.NextPark, 1<<40 // which is as late as a block is
		}
	}
	return s.store.Commit(ctx, commits)
}
