package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// AdminKind is an operator's action on one run.
type AdminKind int

// The operator's actions.
const (
	AdminDelete    AdminKind = iota + 1 // forget a closed run; an open one is refused with ErrOpen
	AdminResume                         // make a blocked, quarantined or parked run visible now
	AdminTerminate                      // close an open run without running its code (RunTerminated)
)

// String is the action as callers know it.
func (k AdminKind) String() string {
	switch k {
	case AdminDelete:
		return "delete"
	case AdminResume:
		return "resume"
	case AdminTerminate:
		return "terminate"
	}
	return fmt.Sprintf("admin action %d on", int(k))
}

// AdminAction is what an operator does to one run. Reason may be any text, as that of a cancel
// request; it is kept with a termination, where the history shows it.
type AdminAction struct {
	Run    journal.RunID
	Kind   AdminKind
	Reason string
}
