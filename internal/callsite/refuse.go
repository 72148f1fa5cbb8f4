package callsite

import (
	"runtime"
	"strings"
)

// seers are functions that see a panic of what they call: the engine's, which recover from it and
// say whose it is, and those whose goroutine belongs to the program and not to workflow code.
var seers = []string{
	engine + "replay.(*Machine).", engine + "replay/internal/coro.", engine + "actor.", "testing.tRunner", "main.main",
}

// Refuse ends a call that was made where it may not be made, and that has no error to return. It
// panics with err if somebody sees the panic. A goroutine that workflow code has started has nobody
// who would: a panic there ends the process, with all runs in it. So it ends that goroutine alone,
// as runtime.Goexit does; its deferred calls run. It does not return.
func Refuse(err error) {
	if seen() {
		panic(err)
	}
	runtime.Goexit()
}

// seen tells whether one of the seers is below on the stack. They are at its far end, so all of it
// is read, however deep the calls of workflow code are.
func seen() bool {
	pcs := make([]uintptr, 1<<8)
	n := runtime.Callers(2, pcs)
	for n == len(pcs) {
		pcs = make([]uintptr, 4*len(pcs))
		n = runtime.Callers(2, pcs)
	}
	frames := runtime.CallersFrames(pcs[:n])
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		for _, s := range seers {
			if strings.HasPrefix(f.Function, s) {
				return true
			}
		}
	}
	return false
}
