package driver

import "github.com/reprise-run/reprise/journal"

// LoadRequest asks for a run's history.
type LoadRequest struct {
	Run        journal.RunID
	AfterSeq   journal.Seq      // only events behind this one, of the current generation
	AfterInbox journal.InboxSeq // only unconsumed messages behind this one
	InboxOnly  bool             // no events
	Limit      int              // events at most; 0 for all
	Answer     journal.InboxSeq // nothing but the run row, its terminal event and the reply to this update; 0 for none
}

// History is what is known of a run.
type History struct {
	Run    journal.Run       // Terminal only for an Answer request; Task is set while it is open
	Events []journal.Event   // in order; payloads of consumed messages are filled in
	Inbox  []journal.Message // in order: messages that are not consumed (J5), behind AfterInbox, at most InboxLoadMax
	Answer *journal.Answer   // the reply asked for; nil while there is none
	Err    error             // ErrNotFound
}
