package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// watcher is one call of Watch. It is a pointer's target, so that two watches with equal functions
// can be told apart when one of them ends.
type watcher struct {
	fn func(driver.Hint)
}

// hints notifies the peers at once, on the caller's goroutine. Functions are called without the
// database's lock: they may call the store.
type hints struct{ s *Store }

// Hints implements driver.Store. A hint of one peer reaches all others, before Notify returns.
func (s *Store) Hints() driver.Hints { return hints{s} }

// Notify implements driver.Hints.
func (h hints) Notify(list []driver.Hint) {
	h.s.db.mu.Lock()
	var watchers []*watcher
	// A process that is dead says nothing any more.
	if !h.s.closed {
		for _, p := range h.s.db.peers {
			if p != h.s {
				watchers = append(watchers, p.watchers...)
			}
		}
	}
	h.s.db.mu.Unlock()
	// In the order of processes and of their watches: a simulation must not depend on chance.
	for _, w := range watchers {
		for _, hint := range list {
			w.fn(driver.Hint{Kind: hint.Kind, Run: hint.Run, Node: hint.Node}) // the rest stays inside a process
		}
	}
}

// Watch implements driver.Hints. The first hint is always a scan: what happened before the watch
// began was announced to nobody.
func (h hints) Watch(ctx context.Context, fn func(driver.Hint)) error {
	if _, err := h.s.enter(ctx); err != nil {
		return err
	}
	w := &watcher{fn: fn}
	h.s.watchers = append(h.s.watchers, w)
	h.s.db.mu.Unlock()
	// The watcher is registered, so nothing that happens from here on is missed.
	fn(driver.Hint{Kind: driver.HintScan})
	defer func() {
		h.s.db.mu.Lock()
		defer h.s.db.mu.Unlock()
		h.s.watchers = slices.DeleteFunc(h.s.watchers, func(other *watcher) bool { return other == w })
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.s.done:
		return fmt.Errorf("watch hints: %w", journal.ErrStoreClosed)
	}
}
