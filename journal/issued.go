package journal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// CommandKind tells what an issued command asks for.
type CommandKind uint8

// The closed list of command kinds. Their words are stored, so they never change.
const (
	CommandStep   CommandKind = iota + 1 // run a step; answered by StepCompleted or StepFailed
	CommandTimer                         // wake at Due; answered by TimerFired
	CommandCancel                        // cancel the command Target; answered by nothing
	CommandChild                         // start a run, Detail is its key; answered by ChildCompleted or ChildFailed
	CommandSend                          // signal Name, or a cancel request, to run Detail: SignalSent or SignalRefused
	CommandRecord                        // Detail is a value that the code took from outside; answered by nothing
	CommandChange                        // the code took the new branch of change Name; answered by nothing
	CommandReply                         // answer the update of message Detail; answered by nothing
	CommandAside                         // signal Name of message Detail does not decode and is not received; answered by nothing
)

var commandWords = map[CommandKind]string{
	CommandStep: "step", CommandTimer: "timer", CommandCancel: "cancel", CommandChild: "child", CommandSend: "send",
	CommandRecord: "record", CommandChange: "change", CommandReply: "reply",
	CommandAside: "aside",
}

var wordCommands = func() map[string]CommandKind {
	m := make(map[string]CommandKind, len(commandWords))
	for k, w := range commandWords {
		m[w] = k
	}
	return m
}()

// String returns the stored word.
func (k CommandKind) String() string {
	if w, ok := commandWords[k]; ok {
		return w
	}
	return "command(" + strconv.Itoa(int(k)) + ")"
}

// Issued is one command in the compact form that histories keep. An event lists the commands that
// code issued in reaction to it, so replay can compare what the code asks for today with what it
// asked for then, event by event, and no row is needed for a command that has no outcome yet.
//
// Kind, Name, Target and Detail are compared on replay, but for the Detail of a record, which
// replay takes from here. Due is for readers only: replay computes it anew.
type Issued struct {
	Kind   CommandKind
	Name   string
	Target Cmd       // of a cancel
	Due    time.Time // of a timer
	Detail string    // see the kinds; it holds no control characters
}

// Recorded returns the command that keeps a value.
func Recorded(name string, p Payload) Issued {
	detail := base64.StdEncoding.EncodeToString(p.Data)
	if p.Encoding != EncodingJSON {
		detail += " " + p.Encoding
	}
	return Issued{Kind: CommandRecord, Name: name, Detail: detail}
}

// Value returns what Recorded kept.
func (i Issued) Value() (Payload, error) {
	data, encoding, _ := strings.Cut(i.Detail, " ")
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Payload{}, fmt.Errorf("record %q: %w", i.Name, err)
	}
	return Payload{Data: b, Encoding: encoding}, nil
}

// String is the stored line: a word, then the name, the due time and name, or the target. A detail
// comes last, behind a tab, which no name holds.
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
	}
	s := i.Kind.String() + " " + i.Name
	if i.Detail != "" {
		s += "\t" + i.Detail
	}
	return s
}

// EncodeIssued returns the stored text: one line a command. Names hold no control
// characters ([CheckName]), so a newline separates safely and psql shows it readably.
func EncodeIssued(list []Issued) string {
	switch len(list) {
	case 0:
		return ""
	case 1: // most often
		return list[0].String()
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

// DecodeIssued reads what EncodeIssued wrote. The error about a word that this release does not
// know wraps [ErrNewer].
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
	kind := wordCommands[word]
	if kind == 0 {
		return Issued{}, fmt.Errorf("word %q %w", word, ErrNewer)
	}
	name, detail, _ := strings.Cut(rest, "\t")
	return Issued{Kind: kind, Name: name, Detail: detail}, nil
}
