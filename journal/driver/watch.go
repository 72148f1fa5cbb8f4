package driver

import (
	"context"
)

// Watch calls fn for every hint of this process and of others until ctx ends. fn must be quick; it
// is called from several goroutines.
func (j *Journal) Watch(ctx context.Context, fn func(Hint)) error {
	j.local.mu.Lock()
	id := j.local.next
	j.local.next++
	j.local.watchers[id] = fn
	j.local.mu.Unlock()
	defer func() {
		j.local.mu.Lock()
		defer j.local.mu.Unlock()
		delete(j.local.watchers, id)
	}()
	return j.store.Hints().Watch(ctx, func(h Hint) {
		if h.Kind == HintWaiter {
			if j.local.noteWaiter() {
				j.store.Hints().Notify([]Hint{{Kind: HintClosed}})
			}
			return
		}
		fn(h)
	})
}

// AnnounceWaiter tells other processes that this one waits for results. Repeat it every
// WaiterInterval while that is so.
func (j *Journal) AnnounceWaiter() { j.store.Hints().Notify([]Hint{{Kind: HintWaiter}}) }

// WaiterInterval is how often a waiter repeats itself.
const WaiterInterval = waiterTTL / 3
