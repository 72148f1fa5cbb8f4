package api

import (
	"context"
	"errors"
	"sync"
	"time"
)

// shared keeps answers that cost much and are the same for every reader, so that the store is asked
// as often as for one reader, however many there are. Nothing is asked when nobody reads.
type shared struct {
	mu      sync.Mutex
	answers map[string]*sharedAnswer
}

// sharedAnswer is an answer that is there, or is being made.
type sharedAnswer struct {
	made  chan struct{} // closed when the rest is set
	value any
	err   error
	until time.Time // it is given to readers until then
}

func newShared() *shared { return &shared{answers: map[string]*sharedAnswer{}} }

// errUnmade is told to those who wait for a reader whose hooks have panicked.
var errUnmade = errors.New("who was to make the answer has not come to its end")

// get returns the answer with a name, and makes it if there is none that is new enough: it serves
// for a time, and for longer if it has taken long. The first reader makes it for those who ask
// meanwhile, also when it has given up itself. An error is told to those who wait, and is not kept.
func (s *shared) get(ctx context.Context, name string, serves, timeout time.Duration, create func(context.Context) (any, error)) (any, error) {
	s.mu.Lock()
	s.forget()
	a := s.answers[name]
	first := a == nil
	if first {
		a = &sharedAnswer{made: make(chan struct{}), err: errUnmade}
		s.answers[name] = a
	}
	s.mu.Unlock()
	if first {
		s.create(context.WithoutCancel(ctx), a, name, serves, timeout, create)
	}
	select {
	case <-a.made:
		return a.value, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *shared) create(ctx context.Context, a *sharedAnswer, name string, serves, timeout time.Duration, create func(context.Context) (any, error)) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		a.until = time.Now().Add(max(serves, sharedShare*time.Since(began)))
		if a.err != nil {
			delete(s.answers, name)
		}
		close(a.made)
	}()
	a.value, a.err = create(ctx)
}

// forget drops what is too old, and what is too much. The caller has locked.
func (s *shared) forget() {
	now := time.Now()
	for name, a := range s.answers {
		if !a.until.IsZero() && (now.After(a.until) || len(s.answers) > sharedMax) {
			delete(s.answers, name)
		}
	}
}
