package replay

import (
	"errors"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/goroutine"
)

// ReadOnly calls fn, which may look at the run but neither change it nor wait: such calls return
// ErrReadOnly or panic with it. It returns the first refusal that fn did not see, because it went
// into a future: see Unseen. What was asked for was not done, and somebody must hear of it, so the
// caller makes the refusal its own outcome.
//
// It may be called by workflow code, and while the machine is at rest; then a call that would stop
// the machine panics instead, and the machine's onlooker stands for the code that runs, on the
// caller's goroutine. It does not recover from panics of fn.
func (d *sched) ReadOnly(fn func()) (refused error) {
	before, refusedBefore := d.readOnly, d.refused
	d.readOnly, d.refused = true, nil
	alone := d.running.Load() == nil
	if alone {
		if d.onlooker == nil {
			d.onlooker = new(strand)
		}
		d.onlooker.visitor.Store(goroutine.ID())
		d.running.Store(d.onlooker)
	}
	defer func() {
		refused = d.refused
		if d.readOnly, d.refused = before, refusedBefore; alone {
			d.running.Store(nil)
		}
	}()
	d.reading(fn)
	return nil
}

// readers holds, for a goroutine that runs code in read-only mode, the *sched of the machine that
// the code looks at. It is for verbs of things that belong to no run yet, such as a promise nobody
// has waited for: they have no machine to ask.
var readers goroutine.Local

// reading calls fn with the goroutine among the readers. What is read-only within fn is so for
// nothing: a thousand predicates that are tested one after the other enter one reader.
func (d *sched) reading(fn func()) {
	if d.reads {
		fn()
		return
	}
	before := readers.Swap(d)
	d.reads = true
	defer func() {
		d.reads = false
		readers.Swap(before)
	}()
	fn()
}

// Unbound returns nil for code that may change a thing which belongs to no run yet: an error that
// matches ErrReadOnly if the caller's goroutine runs code that may only read, of whichever run.
func Unbound() error {
	if d, reading := readers.Get().(*sched); reading {
		return d.refuseReadOnly()
	}
	return nil
}

// MarkExternal notes that code looked at something that comes from outside of the run's code: the
// tests of Scope.Until that do can come true without another strand's doing, so a strand that waits
// for one is not stuck.
func (d *sched) MarkExternal() {
	if d.readOnly {
		d.readsExternal = true
	}
}

// refuseReadOnly is the answer to a call that read-only code must not make.
func (d *sched) refuseReadOnly() error { return &readOnlyError{d, callsite.Caller()} }

// Unseen notes that the code does not see an error at once, because it goes into a future, which
// the code may drop. If the error is a refusal of read-only code, the caller of ReadOnly gets it.
func Unseen(err error) {
	if e, ok := errors.AsType[*readOnlyError](err); ok && e.by.refused == nil {
		e.by.refused = err
	}
}

// orRefused is what code in read-only mode came to: its own error, or the refusal that it did not
// see.
func orRefused(err, refused error) error {
	if refused == nil || errors.Is(err, ErrReadOnly) {
		return err
	}
	return refused
}
