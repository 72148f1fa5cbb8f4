package sim

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// edits adds changes of labels and priorities to a plan. They come from a generator of their own, as
// pauses do.
func (p *plan) edits() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0xed17))}
	if m.IntN(2) == 0 {
		return
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		for range m.IntN(4) {
			s := send{At: m.between(0, 9*time.Second), Do: sendLabel}
			if m.IntN(3) == 0 {
				s.Do, s.Priority = sendPriority, journal.PriorityMin+m.IntN(journal.PriorityMax)
			}
			r.Sends = append(r.Sends, s)
		}
		slices.SortStableFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	}
}

// labelPrefix begins the names of labels that operators set. Each is set once, and nobody removes it.
const labelPrefix = "operator "

// label sets a label that the run must have for ever.
func (w *world) label(r *running, n int) {
	name := fmt.Sprint(labelPrefix, n)
	set := w.insist("set labels", func(ctx context.Context) error {
		return w.clients[0].client.SetLabels(ctx, w.idOf(r), map[string]string{name: "set"}, []string{"never"})
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if set {
		r.labels = append(r.labels, name)
	}
}

func (w *world) prioritize(r *running, priority int) {
	w.insist("set priority", func(ctx context.Context) error {
		return w.clients[0].client.SetPriority(ctx, w.idOf(r), int16(priority))
	})
}

// edited tells whether an operator has changed the row of a run.
func edited(before, after *journal.Run) bool {
	return !maps.Equal(before.Labels, after.Labels) || before.Priority != after.Priority
}

// ownLabels are those that the code has set.
func (s *settled) ownLabels() map[string]string {
	own := maps.Clone(s.Run.Labels)
	maps.DeleteFunc(own, func(name, _ string) bool { return strings.HasPrefix(name, labelPrefix) })
	return own
}

// checkEdits: what an operator has set is there, whatever the run's owners have written since, unless
// the database has gone back. Task and run agree on the priority.
func checkEdits(f *finder) {
	for _, s := range f.runs {
		for _, name := range s.labels {
			if f.now() == 0 && s.Run.Labels[name] != "set" {
				f.breaks("%s: label %q that an operator has set is not among %v", s, name, s.Run.Labels)
			}
		}
		if t := s.Run.Task; t != nil && t.Priority != s.Run.Priority {
			f.breaks("%s has priority %d, and its task %d", s, s.Run.Priority, t.Priority)
		}
	}
}
