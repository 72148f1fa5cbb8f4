// Package coro runs a function in slices: it goes on when resumed and rests when it parks.
//
// It is built on iter.Pull, whose hand-off costs about half of a channel's, and hides three traps
// of it: a function that is never finished leaks its goroutine (so Unwind), a panic of the function
// surfaces in the resumer, and so does runtime.Goexit, which would end the resumer's goroutine.
package coro

import (
	"iter"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/reprise-run/reprise/internal/goroutine"
)

// swallowedMax is how often a function may recover from being unwound before its goroutine
// is ended in a way that cannot be recovered from.
const swallowedMax = 100

// crashFramesMax bounds Crash.PCs: user code may have panicked deep in what it calls.
const crashFramesMax = 256

// Crash tells how a function ended without returning.
type Crash struct {
	Value any // of the panic; nil for runtime.Goexit
	PCs   []uintptr
	Stack []byte
}

// The panics of this package: unwound ends a parked function, contained carries a crash out to the
// resumer. They are pointers, so that nobody else's panic equals them.
var unwound, contained = new(signal), new(signal)

type signal struct{ _ byte }

// Error lets a user's recover print something that explains itself.
func (*signal) Error() string {
	return "reprise: workflow code is being unwound; do not recover from this"
}

// Coro is a function that runs in slices. Its methods are for one goroutine at a time, but Here,
// which anybody may call.
type Coro struct {
	fn        func()
	next      func() (struct{}, bool)
	stop      func()
	yield     func(struct{}) bool
	crash     *Crash
	swallowed int
	traced    bool
	trace     []uintptr
	goroutine atomic.Int64 // the function's; 0 before the first Resume
}

// New returns a Coro that will run fn from its first Resume on.
func New(fn func()) *Coro { return &Coro{fn: fn} }

// Resume runs the function until it parks or ends. done tells that it has ended, crash why if it
// did not return.
func (c *Coro) Resume() (done bool, crash *Crash) {
	if c.next == nil {
		c.next, c.stop = iter.Pull(c.run)
	}
	defer func() {
		// Only the crash of run arrives here, and only from next.
		if v := recover(); v != nil {
			done, crash = true, c.crash
		}
	}()
	_, parked := c.next()
	return !parked, nil
}

// Here tells whether the caller is the function, which has a goroutine of its own. What iter.Pull
// does for a foreign goroutine that parks is not defined: it may panic, or take that goroutine for
// the function.
func (c *Coro) Here() bool { return c.goroutine.Load() == goroutine.ID() }

// Park rests until the next Resume. It is called by the function only.
func (c *Coro) Park() {
	if !c.yield(struct{}{}) {
		c.bail()
	}
}

// Unwind ends a parked function: its Park panics, its deferred calls run, and any Park in them
// panics too. It returns where the function was parked, as program counters.
func (c *Coro) Unwind(trace bool) (where []uintptr) {
	if c.stop == nil {
		return nil // never started: iter.Pull was not called, so there is nothing to free
	}
	c.traced = trace
	defer func() {
		_ = recover() // the function is gone, however it went
		where = c.trace
	}()
	c.stop()
	return nil
}

func (c *Coro) bail() {
	if c.traced && c.trace == nil {
		pcs := make([]uintptr, 32)
		c.trace = pcs[:runtime.Callers(3, pcs)]
	}
	if c.swallowed++; c.swallowed > swallowedMax {
		runtime.Goexit()
	}
	panic(unwound)
}

func (c *Coro) run(yield func(struct{}) bool) {
	c.yield = yield
	c.goroutine.Store(goroutine.ID())
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != unwound {
			pcs := make([]uintptr, crashFramesMax)
			c.crash = &Crash{Value: v, PCs: pcs[:runtime.Callers(2, pcs)], Stack: debug.Stack()}
		}
		// A goroutine that is in Goexit, now or below a panic that was just recovered, goes on
		// ending after this call. iter.Pull takes a panic for the cause then, and spares the
		// resumer.
		panic(contained)
	}()
	c.fn()
	returned = true
}
