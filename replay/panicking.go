package replay

import (
	"fmt"
	"unsafe"

	"github.com/reprise-run/reprise/internal/callsite"
)

// refusedMax bounds how many waits of one turn are refused: code may call again and again.
const refusedMax = 1000

// panicking tells whether the running strand is about to wait in a deferred call of a panic.
//
// Looking at all frames takes about a microsecond, too much for every step of a sequence. Frames of
// a panic come on top of the function that panicked, so where the stack is exactly as deep as at
// the wait before, which had none, there are none now. The exception is a panic whose frames
// replace exactly as much of other functions; such a wait is committed, as it would be without this
// check.
func (s *strand) panicking() bool {
	var here byte
	depth := uintptr(unsafe.Pointer(&here)) // it changes when the stack is moved: that costs another look
	if depth == s.checkedDepth {
		return false
	}
	if callsite.Panicking() {
		return true
	}
	s.checkedDepth = depth
	return false
}

// refuse is the answer to a wait in a deferred call of a panic. The turn is lost: a panic that goes
// on ends it at the end of the deferred call; if the call has recovered, the next proper wait does,
// or the strand's end.
func (d *sched) refuse() error {
	if d.failAtPark == nil {
		d.failAtPark = fmt.Errorf("%w%s", ErrPanicking, callsite.Caller().At())
	}
	if d.actions += d.budget / refusedMax; d.actions > d.budget {
		d.Abort(d.failAtPark)
	}
	return d.failAtPark
}
