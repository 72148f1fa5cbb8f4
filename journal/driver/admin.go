package driver

import "github.com/reprise-run/reprise/journal"

// Kind is an operator's action on one run.
type AdminKind int

// The operator's actions.
const (
	AdminDelete    AdminKind = iota + 1 // forget a closed run; an open one is refused with ErrOpen
	AdminResume                         // make a blocked, quarantined or parked run visible now
	AdminTerminate                      // close an open run without running its code (RunTerminated)
)

// AdminAction is what an operator does to one run. Reason is kept with a termination, where the
// history shows it.
type AdminAction struct {
	Run    journal.RunID
	Kind   AdminKind
	Reason string
}
