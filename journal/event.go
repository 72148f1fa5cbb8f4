package journal

import (
	"time"
)

// The numbers of a history. Each is its own type so that they cannot be mixed up.
type (
	Seq        int32 // position of an event in (run, generation), from 1
	Cmd        int32 // number of a command in (run, generation), from 1
	InboxSeq   int64 // number of a message in a run's inbox, from 1
	Fence      int64 // ownership number of a task
	Turn       int64 // number of commits that have changed the run's task
	Generation int32 // 1 at start
	NodeID     int32 // a process incarnation; 0 means nobody
)

// Event is one fact of a history. An event is never changed once committed (J1).
type Event struct {
	Seq     Seq
	Kind    Kind
	Cmd     Cmd       // the command this event answers, 0 for none
	Inbox   InboxSeq  // the message this event consumes, 0 for none
	Time    time.Time // workflow time: the store's clock in whole microseconds, never earlier than the event before
	Name    string    // name of the step, timer or signal; compared on replay
	Attempt int32     // attempts that a step took; 0 if an operator has given it its result, and where it does not apply
	// Payload is a step's output, a failure (see [EncodeFailure]), a message's payload
	// (stored once, in the inbox, and joined on load) or the run's output.
	Payload Payload
	Issued  []Issued // commands the run issued in reaction to this event, in order
	Link    Link     // chains the event to the one before, see [Event.LinkAfter]; 0 if it is not [Kind.Chained]
}
