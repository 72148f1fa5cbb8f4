package journaltest

import (
	"context"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/model"
)

// check is one test of the suite. The guarantee that it is about begins its name.
type check struct {
	name string
	run  func(*kit)
}

// Rusher is implemented by a store under test that can make a waiting task due at once, by ageing
// its row. It saves the tests the back-off of runs whose owners die.
type Rusher interface {
	Rush(ctx context.Context, run journal.RunID) error
}

// Expirer is implemented by a store under test that can let a node's lease run out at once, by
// ageing its row.
type Expirer interface {
	Expire(ctx context.Context, node journal.NodeID) error
}

// Run checks a back end. Each sub-test calls open for a store on a database of its own, which
// open's t closes and drops. Sub-tests run in parallel.
func Run(t *testing.T, open func(t *testing.T) driver.Store) {
	for _, c := range suite() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(newKit(t, open(t)))
		})
	}
}

// All checks a back end with everything there is: the suite of [Run], once more amid others, the
// scenario of [Faults] and the programs of package model. The store should be a [Rusher] and an
// [Expirer] too, and must be a [Spoiler].
func All(t *testing.T, open func(t *testing.T) driver.Store) {
	t.Run("Contract", func(t *testing.T) {
		t.Parallel()
		Run(t, open)
	})
	t.Run("Amid", func(t *testing.T) {
		t.Parallel()
		amid(t, open)
	})
	t.Run("Faults", func(t *testing.T) {
		t.Parallel()
		Faults(t, open)
	})
	t.Run("Model", func(t *testing.T) {
		t.Parallel()
		model.Run(t, open, nil)
	})
}

func suite() []check {
	return slices.Concat(
		historyChecks, headChecks, ownerChecks, holdingChecks, resubmitChecks, inboxChecks, wakeChecks, closeChecks, startChecks,
		childChecks, policyChecks, signalChecks, replyChecks, continueChecks, publishChecks, relabelChecks,
		startMessageChecks, claimChecks, clockChecks, loadChecks, pageChecks, endChecks, listChecks, findChecks,
		aggregateChecks, adminChecks, pauseChecks, freezeChecks, selfPauseChecks, scopeChecks, editChecks, rewindChecks,
		rewindChildrenChecks, amendChecks, forkChecks, auditChecks, onceChecks, memberChecks, strikeChecks, lostChecks, payloadChecks,
		limitChecks, claimLimitChecks, rateLimitChecks, runLimitChecks, limitSetChecks, limitHaltChecks, backlogChecks, unreadableChecks, shutChecks,
	)
}
