package driver

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Backlog is what waits for a node on one route: free tasks that are neither quarantined nor
// paused.
type Backlog struct {
	Route journal.Route
	// Due is how many wait now. At most BacklogDueMax of each priority are counted, so that the
	// question costs no more when it matters most.
	Due int
	// Oldest is since when the one that has waited for longest is due; zero if none is.
	Oldest time.Time
}

// What is counted of a backlog. Routes beyond the limit are left out: queues come from callers.
const (
	BacklogDueMax    = 10_000
	BacklogRoutesMax = 1_000
)
