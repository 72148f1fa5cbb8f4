package journal

import "time"

// ActorRuntime is who pauses a run one of whose steps may not be tried again, and who cancels one
// because a limit is full.
const ActorRuntime = "the runtime"

// AuditEntry is an action of an operator that has changed a run, a scope, a node or a view, or a
// pause of a run by itself (J12). It stays when the run is deleted.
type AuditEntry struct {
	Number   int64     // grows with time; a page begins before one
	Time     time.Time // the store's clock
	Actor    string    // who, as the program said, or ActorRuntime; empty if it did not
	Verb     string    // "pause", "resume", "set-labels", "set-priority", "retry", "reset", "skip", "edit", "fork", "terminate", "delete", "drain", "save-view", "delete-view", "set-limit", "remove-limit", "release-claim" or "cancel"
	Run      RunID     // zero for a scope, a node, a view or a limit, which Detail names
	Workflow string    // of the run or the scope; may be empty
	Reason   string    // as the operator gave it, or which step is exhausted; see AuditTextBytesMax
	Detail   string    // what the verb alone does not say
}

// AuditFilter selects entries of the audit. Zero fields select everything.
type AuditFilter struct {
	Run    RunID
	Actor  string // exact
	Verb   string // exact
	Before int64  // only entries with smaller numbers: the number of the last one of the page before
	Limit  int    // at most ListMax; 0 means ListDefault
}
