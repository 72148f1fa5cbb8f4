package runtimetest_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// ledger is a server that heeds idempotency keys: what is entered twice with one key stands in it
// once.
type ledger struct {
	mu      sync.Mutex
	seen    map[string]bool
	entries []string
}

func (l *ledger) enter(what string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if key := workflow.IdempotencyKey(ctx); !l.seen[key] {
			if l.seen == nil {
				l.seen = map[string]bool{}
			}
			l.seen[key] = true
			l.entries = append(l.entries, what)
		}
		return what, nil
	}
}

func (l *ledger) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// want compares the entries, in whatever order they came.
func (l *ledger) want(e *runtimetest.Env, entries ...string) {
	e.Helper()
	got := l.list()
	slices.Sort(got)
	slices.Sort(entries)
	if !slices.Equal(got, entries) {
		e.Errorf("the ledger has %q, want %q", got, entries)
	}
}

// pause is how a step works that heeds its context.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
