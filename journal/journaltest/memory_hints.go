package journaltest

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// watcher is one call of Watch.
type watcher struct {
	fn func(journal.Hint)
}

// memoryHints tells the peers at once, on the caller's goroutine.
type memoryHints struct{ m *Memory }

// Hints implements journal.Store. A hint of one peer reaches all others, before Notify returns.
func (m *Memory) Hints() journal.Hints { return memoryHints{m} }

// Notify implements journal.Hints.
func (h memoryHints) Notify(list []journal.Hint) {
	h.m.db.mu.Lock()
	var watchers []*watcher
	if !h.m.closed {
		for _, p := range h.m.db.peers {
			if p != h.m {
				watchers = append(watchers, p.watchers...)
			}
		}
	}
	h.m.db.mu.Unlock()
	for _, w := range watchers {
		for _, hint := range list {
			w.fn(journal.Hint{Kind: hint.Kind, Run: hint.Run, Node: hint.Node}) // the rest stays inside a process
		}
	}
}

// Watch implements journal.Hints.
func (h memoryHints) Watch(ctx context.Context, fn func(journal.Hint)) error {
	if _, err := h.m.enter(ctx); err != nil {
		return err
	}
	w := &watcher{fn: fn}
	h.m.watchers = append(h.m.watchers, w)
	h.m.db.mu.Unlock()
	fn(journal.Hint{Kind: journal.HintScan})
	defer func() {
		h.m.db.mu.Lock()
		defer h.m.db.mu.Unlock()
		h.m.watchers = slices.DeleteFunc(h.m.watchers, func(other *watcher) bool { return other == w })
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.m.done:
		return fmt.Errorf("watch hints: %w: the store is closed", journal.ErrUnavailable)
	}
}
