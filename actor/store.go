package actor

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// Store is what runs need of the journal. None of its calls may block the caller but Begin, which
// only workers that execute steps use.
type Store interface {
	replay.Encoder
	// Now estimates the store's clock. The estimate is never ahead of it (J9).
	Now() time.Time
	// Submit writes a commit together with others that are submitted at about the same time, and
	// calls done once the outcome is known. Commits of one run are written in the order of their
	// submission. done runs on any goroutine, exactly once, and must be quick. The store owns the
	// commit's transaction, if it has one, and ends it whatever the outcome is.
	Submit(c driver.Commit, done func(driver.Outcome))
	// Load reads a history together with others that are asked for at about the same time. done is
	// called as for Submit.
	Load(r driver.LoadRequest, done func(driver.History, error))
	// Begin opens a transaction for a step. It may block until the pool of connections has one.
	Begin(ctx context.Context) (journal.Tx, error)
}
