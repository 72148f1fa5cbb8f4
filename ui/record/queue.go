package record

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Queue is what waits for a node on one route.
type Queue struct {
	Queue    string     `json:"queue" doc:"the queue"`
	Workflow string     `json:"workflow" doc:"name of the workflow"`
	Version  int32      `json:"version" doc:"version of the workflow"`
	Due      int        `json:"due" doc:"runs that wait for a node now"`
	Capped   bool       `json:"capped,omitempty" doc:"whether there are more: counting ends at 10000 of a priority"`
	OldestAt *time.Time `json:"oldest_at,omitempty" doc:"since when the one that has waited for longest is due"`
	Nodes    []string   `json:"nodes" doc:"names of the live nodes that serve it"`
	Paused   string     `json:"paused,omitempty" doc:"who has paused it, and why"`
}

func (q *Queue) route() journal.Route {
	return journal.Route{Queue: q.Queue, Workflow: q.Workflow, Version: q.Version}
}

// QueuesOf joins what waits with who serves it, and what is paused of it, also if nothing waits.
func QueuesOf(waits []driver.Backlog, nodes []journal.Node, pauses []journal.Pause) []Queue {
	list, left := waiting(waits, nodes), newPauses(pauses)
	for i := range list {
		list[i].Paused = left.of(list[i].route())
	}
	for _, q := range left.others() {
		list = append(list, Queue{Queue: q.Scope.Queue, Workflow: q.Scope.Workflow, Version: q.Scope.Version, Nodes: []string{}, Paused: pauseText(&q)})
	}
	return list
}

// waiting joins what waits with who serves it.
func waiting(waits []driver.Backlog, nodes []journal.Node) []Queue {
	list := []Queue{}
	served := servedBy(nodes)
	for _, b := range waits {
		r := Queue{Queue: b.Route.Queue, Workflow: b.Route.Workflow, Version: b.Route.Version, Due: b.Due, Capped: b.Due >= driver.BacklogDueMax,
			OldestAt: Moment(b.Oldest), Nodes: []string{}}
		served = slices.DeleteFunc(served, func(s Served) bool {
			same := s.route() == b.Route
			if same {
				r.Nodes = s.Nodes
			}
			return same
		})
		list = append(list, r)
	}
	for _, s := range served {
		list = append(list, Queue{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version, Nodes: s.Nodes})
	}
	return list
}
