package clustertest

import (
	"context"
	"slices"
	"sync"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
)

// Intercepted is a store whose commits and loads a test can watch, delay or refuse.
type Intercepted struct {
	*postgres.Store
	Loaded func(answer []driver.History) // called with what each Load returns; set it before the store is used

	mu     sync.Mutex
	before func(ctx context.Context, commits []driver.Commit) error // guarded by mu
}

// BeforeCommit sets what is called before each Commit; nil calls nothing. An error becomes the
// answer of Commit, and nothing is written.
func (s *Intercepted) BeforeCommit(before func(ctx context.Context, commits []driver.Commit) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = before
}

// Commit writes also when ctx ends while the test delays it, as a request does that was on its way
// already.
func (s *Intercepted) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(ctx, commits); err != nil {
			return nil, err
		}
		ctx = context.WithoutCancel(ctx)
	}
	return s.Store.Commit(ctx, commits)
}

// Load shows the answer to the test.
func (s *Intercepted) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	answer, err := s.Store.Load(ctx, requests)
	if err == nil && s.Loaded != nil {
		s.Loaded(answer)
	}
	return answer, err
}

// Closes tells whether one of the commits ends its run.
func Closes(commits []driver.Commit) bool {
	return slices.ContainsFunc(commits, func(c driver.Commit) bool { return c.Terminal() != nil })
}
