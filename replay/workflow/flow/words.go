package flow

// Kind is what a node does.
type Kind string

// The kinds of nodes.
const (
	KindStep   Kind = "step"   // a step
	KindMap    Kind = "map"    // a step for each item of a list
	KindSignal Kind = "signal" // a wait for a signal
	KindTime   Kind = "time"   // a wait for a time
	KindCall   Kind = "call"   // another workflow, as a child
	KindFlow   Kind = "flow"   // another flow, as a child
	KindCode   Kind = "code"   // workflow code
)

// Mode says what becomes of the flow when a node's conditions do not hold, or when it has failed
// for good. The zero Mode is the default of the option.
type Mode string

// The modes.
const (
	Fail            Mode = "fail"             // the run fails
	Skip            Mode = "skip"             // the node is skipped, and its dependents go on without its result
	SkipDescendants Mode = "skip-descendants" // the node is skipped with everything that depends on it, however far
)

// Status is where a node of a run stands.
type Status string

// The statuses.
const (
	StatusWaiting   Status = "waiting" // for its parents
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusSkipped   Status = "skipped"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled" // it was under way when the run ended, or the flow failed
	StatusLeft      Status = "left"      // the run ended before it began
)

// Reason is why a node was skipped. Histories keep it, so reasons never change.
type Reason string

// The reasons.
const (
	ReasonUnmet  Reason = "condition_unmet"    // its conditions did not hold
	ReasonChange Reason = "change"             // it has come since, or was there until, see Options
	ReasonFailed Reason = "handler_failed"     // it failed for good
	ReasonParent Reason = "dependency_skipped" // a parent was skipped with its descendants
)

// The marks that a run leaves in its history. Histories keep them, so they never change.
const (
	ifSuffix    = " if" // the name of a record with the answer of a node's conditions
	markDone    = ": done"
	markSkipped = ": skipped, " // and the reason
	markFailed  = ": failed"
	shapePrefix = "flow." // the id of a change, and the shape's hash
)

// undoPrefix begins the names of steps that undo a node. No node's name has a space.
const undoPrefix = "undo "
