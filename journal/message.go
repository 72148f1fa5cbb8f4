package journal

import (
	"strconv"
	"time"
)

// MessageKind tells what a message does. The numbers are stored.
type MessageKind int16

// The kinds of messages.
const (
	MessageSignal         MessageKind = 1
	MessageCancel         MessageKind = 2
	MessageUpdate         MessageKind = 3 // a call that its sender waits for: see Reply
	MessageChildCompleted MessageKind = 4 // answers Cmd: a child completed
	MessageChildFailed    MessageKind = 5 // answers Cmd: a child ended otherwise, or could not start
	MessageSent           MessageKind = 6 // answers Cmd: the signal is in the other run's inbox
	MessageRefused        MessageKind = 7 // answers Cmd: it is not
)

// String returns what the message is, for errors.
func (k MessageKind) String() string {
	switch k {
	case MessageSignal:
		return "signal"
	case MessageCancel:
		return "cancel request"
	case MessageUpdate:
		return "update"
	case MessageChildCompleted, MessageChildFailed, MessageSent, MessageRefused:
		return "answer"
	}
	return "message kind " + strconv.Itoa(int(k))
}

// Known tells whether this release knows the kind. An unknown one blocks the run: its inbox was
// written by a newer release.
func (k MessageKind) Known() bool { return k >= MessageSignal && k <= MessageRefused }

// Answers tells whether the message answers a command of the run that receives it.
func (k MessageKind) Answers() bool { return k >= MessageChildCompleted && k <= MessageRefused }

// CancelKey is the key of cancel requests, so that a second one is a duplicate. Keys of users
// never start with the tilde.
const CancelKey = "~cancel"

// Message is one entry of a run's inbox. Its number is given out under the lock of the run's task,
// which is what makes the inbox a queue without gaps (J5): a number that is visible has all smaller
// ones before it. A transaction that is rolled back has given out no number.
type Message struct {
	Run     RunID
	Number  InboxSeq // taken under the task's row lock; 0 before it is sent
	Kind    MessageKind
	Name    string // of a signal or an update; of an answer: the command's
	Key     string // deduplicates for the life of the run, apart for updates; [Journal.Send] fills an empty one with a fresh id
	Payload Payload
	Time    time.Time // when it was accepted, by the store's clock
	// Cmd and Generation name the command that an answer is for. In a Commit's messages, Cmd is the
	// sender's own command that wants to know whether the message arrived; 0 if nobody does.
	Cmd        Cmd
	Generation Generation
}

// Event returns the event that consumes the message (without Seq and Time).
func (m *Message) Event() Event {
	return Event{Kind: messageEvents[m.Kind], Inbox: m.Number, Name: m.Name, Payload: m.Payload, Cmd: m.Cmd}
}

var messageEvents = map[MessageKind]Kind{
	MessageSignal: SignalReceived, MessageCancel: CancelRequested, MessageUpdate: UpdateReceived,
	MessageChildCompleted: ChildCompleted, MessageChildFailed: ChildFailed, MessageSent: SignalSent, MessageRefused: SignalRefused,
}

// Reply answers an update in the run's own inbox. It is kept with the message for the life of the
// run, so a caller that asks late, or asks again, gets the same answer.
type Reply struct {
	Number  InboxSeq
	Payload Payload // the update's output, or a failure
	// Rejected says that the update was refused before it became an event: the reply consumes the
	// message, and its key may be used again.
	Rejected bool
}

// Answer is the reply to an update, as its sender reads it.
type Answer struct {
	Payload  Payload
	Rejected bool
}

// Sent is the outcome of one message. Owner and Route are of the moment when the message was
// accepted; hints go by them, and nothing else does.
type Sent struct {
	Number    InboxSeq
	Duplicate bool   // an earlier message had the key; Number is that one's
	Owner     NodeID // who owns the run now, 0 for nobody
	Route     Route  // what a node must serve to take the run
	Err       error  // of this member alone: ErrNotFound, ErrClosed, ErrInvalid
}
