package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Spoil is for tests: it makes what a run keeps in its stored form unreadable, and returns what
// mends it. See journaltest.Spoiler, whose parts are named by their texts here, because that
// package imports this one.
func (s *Store) Spoil(ctx context.Context, run journal.RunID, part string, n int) (func(context.Context) error, error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	r := s.db.runs[run]
	if r == nil {
		return nil, journal.ErrNotFound
	}
	switch part {
	case "attempts":
		return spoil(s, &r.attempts, []byte(`{"v":2}`), func(a, b []byte) bool { return string(a) == string(b) }), nil
	case "priority":
		return spoil(s, &r.run.Priority, 6, same), nil
	case "timeout":
		return spoil(s, &r.run.Timeout, -5, same), nil
	case "attempts made":
		return spoil(s, &r.attempts, []byte(`[{"cmd":3,"made":-1}]`), func(a, b []byte) bool { return string(a) == string(b) }), nil
	case "version":
		return spoil(s, &r.run.Version, -1, same), nil
	case "parent_policy":
		return spoil(s, &r.run.Parent.Policy, 9, same), nil
	case "event cmd":
		return spoil(s, &r.events[n-1].Cmd, -1, same), nil
	case "event attempt":
		return spoil(s, &r.events[n-1].Attempt, -1, same), nil
	case "message cmd":
		return spoil(s, &r.inbox[n-1].Cmd, -1, same), nil
	case "task strikes":
		return spoil(s, &r.task.Strikes, -1, same), nil
	case "task turn":
		return spoil(s, &r.task.Turn, -1, same), nil
	case "kind":
		return spoil(s, &r.events[n-1].Kind, 99, same), nil
	case "message":
		return spoil(s, &r.inbox[n-1].Kind, 77, same), nil
	}
	return nil, fmt.Errorf("memory keeps %s as it is: %w", part, errors.ErrUnsupported)
}

func same[T comparable](a, b T) bool { return a == b }

// spoil writes a value to a place and returns what undoes it.
func spoil[T any](s *Store, at *T, bad T, equal func(a, b T) bool) func(context.Context) error {
	good := *at
	*at = bad
	return func(ctx context.Context) error {
		if _, err := s.enter(ctx); err != nil {
			return err
		}
		defer s.db.mu.Unlock()
		if !equal(*at, bad) {
			return fmt.Errorf("memory: %v was written over %v", *at, bad)
		}
		*at = good
		return nil
	}
}
