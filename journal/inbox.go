package journal

import "time"

// MessageKind tells what a message does. The numbers are stored.
type MessageKind int16

// The kinds of messages.
const (
	MessageSignal MessageKind = 1
	MessageCancel MessageKind = 2
)

// CancelKey is the key of cancel requests, so that a second one is a duplicate. Keys of users
// never start with the tilde.
const CancelKey = "~cancel"

// Message is one entry of a run's inbox.
type Message struct {
	Run     RunID
	Number  InboxSeq // taken under the task's row lock; 0 before it is sent
	Kind    MessageKind
	Name    string // of a signal
	Key     string // deduplicates for the life of the run; [Journal.Send] fills an empty one with a fresh id
	Payload Payload
	Time    time.Time // when it was accepted, by the store's clock
}

// Event returns the event that consumes the message (without Seq and Time).
func (m *Message) Event() Event {
	ev := Event{Kind: SignalReceived, Inbox: m.Number, Name: m.Name, Payload: m.Payload}
	if m.Kind == MessageCancel {
		ev.Kind = CancelRequested
	}
	return ev
}

// Sent is the outcome of one message.
type Sent struct {
	Number    InboxSeq
	Duplicate bool   // an earlier message had the key; Number is that one's
	Owner     NodeID // who owns the run now, 0 for nobody
	Route     Route  // what a node must serve to take the run
	Err       error  // of this member alone: ErrNotFound, ErrClosed, ErrInvalid
}
