package driver

import "github.com/reprise-run/reprise/journal"

// LoadRequest asks for a run's history, or for the part of it that the caller has not seen. A node
// that kept its machine asks with AfterSeq and AfterInbox, one that only serves messages with
// InboxOnly, and a caller that waits for an update with Answer.
type LoadRequest struct {
	Run        journal.RunID
	AfterSeq   journal.Seq      // only events behind this one, of the current generation
	AfterInbox journal.InboxSeq // only unconsumed messages behind this one
	InboxOnly  bool             // no events
	Limit      int              // events at most; 0 for all
	// Answer asks for the reply to this update; 0 for none. Of the run there is nothing but what
	// tells why there is no reply: id, status, terminal event, and state and problem of the task.
	Answer journal.InboxSeq
}

// History is what is known of a run, as of one moment. Run.Task, Events and Inbox agree with each
// other: a store reads them from one snapshot, since an event that consumes a message must not
// appear beside the message that it consumed.
type History struct {
	Run    journal.Run       // Terminal only for an Answer request; Task is set while it is open
	Events []journal.Event   // in order; payloads of consumed messages are filled in
	Inbox  []journal.Message // in order: messages that are not consumed (J5), behind AfterInbox, at most InboxLoadMax
	Answer *journal.Answer   // the reply asked for; nil while there is none
	// Err is journal.ErrNotFound, or a *journal.UnreadableError: then the other fields hold what
	// can be read, Events up to the first one that cannot.
	Err error
}
