package record

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Audit is an action of an operator that has changed a run.
type Audit struct {
	Number   int64     `json:"number" doc:"number of the entry; it grows with time"`
	At       time.Time `json:"at" doc:"when"`
	Actor    string    `json:"actor,omitempty" doc:"who, as the program said"`
	Verb     string    `json:"verb" doc:"pause, resume, set-labels, set-priority, retry, reset, skip, edit, fork, terminate, delete, drain of a node, save-view, delete-view, set-limit, remove-limit, release-claim or cancel"`
	Run      string    `json:"run,omitempty" doc:"id of the run, which may be deleted by now; absent for a queue, a workflow, a node or a view, which detail names"`
	Workflow string    `json:"workflow" doc:"name of the workflow; empty for a queue, a node or a view"`
	Reason   string    `json:"reason,omitempty" doc:"why, as the operator said"`
	Detail   string    `json:"detail,omitempty" doc:"what the verb alone does not say"`
}

// AuditVerbs are the actions that have entries.
var AuditVerbs = []string{"pause", "resume", "set-labels", "set-priority", "retry", "reset", "skip", "edit", "fork", "terminate", "delete", "drain", "save-view", "delete-view", "set-limit", "remove-limit", "release-claim", "cancel"}

// AuditOf returns the record of an entry.
func AuditOf(e *journal.AuditEntry) Audit {
	rec := Audit{Number: e.Number, At: e.Time, Actor: e.Actor, Verb: e.Verb, Workflow: e.Workflow, Reason: e.Reason, Detail: e.Detail}
	if !e.Run.IsZero() {
		rec.Run = e.Run.String()
	}
	return rec
}

// RewindsMax is how many entries of a run's audit are looked at for [RewindsOf].
const RewindsMax = 100

// RewindsOf returns those entries that say when a run has gone back.
func RewindsOf(entries []journal.AuditEntry) (list []Audit) {
	for i := range entries {
		switch runtime.CallKind(entries[i].Verb) {
		case runtime.RetryCall, runtime.ResetCall, runtime.ForkCall, runtime.SkipCall, runtime.EditCall:
			list = append(list, AuditOf(&entries[i]))
		}
	}
	return list
}
