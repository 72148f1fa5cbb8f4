package replay

import "github.com/reprise-run/reprise/internal/callsite"

// onlooker stands for the code that runs while no strand does: see ReadOnly.
var onlooker strand

// ReadOnly calls fn, which may look at the run but neither change it nor wait: such calls return
// ErrReadOnly or panic with it. It may be called by workflow code, and while the machine is at rest; then a call
// that would stop the machine panics instead. It does not recover from panics of fn.
func (m *Machine) ReadOnly(fn func()) {
	before := m.readOnly
	m.readOnly = true
	alone := m.running.CompareAndSwap(nil, &onlooker)
	defer func() {
		if m.readOnly = before; alone {
			m.running.Store(nil)
		}
	}()
	fn()
}

func (m *Machine) readOnlyError() error { return &readOnlyError{callsite.Caller()} }
