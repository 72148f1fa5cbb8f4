package replay

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"
)

// span is where the code of a function lies.
type span struct{ from, to uintptr }

func spanOf(entry uintptr) span {
	s := span{entry, entry}
	for f := runtime.FuncForPC(s.to); f != nil && f.Entry() == entry; f = runtime.FuncForPC(s.to) {
		s.to += 4 // functions begin at multiples of more
	}
	return s
}

func (s span) has(pc uintptr) bool { return s.from < pc && pc <= s.to }

// unwinders are the functions that call deferred functions although the code has not returned: of a panic and of Goexit.
var unwinders = func() (list [2]span) {
	list[0] = spanOf(reflect.ValueOf(runtime.Goexit).Pointer())
	defer func() {
		_ = recover()
		var pcs [8]uintptr
		frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
		for more := true; more; {
			var f runtime.Frame
			if f, more = frames.Next(); f.Function == "runtime.gopanic" {
				list[1] = spanOf(f.Entry)
			}
		}
	}()
	panic("to look at what calls this function's deferred one")
}()

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
	if panicking() {
		return true
	}
	s.calm = depth
	return false
}

// panicking tells whether the caller is below a deferred call that a panic or Goexit made. It cannot tell whether that call
// has recovered: Go shows that to nobody.
func panicking() bool {
	var few [64]uintptr
	pcs := few[:runtime.Callers(2, few[:])]
	if len(pcs) == len(few) {
		many := make([]uintptr, 1<<14)
		pcs = many[:runtime.Callers(2, many)]
	}
	for _, pc := range pcs {
		if unwinders[0].has(pc) || unwinders[1].has(pc) {
			return true
		}
	}
	return false
}

// refusedMax bounds how many waits of one turn are refused: code may call again and again.
const refusedMax = 1000

// refuse is the answer to a wait in a deferred call of a panic. The turn is lost: if it is the code's panic that goes on, that
// ends it at the end of the call, else the next proper wait does, or the strand's end.
func (m *Machine) refuse() error {
	if m.doomed == nil {
		m.doomed = fmt.Errorf("%w%s", ErrPanicking, caller().at())
	}
	if m.spent += spendMax / refusedMax; m.spent > spendMax {
		m.Abort(m.doomed)
	}
	return m.doomed
}
