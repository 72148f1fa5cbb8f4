package bulk

// Verb is what a job does to each run: what the method of runtime.Client does.
type Verb string

// The verbs.
const (
	Cancel    Verb = "cancel"
	Terminate Verb = "terminate"
	Pause     Verb = "pause"
	Resume    Verb = "resume"
	Signal    Verb = "signal"
	Delete    Verb = "delete"

	SetLabels   Verb = "set-labels"
	SetPriority Verb = "set-priority"

	Retry Verb = "retry"
	Reset Verb = "reset"
	Fork  Verb = "fork" // each into a run without a key
	Edit  Verb = "edit"
	Skip  Verb = "skip"
)

// known tells whether the verb is one of those above.
func (v Verb) known() bool {
	switch v {
	case Cancel, Terminate, Pause, Resume, Signal, Delete, SetLabels, SetPriority, Retry, Reset, Fork, Edit, Skip:
		return true
	}
	return false
}

// audited tells whether the verb leaves an entry in the audit (J12). The others are messages, which
// a run takes once (J5).
func (v Verb) audited() bool { return v != Cancel && v != Signal }
