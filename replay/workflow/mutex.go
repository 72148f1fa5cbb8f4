package workflow

import "github.com/reprise-run/reprise/internal/callsite"

// Mutex keeps strands out of each other's way over several waits; between two waits no other
// strand runs anyway. It is fair: strands get it in the order in which they asked. The zero Mutex
// is unlocked. It must not be copied. It is not in the history, and is no lock against other
// runs.
type Mutex struct {
	Name string // for people who look at what a run waits for; may be empty

	binding
	locked  bool
	waiting waitQueue[none]
}

// Lock waits until the mutex is free and takes it. It returns the scope's error if that is
// cancelled first; the mutex is not taken then. A strand that locks it twice waits for itself.
func (mu *Mutex) Lock(ctx Context) error {
	if _, err := mu.use(ctx); err != nil {
		return err
	}
	if !mu.locked {
		mu.locked = true
		return nil
	}
	return mu.waiting.await(ctx, new(waiter[none]), named("mutex", mu.Name))
}

// TryLock takes the mutex if it is free, and reports whether it did. Outside of workflow code it
// panics with ErrOutside.
func (mu *Mutex) TryLock(ctx Context) bool {
	if _, err := mu.use(ctx); err != nil {
		callsite.Refuse(err)
	}
	if mu.locked {
		return false
	}
	mu.locked = true
	return true
}

// Unlock hands the mutex to the strand that has waited longest, or frees it. Any strand may call
// it. It panics if the mutex is not locked.
func (mu *Mutex) Unlock() {
	mu.check()
	if !mu.locked {
		panic("workflow: unlock of a mutex that is not locked")
	}
	if w := mu.waiting.head(); w != nil {
		w.serve(mu.env)
		return
	}
	mu.locked = false
}
