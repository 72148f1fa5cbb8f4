package journal

import (
	"fmt"
	"time"
)

// Scope is a set of runs by where they are executed: those of a queue, of a workflow, or of one
// version of a workflow, also in one queue. A zero field stands for all; a scope has a queue or a
// workflow.
type Scope struct {
	Queue    string
	Workflow string
	Version  int32 // with a workflow only
}

// Covers tells whether the runs of a route are in the scope.
func (s Scope) Covers(r Route) bool {
	return (s.Queue == "" || s.Queue == r.Queue) && (s.Workflow == "" || s.Workflow == r.Workflow) &&
		(s.Version == 0 || s.Version == r.Version)
}

// Check refuses a scope that names nothing, or something that no route can have. The error wraps
// ErrInvalid.
func (s Scope) Check() error {
	switch {
	case s.Queue == "" && s.Workflow == "":
		return fmt.Errorf("a scope needs a queue or a workflow: %w", ErrInvalid)
	case s.Version < 0 || s.Version > 0 && s.Workflow == "":
		return fmt.Errorf("a scope has version %d: it must be positive, of a workflow that is named, or 0 for all: %w", s.Version, ErrInvalid)
	}
	if err := CheckText("queue", s.Queue, NameBytesMax); err != nil {
		return err
	}
	return CheckText("workflow", s.Workflow, NameBytesMax)
}

// String names the scope for people: queue "gpu", workflow "order" version 2.
func (s Scope) String() (text string) {
	if s.Queue != "" {
		text = fmt.Sprintf("queue %q", s.Queue)
	}
	if s.Workflow != "" {
		if text != "" {
			text += ", "
		}
		text += fmt.Sprintf("workflow %q", s.Workflow)
	}
	if s.Version != 0 {
		text += fmt.Sprintf(" version %d", s.Version)
	}
	return text
}

// Pause is the pause of a scope (J11): no step of a run in it starts on a node that has heeded it.
// It holds for whatever is in the scope, also if it comes later, and stays until somebody resumes
// the scope. Tasks do not show it: they are due, and nobody claims them.
type Pause struct {
	Scope      Scope
	Number     int64 // which no other pause has; a newer one has a larger one
	Interrupts bool  // attempts that are executed are interrupted
	Time       time.Time
	Actor      string
	Reason     string
	// Unheeded are nodes that may still start steps of the scope: they have not heard of the pause,
	// or have not said so yet. Without any the scope is paused.
	Unheeded []NodeID
}
