package sim

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// checkPolicies: no child is open behind its parent's end, but as it was started to be: asked to
// end, or left alone. One that is to be terminated ends with its parent. Nobody else is terminated.
func checkPolicies(f *finder) {
	for _, r := range f.runs {
		p := r.Run.Parent
		if p == nil || !r.Run.Status.Closed() {
			continue
		}
		parent := f.left(p.Run)
		outlived := parent != nil && parent.Run.Status.Closed() && (r.Run.ClosedAt.After(parent.Run.ClosedAt) || r.Run.Status == journal.Terminated)
		asked := slices.ContainsFunc(r.Messages, func(m journal.Message) bool { return m.Kind == journal.MessageCancel })
		switch {
		case r.Run.Status == journal.Terminated && (!outlived || p.Policy != journal.CloseTerminate || !r.Run.ClosedAt.Equal(parent.Run.ClosedAt)):
			f.breaks("%s was terminated, with policy %d", r, p.Policy)
		case outlived && p.Policy == journal.CloseTerminate && r.Run.Status != journal.Terminated:
			f.breaks("%s has outlived its parent, with policy %d", r, p.Policy)
		case outlived && p.Policy == journal.CloseCancel && !asked:
			f.breaks("%s has outlived its parent and was not asked to end", r)
		}
	}
}
