package record

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Scope is the answer to a pause or a resume of a queue or a workflow.
type Scope struct {
	Queue    string `json:"queue,omitempty" doc:"the queue; absent for all"`
	Workflow string `json:"workflow,omitempty" doc:"name of the workflow; absent for all"`
	Version  int32  `json:"version,omitempty" doc:"version of the workflow; absent for all"`
	Done     string `json:"done" doc:"what was done: paused or resumed"`
}

// ScopeOf says what was done to a scope.
func ScopeOf(s journal.Scope, done string) Scope {
	return Scope{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version, Done: done}
}

// Pause is the pause of a queue or a workflow.
type Pause struct {
	Queue      string    `json:"queue,omitempty" doc:"the queue; absent for all"`
	Workflow   string    `json:"workflow,omitempty" doc:"name of the workflow; absent for all"`
	Version    int32     `json:"version,omitempty" doc:"version of the workflow; absent for all"`
	At         time.Time `json:"at" doc:"since when"`
	Actor      string    `json:"actor,omitempty" doc:"who, as the program said"`
	Reason     string    `json:"reason,omitempty" doc:"why, as the operator said"`
	Interrupts bool      `json:"interrupts,omitempty" doc:"whether steps that are executed are interrupted"`
	Unheeded   []int32   `json:"unheeded,omitempty" doc:"numbers of the nodes that have not answered, and may still start steps"`
}

// PausesOf returns the records of pauses.
func PausesOf(list []journal.Pause) []Pause {
	out := []Pause{}
	for _, p := range list {
		rec := Pause{Queue: p.Scope.Queue, Workflow: p.Scope.Workflow, Version: p.Scope.Version, At: p.Time, Actor: p.Actor, Reason: p.Reason, Interrupts: p.Interrupts}
		for _, n := range p.Unheeded {
			rec.Unheeded = append(rec.Unheeded, int32(n))
		}
		out = append(out, rec)
	}
	return out
}

// pauses are the pauses of scopes, for listings of routes.
type pauses struct {
	list  []journal.Pause
	shown map[int64]bool
}

func newPauses(list []journal.Pause) *pauses { return &pauses{list: list, shown: map[int64]bool{}} }

// of says who has paused a route, and why; empty if nobody has.
func (p *pauses) of(r journal.Route) (text string) {
	for i := range p.list {
		if q := &p.list[i]; q.Scope.Covers(r) {
			p.shown[q.Number] = true
			if text != "" {
				text += "; "
			}
			text += pauseText(q)
		}
	}
	return text
}

// others are the pauses that cover no route that was asked for.
func (p *pauses) others() (list []journal.Pause) {
	for i := range p.list {
		if !p.shown[p.list[i].Number] {
			list = append(list, p.list[i])
		}
	}
	return list
}

func pauseText(p *journal.Pause) string {
	text := "by " + p.Actor
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	if n := len(p.Unheeded); n > 0 {
		text += fmt.Sprintf(" (%d nodes have not answered)", n)
	}
	return text
}
