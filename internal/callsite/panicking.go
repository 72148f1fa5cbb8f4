package callsite

import (
	"reflect"
	"runtime"
)

// span is where the code of a function lies in memory.
type span struct{ from, to uintptr }

func spanOf(entry uintptr) span {
	s := span{entry, entry}
	for f := runtime.FuncForPC(s.to); f != nil && f.Entry() == entry; f = runtime.FuncForPC(s.to) {
		s.to += 4 // functions begin at multiples of more
	}
	return s
}

func (s span) has(pc uintptr) bool { return s.from < pc && pc <= s.to }

// unwinders are the functions that call deferred functions although the code has not returned: of a
// panic and of Goexit. They are recognised by address, because comparing names would mean to
// resolve every frame. That of a panic cannot be named in Go, so it is found on the stack of one.
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

// Panicking tells whether the caller is below a deferred call that a panic or Goexit made. It
// cannot tell whether that call has recovered: Go shows that to nobody.
//
// It looks at every frame of the stack, for about a microsecond at usual depths.
func Panicking() bool {
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
