package runtime

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// why makes the reasons out of what is stored. It says nothing that is not: where nobody knows
// since when, there is no time.
type why struct {
	d       *Description
	events  []journal.Event      // of the present generation, without payloads
	paused  []journal.AuditEntry // of a run that is on hold: the newest pause
	scopes  []journal.Pause      // that are paused
	nodes   []journal.Node
	limits  *limitWaits                    // what it and its steps wait for
	holders map[journal.RunID]*journal.Run // of that
	now     time.Time
	told    map[journal.InboxSeq]bool // messages that a reason has named
	reasons []Reason
}

func (w *why) add(r Reason) { w.reasons = append(w.reasons, r) }

// ahead is a time that is still to come, else the zero time.
func (w *why) ahead(at time.Time) time.Time {
	if at.After(w.now) {
		return at
	}
	return time.Time{}
}

// served tells whether a live node serves a route, and which versions of the workflow live nodes
// serve in that queue.
func (w *why) served(route journal.Route) (served bool, versions []int32) {
	for i := range w.nodes {
		if !w.nodes[i].ExpiresAt.After(w.now) {
			continue
		}
		for _, r := range w.nodes[i].Routes {
			served = served || r == route
			if r.Workflow == route.Workflow && r.Queue == route.Queue {
				versions = append(versions, r.Version)
			}
		}
	}
	slices.Sort(versions)
	return served, slices.Compact(versions)
}
