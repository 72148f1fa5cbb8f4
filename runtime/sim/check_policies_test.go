package sim

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// checkPolicies: no child is open behind its parent's end, but as it was started to be: asked to
// end, or left alone. One that is to be terminated ends with its parent. Nobody else is terminated.
// A parent that goes on after its end may end again, which says nothing to children that it started
// later.
func checkPolicies(f *finder) {
	for _, r := range f.runs {
		p := r.Run.Parent
		if p == nil || !r.Run.Status.Closed() {
			continue
		}
		var ends []end
		if parent := f.left(p.Run); parent != nil {
			ends = parent.ends()
		}
		with := slices.ContainsFunc(ends, func(e end) bool { return e.at.Equal(r.Run.ClosedAt) })
		outlived := r.Run.Status == journal.Terminated && with || slices.ContainsFunc(ends, func(e end) bool {
			return r.Run.ClosedAt.After(e.at) && !r.Run.CreatedAt.After(e.at) && r.wasOpen(e.at)
		})
		asked := slices.ContainsFunc(r.Messages, isCancel)
		switch {
		case r.Run.Status == journal.Terminated && (p.Policy != journal.CloseTerminate || !with):
			f.breaks("%s was terminated, with policy %d", r, p.Policy)
		case outlived && p.Policy == journal.CloseTerminate && r.Run.Status != journal.Terminated:
			f.breaks("%s has outlived its parent, with policy %d", r, p.Policy)
		case outlived && p.Policy == journal.CloseCancel && !asked:
			f.breaks("%s has outlived its parent and was not asked to end", r)
		}
	}
}

// wasOpen tells whether a run was open at a time since its start, which it was unless it had ended
// and nobody had gone back yet.
func (s *settled) wasOpen(at time.Time) bool {
	for _, b := range s.begins {
		if b.back != nil && b.back.closed != nil && b.back.a.Fork == nil && !b.back.closed.ClosedAt.After(at) && b.back.at.After(at) {
			return false
		}
	}
	return true
}
