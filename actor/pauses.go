package actor

import (
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
)

// pauses are those of scopes. The executor looks at them after it has marked an attempt as begun,
// and whoever changes them looks at no attempt: so a body either has begun before the change, or
// does not begin.
type pauses struct {
	list atomic.Pointer[[]journal.Pause] // nil for none, which is so nearly always
}

func (p *pauses) set(list []journal.Pause) {
	if len(list) == 0 {
		p.list.Store(nil)
		return
	}
	p.list.Store(&list)
}

// inScope returns the pause that a run is in, nil for none: one that interrupts, if there is one.
func (p *pauses) inScope(run *journal.Run) (found *journal.Pause) {
	list := p.list.Load()
	if list == nil {
		return nil
	}
	route := journal.Route{Queue: run.Queue, Workflow: run.Workflow, Version: run.Version}
	for i := range *list {
		if q := &(*list)[i]; q.Scope.Covers(route) && (found == nil || q.Interrupts) {
			found = q
		}
	}
	return found
}
