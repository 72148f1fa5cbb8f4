package journal

import "strconv"

// Kind tells what an event says. The numbers are stored and never change or get reused.
type Kind int16

// The closed list of event kinds.
const (
	RunStarted      Kind = 1  // first event; Time is when the run was allowed to start
	StepCompleted   Kind = 2  // Cmd, Name, Attempt; Payload: output
	StepFailed      Kind = 3  // Cmd, Name, Attempt; Payload: the final failure
	TimerFired      Kind = 4  // Cmd, Name
	SignalReceived  Kind = 5  // Inbox, Name; Payload: the signal's payload
	CancelRequested Kind = 6  // Inbox, 0 if the run's time is up; Payload: a failure whose Message is the reason
	ChildCompleted  Kind = 7  // Inbox, Cmd, Name; Payload: the child's output
	ChildFailed     Kind = 8  // Inbox, Cmd, Name; Payload: how the child ended, or why it could not start
	SignalSent      Kind = 9  // Inbox, Cmd, Name: the signal is in the other run's inbox
	SignalRefused   Kind = 10 // Inbox, Cmd, Name; Payload: why not
	UpdateReceived  Kind = 11 // Inbox, Name; Payload: the update's argument
	MessageDropped  Kind = 12 // Inbox: an answer that no open command of this generation waits for
	RunContinued    Kind = 13 // last of its generation; Payload: the input that the generation had
	RunCompleted    Kind = 20 // terminal; Payload: output
	RunFailed       Kind = 21 // terminal; Payload: failure
	RunCancelled    Kind = 22 // terminal; Payload: failure; without a link if it was written without running code
	RunTerminated   Kind = 23 // terminal; Payload: failure; written without running code
)

// kindNames is an array because every event of every replay asks.
var kindNames = [...]string{
	RunStarted: "RunStarted", StepCompleted: "StepCompleted", StepFailed: "StepFailed", TimerFired: "TimerFired",
	SignalReceived: "SignalReceived", CancelRequested: "CancelRequested", ChildCompleted: "ChildCompleted",
	ChildFailed: "ChildFailed", SignalSent: "SignalSent", SignalRefused: "SignalRefused", UpdateReceived: "UpdateReceived",
	MessageDropped: "MessageDropped", RunContinued: "RunContinued", RunCompleted: "RunCompleted", RunFailed: "RunFailed",
	RunCancelled: "RunCancelled", RunTerminated: "RunTerminated",
}

// String returns the name of the constant.
func (k Kind) String() string {
	if k.Known() {
		return kindNames[k]
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Known tells whether this release knows the kind. An unknown one blocks the run:
// its history was written by a newer release.
func (k Kind) Known() bool { return k > 0 && int(k) < len(kindNames) && kindNames[k] != "" }

// Terminal tells whether the event closes its run (J7).
func (k Kind) Terminal() bool { return k >= RunCompleted && k <= RunTerminated }

// EndsStep tells whether the event is the outcome of a step.
func (k Kind) EndsStep() bool { return k == StepCompleted || k == StepFailed }

// Kinds lists every known kind and its name, for views and tests.
func Kinds() map[Kind]string {
	m := make(map[Kind]string, len(kindNames))
	for k, n := range kindNames {
		if n != "" {
			m[Kind(k)] = n
		}
	}
	return m
}
