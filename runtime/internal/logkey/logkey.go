// Package logkey holds the keys of log records and span attributes. Everything that names the same
// thing uses the same key, in logs, traces and metrics alike.
package logkey

// The keys. Alerts and dashboards of operators depend on them, so they are never changed. All but
// error begin with the name of the module, because the records of an application are in the same
// log.
const (
	Node       = "reprise.node"      // id of the node's present membership
	NodeName   = "reprise.node_name" // NodeOptions.Name
	Run        = "reprise.run"
	RunKey     = "reprise.key"
	Workflow   = "reprise.workflow"
	Version    = "reprise.version"
	Queue      = "reprise.queue"
	Step       = "reprise.step"
	Signal     = "reprise.signal"
	Attempt    = "reprise.attempt" // from 1
	Generation = "reprise.generation"
	Status     = "reprise.status"  // of a closed run
	Verb       = "reprise.verb"    // of a call of the store
	Outcome    = "reprise.outcome" // "ok" or "failed"
	Live       = "reprise.live"    // runs that the node owns
	ErrorType  = "error.type"      // OpenTelemetry's own key: the type of a failure
	Error      = "error"
	At         = "at" // a line of user code
)

// DoesNotAwait is the message about workflow code that blocks or computes for long. The test kit
// looks for it.
const DoesNotAwait = "workflow code does not await: put into a step what blocks or computes for long; other runs go on"
