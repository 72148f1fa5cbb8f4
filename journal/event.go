package journal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// RunID names one execution of a workflow. It is a UUIDv7, so ids sort by start time.
type RunID [16]byte

// NewRunID returns a fresh id.
func NewRunID() RunID { return RunID(uuid.Must(uuid.NewV7())) }

// ParseRunID reads the canonical text form.
func ParseRunID(s string) (RunID, error) {
	id, err := uuid.Parse(s)
	if err != nil {
		return RunID{}, fmt.Errorf("run id %q: %w", s, ErrInvalid)
	}
	return RunID(id), nil
}

// String returns the canonical text form.
func (id RunID) String() string { return uuid.UUID(id).String() }

// IsZero tells whether the id names no run.
func (id RunID) IsZero() bool { return id == RunID{} }

// MarshalText implements encoding.TextMarshaler.
func (id RunID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *RunID) UnmarshalText(b []byte) error { return (*uuid.UUID)(id).UnmarshalText(b) }

// The numbers of a history. Each is its own type so that they cannot be mixed up.
type (
	Seq        int32 // position of an event in (run, generation), from 1
	Cmd        int32 // number of a command in (run, generation), from 1
	InboxSeq   int64 // number of a message in a run's inbox, from 1
	Fence      int64 // ownership number of a task
	Turn       int64 // number of commits the run has had
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
	Attempt int32     // attempts a step took; 0 where it does not apply
	// Payload is a step's output, a failure (see [EncodeFailure]), a message's payload
	// (stored once, in the inbox, and joined on load) or the run's output.
	Payload Payload
	Issued  []Issued // commands the run issued in reaction to this event, in order
}

// CommandKind tells what an issued command asks for.
type CommandKind uint8

// The closed list of command kinds. Their words are stored, so they never change.
const (
	CommandStep   CommandKind = iota + 1 // run a step; answered by StepCompleted or StepFailed
	CommandTimer                         // wake at Due; answered by TimerFired
	CommandCancel                        // cancel the command Target; answered by nothing
)

var commandWords = map[CommandKind]string{CommandStep: "step", CommandTimer: "timer", CommandCancel: "cancel"}

// String returns the stored word.
func (k CommandKind) String() string {
	if w, ok := commandWords[k]; ok {
		return w
	}
	return "command(" + strconv.Itoa(int(k)) + ")"
}

// Issued is one command in the compact form that histories keep.
// Kind, Name and Target are compared on replay. Due is for readers only: replay computes it anew.
type Issued struct {
	Kind   CommandKind
	Name   string
	Target Cmd       // of a cancel
	Due    time.Time // of a timer
}

// String is the stored line: a word, then the name, the due time and name, or the target.
func (i Issued) String() string {
	switch i.Kind {
	case CommandTimer:
		s := "timer " + i.Due.UTC().Format(time.RFC3339Nano)
		if i.Name != "" {
			s += " " + i.Name
		}
		return s
	case CommandCancel:
		return "cancel " + strconv.Itoa(int(i.Target))
	default:
		return i.Kind.String() + " " + i.Name
	}
}

// EncodeIssued returns the stored text: one line a command. Names hold no control
// characters ([CheckName]), so a newline separates safely and psql shows it readably.
func EncodeIssued(list []Issued) string {
	if len(list) == 0 {
		return ""
	}
	var b strings.Builder
	for i, c := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(c.String())
	}
	return b.String()
}

var errIssued = errors.New("malformed issued list")

// DecodeIssued reads what EncodeIssued wrote.
func DecodeIssued(s string) ([]Issued, error) {
	if s == "" {
		return nil, nil
	}
	lines := strings.Split(s, "\n")
	list := make([]Issued, 0, len(lines))
	for _, line := range lines {
		c, err := parseIssued(line)
		if err != nil {
			return nil, fmt.Errorf("issued command %q: %w", line, err)
		}
		list = append(list, c)
	}
	return list, nil
}

func parseIssued(line string) (Issued, error) {
	word, rest, ok := strings.Cut(line, " ")
	if !ok {
		return Issued{}, errIssued
	}
	switch word {
	case "step":
		return Issued{Kind: CommandStep, Name: rest}, nil
	case "timer":
		stamp, name, _ := strings.Cut(rest, " ")
		due, err := time.Parse(time.RFC3339Nano, stamp)
		return Issued{Kind: CommandTimer, Due: due, Name: name}, err
	case "cancel":
		n, err := strconv.ParseInt(rest, 10, 32)
		return Issued{Kind: CommandCancel, Target: Cmd(n)}, err
	}
	return Issued{}, errIssued
}
