// Package goroutine tells goroutines apart.
//
// Go hides their identity on purpose: programs that hang state on it get into trouble. Here nothing
// hangs on it. The engine only asks whether a call comes from the goroutine that it gave to
// workflow code, so that any other one is refused before it touches what that code is using.
package goroutine

import (
	"runtime"

	"github.com/petermattis/goid"
)

// headerBytes holds the first line of a stack, which is all that is read of it: "goroutine 18446744
// [running]:".
const headerBytes = 64

// quick tells that goid reads the right word of the runtime's own record of a goroutine. The record
// may change with a release of Go; then the id is read from a stack, which takes a microsecond
// instead of two nanoseconds, and is right all the same.
var quick = agrees()

// ID returns a number that no other goroutine of this process has or will have. It is never 0.
func ID() int64 {
	if quick {
		return goid.Get()
	}
	return fromStack()
}

func fromStack() int64 {
	var header [headerBytes]byte
	return goid.ExtractGID(header[:runtime.Stack(header[:], false)])
}

// agrees compares both ways on two goroutines: a wrong word could be right by chance once.
func agrees() bool {
	other := make(chan bool)
	go func() { other <- goid.Get() == fromStack() }()
	return goid.Get() == fromStack() && <-other
}
