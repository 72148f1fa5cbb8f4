package replay

import (
	"fmt"
	"unsafe"

	"github.com/reprise-run/reprise/internal/callsite"
)

// panicking tells whether the strand, which runs, is about to wait in a deferred call of a panic. Looking at all frames takes about a
// microsecond, which is 6 % of what the driver of a chain of steps spends on one, so it is not done where the stack is as deep as at the
// wait before, as in loops and sequences of steps. Frames of a panic come on top of the function that panicked: only a wait before in
// exactly as much of other functions would hide them.
func (s *strand) panicking() bool {
	var here byte
	depth := uintptr(unsafe.Pointer(&here)) // it changes when the stack is moved: that costs another look
	if depth == s.calm {
		return false
	}
	if callsite.Panicking() {
		return true
	}
	s.calm = depth
	return false
}

// refusedMax bounds how many waits of one turn are refused: code may call again and again.
const refusedMax = 1000

// refuse is the answer to a wait in a deferred call of a panic. The turn is lost: if it is the code's panic that goes on, that
// ends it at the end of the call, else the next proper wait does, or the strand's end.
func (m *Machine) refuse() error {
	if m.doomed == nil {
		m.doomed = fmt.Errorf("%w%s", ErrPanicking, callsite.Caller().At())
	}
	if m.spent += spendMax / refusedMax; m.spent > spendMax {
		m.Abort(m.doomed)
	}
	return m.doomed
}
