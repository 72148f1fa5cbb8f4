package driver

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Strikes are how the journal finds out which run kills its owners. Each death of an owner is a
// strike against every run that it owned, and a commit wipes the strikes of its run out. One poison
// run therefore collects them, while the bystanders, which were owned by the same nodes, commit
// sooner or later and start over. A driver keeps the count in the task and changes it in the
// statement that frees the task, so two reapers cannot count one death twice.

// QuarantineStrikes is how many owners in a row may die under a run, none of them committing for
// it, before it is quarantined: an innocent bystander of ten node deaths would have to meet all
// ten within one step.
const QuarantineStrikes = 10

// From BackoffStrikes deaths on a task waits before it can be claimed again, and each further death
// doubles the wait, at most to BackoffMax: a run that kills every node that touches it leaves the
// cluster time to start nodes again between two deaths.
const (
	BackoffStrikes = 4
	BackoffMax     = time.Minute
)

// StrikeDelay returns how long a task stays invisible after that many strikes.
func StrikeDelay(strikes int) time.Duration {
	if strikes < BackoffStrikes {
		return 0
	}
	return min(BackoffMax, 2*time.Second<<(strikes-BackoffStrikes))
}

// QuarantineProblem returns what operators read of a run that is quarantined.
func QuarantineProblem(strikes int, last journal.NodeID) string {
	return fmt.Sprintf("its owner died %d times in a row before the run committed anything, the last time on node %d",
		strikes, last)
}
