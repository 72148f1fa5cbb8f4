package runtimetest

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest"
)

// connection is a process's connection to the store.
type connection struct{ *journaltest.Memory }

// Hints implements journal.Store.
func (c connection) Hints() journal.Hints { return hints{c.Memory.Hints()} }

// hints lose nothing, because nobody polls here.
type hints struct{ journal.Hints }

// Watch implements journal.Hints. What happened before the watch began is caught up with. The bubble's clock moves on only when
// everyone is at rest, so by then the watch has begun.
func (h hints) Watch(ctx context.Context, fn func(journal.Hint)) error {
	scan := time.AfterFunc(time.Nanosecond, func() { fn(journal.Hint{Kind: journal.HintScan}) })
	defer scan.Stop()
	return h.Hints.Watch(ctx, fn)
}
