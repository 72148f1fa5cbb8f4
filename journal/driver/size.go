package driver

import "github.com/reprise-run/reprise/journal"

// Sizes are how drivers cut a call into statements and transactions. A driver promises that one of
// them carries a bounded number of bytes, because a protocol message, a server's memory or a
// write-ahead log ends somewhere, and a batch that crosses that border fails as a whole, again and
// again, with members that have done nothing wrong (J2).
//
// So the rule is: whatever a value can carry without a small limit of its own is counted here, once
// for all drivers. Names, keys and labels have small limits and fixed columns are small, so their
// number is bounded by journal.BatchMax and journal.CommitEventsMax already. A sum may be too
// large, as that of an event whose payload a driver stores with the message only; it is never too
// small.

// CommitBytes returns the bytes that a driver sends for a commit.
func CommitBytes(c *Commit) int {
	n := turnBytes(c)
	for i := range c.Replies {
		n += len(c.Replies[i].Payload.Data)
	}
	for i := range c.Published {
		n += len(c.Published[i].Name) + len(c.Published[i].Value.Data)
	}
	for i := range c.Starts {
		n += StartBytes(&c.Starts[i])
	}
	for i := range c.Messages {
		n += MessageBytes(&c.Messages[i])
	}
	return n
}

// turnBytes returns those bytes that are written by one statement for the commit: what becomes of
// its own run.
func turnBytes(c *Commit) int {
	n := len(c.Next.Problem) + len(c.Pause)
	for i := range c.Events {
		n += EventBytes(&c.Events[i])
	}
	for i := range c.Attempts {
		n += attemptBytes(&c.Attempts[i])
	}
	for i := range c.Waiting {
		n += len(c.Waiting[i])
	}
	if c.Continue != nil {
		n += len(c.Continue.Input.Data)
	}
	return n
}

// EventBytes returns the bytes that a driver sends for an event.
func EventBytes(ev *journal.Event) int {
	n := len(ev.Payload.Data)
	for k := range ev.Issued { // recorded values are there
		n += len(ev.Issued[k].Detail)
	}
	return n
}

// StartBytes returns the bytes that a driver sends for a start and the message that comes with it.
func StartBytes(st *journal.Start) int {
	n := len(st.Input.Data)
	for k, v := range st.Headers {
		n += len(k) + len(v)
	}
	if st.Message != nil {
		n += MessageBytes(st.Message)
	}
	return n
}

// MessageBytes returns the bytes that a driver sends for a message.
func MessageBytes(m *journal.Message) int { return len(m.Payload.Data) }

// attemptBytes counts the last failure and the last heartbeat of a step in retry. Both are sent
// with every commit until the step is done.
func attemptBytes(a *journal.Attempt) int {
	n := failureBytes(a.Failure)
	if a.Heartbeat != nil {
		n += len(a.Heartbeat.Data)
	}
	if a.Given != nil {
		n += len(a.Given.Data)
	}
	return n
}

func failureBytes(f *journal.Failure) int {
	if f == nil {
		return 0
	}
	n := len(f.Type) + len(f.Message) + len(f.Stack) + len(f.Data) + failureBytes(f.Cause)
	for _, d := range f.Details {
		n += failureBytes(d)
	}
	return n
}
