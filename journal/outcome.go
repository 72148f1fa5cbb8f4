package journal

import (
	"errors"
	"fmt"
	"time"
)

// Outcome is the answer to one commit.
type Outcome struct {
	Err       error    // of this member alone; ErrFenced means the owner must drop its state
	InboxLast InboxSeq // number of the newest message of a run that stays open, answers of this very commit among them
	Now       time.Time
	// Started and Sent tell what became of the commit's Starts and Messages. They are empty for a commit that an earlier try
	// wrote.
	Started []Started
	Sent    []Sent
	// Closed are runs that were terminated because their parent was closed.
	Closed []RunID
}

// RefusedChild returns the message that tells the run of c that its child could not start, false if it did: another
// run has the key. Stores put it into the run's own inbox, in the commit's transaction.
func (c *Commit) RefusedChild(st *Start, o *Started) (Message, bool) {
	if o.Created {
		return Message{}, false
	}
	f := &Failure{Type: FailureKeyExists, Message: fmt.Sprintf("key %q belongs to run %s", st.Key, o.Run), Permanent: true}
	if o.Err != nil {
		f.Message = o.Err.Error()
	}
	m := ChildMessage(st.ID, st.Workflow, st.Parent, &Event{Kind: RunFailed, Payload: EncodeFailure(f)})
	return m, true
}

// SendAnswer returns the message that tells the run of c what became of its message m, false if it did not ask.
// Stores put it into the run's own inbox, in the commit's transaction.
func (c *Commit) SendAnswer(m *Message, o *Sent) (Message, bool) {
	if m.Cmd == 0 || m.Kind.Answers() || c.Next.Kind == NextClose {
		return Message{}, false
	}
	a := Message{
		Run: c.Run, Kind: MessageSent, Name: m.Name, Cmd: m.Cmd, Generation: c.Generation,
		Key: fmt.Sprintf("~sent/%d/%d", c.Generation, m.Cmd),
	}
	if o.Err != nil {
		a.Kind = MessageRefused
		f := &Failure{Type: FailureNotFound, Message: fmt.Sprintf("run %s: %v", m.Run, o.Err), Permanent: true}
		if errors.Is(o.Err, ErrClosed) {
			f.Type = FailureClosed
		}
		a.Payload = EncodeFailure(f)
	}
	return a, true
}
