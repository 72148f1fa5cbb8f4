package replay

import (
	"unsafe"

	"github.com/reprise-run/reprise/internal/callsite"
)

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
