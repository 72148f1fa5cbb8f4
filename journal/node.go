package journal

import (
	"encoding/json"
	"time"
)

// Type describes what a workflow, or a signal, an update or a query of it, takes and returns.
type Type struct {
	Kind string          `json:"kind"`           // one of the constants Type…
	Name string          `json:"name,omitempty"` // of the signal, update or query
	In   json.RawMessage `json:"in,omitempty"`   // JSON Schema of the input, payload or argument; nil for one that has none
	Out  json.RawMessage `json:"out,omitempty"`  // likewise of the output, answer or result
}

// What a Type is of.
const (
	TypeWorkflow = "workflow"
	TypeSignal   = "signal"
	TypeUpdate   = "update"
	TypeQuery    = "query"
)

// Node is one process incarnation.
type Node struct {
	ID     NodeID
	Name   string // for people; need not be unique
	Routes []Route
	// Signals are the names of all signals that a workflow of a route receives. A route that is not
	// a key may receive any. The map is not changed any more.
	Signals map[Route][]string
	// Types describe what a workflow of a route takes and returns, for forms. What is not there is
	// not known. The map is not changed any more.
	Types map[Route][]Type
	Lease time.Duration
	// Grace is for how long the others must have seen no session of the node's process before they
	// take its runs, although its lease lasts. It is the node's own promise, and each node is
	// judged by its own: it has stopped its steps when it has had no answer on any session for
	// Grace.
	//
	// The promise is why a step does not run on two nodes at once. If no session of the node is
	// left at one moment, what the node was answered was sent before that moment, so it has stopped
	// Grace after the moment at the latest. The others begin to count no earlier than at the
	// moment, and count as long. No clock is compared with another; only their pace must be the
	// same.
	Grace     time.Duration
	StartedAt time.Time
	ExpiresAt time.Time
	Draining  bool // an operator has asked the node to hand back what it has, and to leave
}
