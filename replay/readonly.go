package replay

import "github.com/reprise-run/reprise/internal/callsite"

// onlooker stands for the code that runs while no strand does: see ReadOnly. It is shared by all
// machines and never changed.
var onlooker strand

// ReadOnly calls fn, which may look at the run but neither change it nor wait: such calls return
// ErrReadOnly or panic with it. It may be called by workflow code, and while the machine is at
// rest; then a call that would stop the machine panics instead. It does not recover from panics of
// fn.
func (d *sched) ReadOnly(fn func()) {
	before := d.readOnly
	d.readOnly = true
	alone := d.running.CompareAndSwap(nil, &onlooker)
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
