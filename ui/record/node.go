package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Node is a live node.
type Node struct {
	ID        int32     `json:"id" doc:"number of the node"`
	Name      string    `json:"name" doc:"its name, for people"`
	StartedAt time.Time `json:"started_at" doc:"when it joined"`
	ExpiresAt time.Time `json:"expires_at" doc:"when its lease ends unless it is renewed; on SQLite, where a lease is in the memory of its process, one lease from now"`
	Lease     float64   `json:"lease_seconds" doc:"length of its lease"`
	Draining  bool      `json:"draining,omitempty" doc:"whether an operator has asked it to leave"`
	Routes    []Route   `json:"routes" doc:"what it serves"`
}

// Route is a workflow that a node serves.
type Route struct {
	Workflow string   `json:"workflow" doc:"name of the workflow"`
	Version  int32    `json:"version" doc:"version of the workflow"`
	Queue    string   `json:"queue" doc:"the queue"`
	Signals  []string `json:"signals,omitempty" doc:"all signals that it receives, if its code says so"`
}

// NodeOf returns the record of a node.
func NodeOf(n *journal.Node) Node {
	rec := Node{ID: int32(n.ID), Name: n.Name, StartedAt: n.StartedAt, ExpiresAt: n.ExpiresAt, Lease: n.Lease.Seconds(), Draining: n.Draining, Routes: []Route{}}
	for _, r := range n.Routes {
		rec.Routes = append(rec.Routes, Route{Workflow: r.Workflow, Version: r.Version, Queue: r.Queue, Signals: n.Signals[r]})
	}
	return rec
}

// NodesOf returns the records of nodes.
func NodesOf(nodes []journal.Node) []Node {
	list := []Node{}
	for i := range nodes {
		list = append(list, NodeOf(&nodes[i]))
	}
	return list
}

// Served is a workflow that live nodes serve.
type Served struct {
	Workflow string   `json:"workflow" doc:"name of the workflow"`
	Version  int32    `json:"version" doc:"version of the workflow"`
	Queue    string   `json:"queue" doc:"the queue"`
	Nodes    []string `json:"nodes" doc:"names of the live nodes that serve it"`
	Paused   string   `json:"paused,omitempty" doc:"who has paused it, and why"`
	Open     int      `json:"open,omitempty" doc:"if no live node serves it: open runs of it, of 10000 that were counted in all; the command alone counts them"`
}

// route is where the runs are executed that the record is about.
func (s *Served) route() journal.Route {
	return journal.Route{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version}
}

// ServedOf returns who serves what, and what of it is paused, also if nobody serves it.
func ServedOf(nodes []journal.Node, pauses []journal.Pause) []Served {
	list, left := servedBy(nodes), newPauses(pauses)
	for i := range list {
		list[i].Paused = left.of(list[i].route())
	}
	for _, q := range left.others() {
		list = append(list, Served{Queue: q.Scope.Queue, Workflow: q.Scope.Workflow, Version: q.Scope.Version, Nodes: []string{}, Paused: pauseText(&q)})
	}
	return list
}

// servedBy turns what each node serves round: who serves it.
func servedBy(nodes []journal.Node) []Served {
	byRoute := map[journal.Route]*Served{}
	list := []Served{}
	for i := range nodes {
		for _, r := range nodes[i].Routes {
			if byRoute[r] == nil {
				byRoute[r] = &Served{Workflow: r.Workflow, Version: r.Version, Queue: r.Queue}
			}
			byRoute[r].Nodes = append(byRoute[r].Nodes, nodes[i].Name)
		}
	}
	for _, s := range byRoute {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Served) int {
		return cmp.Or(cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Queue, b.Queue))
	})
	return list
}
