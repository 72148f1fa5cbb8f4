package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/internal/callsite"
)

// Semaphore bounds how much strands do at once. It is fair: strands are served in the order in
// which they asked, so one that wants much is not overtaken by those that want little. It must
// not be copied. It bounds the strands of one run, not of several.
type Semaphore struct {
	binding
	name    string
	size    int
	taken   int
	waiting waitQueue[int]
}

// NewSemaphore makes a semaphore of a size. The name is for people who look at what a run waits
// for, and may be empty. It panics if size is negative.
func NewSemaphore(size int, name string) *Semaphore {
	if size < 0 {
		panic("workflow: negative size of a semaphore")
	}
	return &Semaphore{size: size, name: name}
}

// Acquire waits until n of the semaphore are free and takes them. If it returns an error, nothing
// is taken.
//
// Errors: the scope's, if it is cancelled first; at once, if n is negative or more than the size.
func (s *Semaphore) Acquire(ctx Context, n int) error {
	if _, err := s.use(ctx); err != nil {
		return err
	}
	if n < 0 || n > s.size {
		return invalid("%s: cannot acquire %d of %d", named("semaphore", s.name), n, s.size)
	}
	if s.waiting.head() == nil && s.size-s.taken >= n {
		s.taken += n
		return nil
	}
	err := s.waiting.await(ctx, &waiter[int]{value: n}, named("semaphore", s.name))
	if err != nil {
		s.serve() // those after it may want less
	}
	return err
}

// TryAcquire takes n if they are free and nobody waits, and reports whether it did. Outside of
// workflow code it panics with ErrOutside.
func (s *Semaphore) TryAcquire(ctx Context, n int) bool {
	if _, err := s.use(ctx); err != nil {
		callsite.Refuse(err)
	}
	if n < 0 || s.size-s.taken < n || s.waiting.head() != nil {
		return false
	}
	s.taken += n
	return true
}

// Release gives n back. Any strand may call it. It panics if n is negative or more than what is
// taken.
func (s *Semaphore) Release(n int) {
	s.check()
	if n < 0 || n > s.taken {
		panic(fmt.Sprintf("workflow: release of %d of a semaphore of which %d are taken", n, s.taken))
	}
	s.taken -= n
	s.serve()
}

// serve lets strands go on in their order, as far as there is enough for them.
func (s *Semaphore) serve() {
	for w := s.waiting.head(); w != nil && s.size-s.taken >= w.value; w = s.waiting.head() {
		s.taken += w.value
		w.serve(s.env)
	}
}
