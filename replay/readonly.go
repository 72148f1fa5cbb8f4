package replay

import (
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/goroutine"
)

// ReadOnly calls fn, which may look at the run but neither change it nor wait: such calls return
// ErrReadOnly or panic with it. It may be called by workflow code, and while the machine is at
// rest; then a call that would stop the machine panics instead, and the machine's onlooker stands
// for the code that runs, on the caller's goroutine. It does not recover from panics of fn.
func (d *sched) ReadOnly(fn func()) {
	before := d.readOnly
	d.readOnly = true
	alone := d.running.Load() == nil
	if alone {
		if d.onlooker == nil {
			d.onlooker = new(strand)
		}
		d.onlooker.visitor.Store(goroutine.ID())
		d.running.Store(d.onlooker)
	}
	defer func() {
		if d.readOnly = before; alone {
			d.running.Store(nil)
		}
	}()
	fn()
}

// MarkExternal notes that code looked at something that comes from outside of the run's code: the
// tests of Scope.Until that do can come true without another strand's doing, so a strand that waits
// for one is not stuck.
func (d *sched) MarkExternal() {
	if d.readOnly {
		d.readsExternal = true
	}
}

func (d *sched) readOnlyError() error { return &readOnlyError{callsite.Caller()} }
