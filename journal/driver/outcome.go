package driver

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Outcome is the answer to one commit.
//
// An owner may act on a turn, run its steps and answer its callers, only after an Outcome without
// Err: before that nothing of the turn is durable. With [journal.ErrFenced] the turn has not
// happened and the run belongs to somebody else. With any other Err the turn has not happened
// either, but the owner still owns the run. If the call itself failed there is no Outcome, and the
// commit is submitted again.
type Outcome struct {
	Err       error            // of this member alone; ErrFenced means the owner must drop its state
	InboxLast journal.InboxSeq // number of the newest message of a run that stays open, answers of this very commit among them
	// State is that of the task after a commit that TellsState, else Ready. It is how an owner
	// hears of a pause whose mark this very commit has met: the commit has made the task invisible
	// again, so nothing else tells (J11).
	State journal.TaskState
	Now   time.Time
	// Started and Sent tell what became of the commit's Starts and Messages. They are empty for a
	// commit that an earlier try wrote.
	Started []journal.Started
	Sent    []journal.Sent
	// Closed are runs that were terminated because their parent was closed.
	Closed []journal.RunID
}

// RefusedChild returns the message that tells the run of c that its child could not start, false if
// it did: another run has the key, or a limit is full. Nobody waits for a run without a parent.
// Stores put it into the run's own inbox, in the commit's transaction.
func (c *Commit) RefusedChild(st *journal.Start, o *journal.Started) (journal.Message, bool) {
	if o.Created || st.Parent == nil {
		return journal.Message{}, false
	}
	f := &journal.Failure{Type: journal.FailureKeyExists, Message: fmt.Sprintf("key %q belongs to run %s", st.Key, o.Run), Permanent: true}
	if o.Err != nil {
		f.Message = o.Err.Error()
	}
	if _, full := errors.AsType[*journal.LimitFullError](o.Err); full {
		f.Type = journal.FailureLimitFull
	}
	m := journal.ChildMessage(st.ID, st.Workflow, st.Parent, &journal.Event{Kind: journal.RunFailed, Payload: journal.EncodeFailure(f)})
	return m, true
}

// SendAnswer returns the message that tells the run of c what became of its message m, false if it
// did not ask. Stores put it into the run's own inbox, in the commit's transaction.
func (c *Commit) SendAnswer(m *journal.Message, o *journal.Sent) (journal.Message, bool) {
	if m.Cmd == 0 || m.Kind.Answers() || c.Next.Kind == NextClose {
		return journal.Message{}, false
	}
	a := journal.Message{
		Run: c.Run, Kind: journal.MessageSent, Name: m.Name, Cmd: m.Cmd, Generation: c.Generation,
		Key: fmt.Sprintf("~sent/%d/%d", c.Generation, m.Cmd),
	}
	if o.Err != nil {
		a.Kind = journal.MessageRefused
		f := &journal.Failure{Type: journal.FailureNotFound, Message: fmt.Sprintf("run %s: %v", m.Run, o.Err), Permanent: true}
		if errors.Is(o.Err, journal.ErrClosed) {
			f.Type = journal.FailureClosed
		}
		a.Payload = journal.EncodeFailure(f)
	}
	return a, true
}
