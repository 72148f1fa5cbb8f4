package record

import (
	"cmp"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Event is a fact of a history.
type Event struct {
	Seq     int32     `json:"seq" doc:"position in the history of the generation, from 1"`
	Kind    string    `json:"kind" doc:"what happened: RunStarted, StepCompleted, SignalReceived and so on, as journal.Kind"`
	Name    string    `json:"name,omitempty" doc:"name of the step, timer, signal or child"`
	Time    time.Time `json:"time" doc:"when, by the store's clock"`
	Cmd     int32     `json:"cmd,omitempty" doc:"the command that it answers"`
	Inbox   int64     `json:"inbox,omitempty" doc:"the message that it consumes"`
	Attempt int32     `json:"attempt,omitempty" doc:"attempts that a step took"`
	Payload *Payload  `json:"payload,omitempty" doc:"output, failure or what was sent"`
	LeftOut bool      `json:"left_out,omitempty" doc:"whether there is a payload, which was asked to be left out because of its size"`
	Issued  []string  `json:"issued,omitempty" doc:"the commands that the code asked for in reaction, in words"`
}

// fromEvent says what the payloads of events are of.
var fromEvent = map[journal.Kind]string{
	journal.RunStarted: FromInput, journal.RunContinued: FromInput,
	journal.StepCompleted: FromStep, journal.StepFailed: FromStep,
	journal.ChildCompleted: FromChild, journal.ChildFailed: FromChild,
	journal.SignalReceived: FromSignal, journal.UpdateReceived: FromUpdate,
	journal.RunCompleted: FromOutcome, journal.RunFailed: FromOutcome, journal.RunCancelled: FromOutcome, journal.RunTerminated: FromOutcome,
}

// SourceOf says what the payload of an event is of: one of the constants From….
func SourceOf(k journal.Kind) string { return cmp.Or(fromEvent[k], FromOther) }

// Brief returns the record of an event without a payload that is stored in more bytes than so many,
// and without the cost of decoding that one.
func (m *Maker) Brief(run journal.RunID, e *journal.Event, bytesMax int) Event {
	if len(e.Payload.Data) <= bytesMax {
		return m.Event(run, e)
	}
	c := *e
	c.Payload = journal.Payload{}
	rec := m.Event(run, &c)
	rec.LeftOut = true
	return rec
}

// Event returns the record of an event of a run.
func (m *Maker) Event(run journal.RunID, e *journal.Event) Event {
	from := Source{Run: run, Kind: SourceOf(e.Kind), Name: e.Name}
	rec := Event{Seq: int32(e.Seq), Kind: e.Kind.String(), Name: e.Name, Time: e.Time, Cmd: int32(e.Cmd), Inbox: int64(e.Inbox),
		Attempt: e.Attempt, Payload: m.Payload(from, e.Payload)}
	for _, c := range e.Issued {
		if m.Show != nil && c.Kind == journal.CommandRecord {
			c.Detail = "" // a value, which Show cannot look into
		}
		rec.Issued = append(rec.Issued, strings.Join(strings.Fields(c.String()), " "))
	}
	return rec
}

// Published is a value that a run has published.
type Published struct {
	Name  string   `json:"name" doc:"the name under which the run has published it"`
	Value *Payload `json:"value,omitempty" doc:"the value, as of the run's last commit"`
}

// Published returns what a run has published, under a name if there is one.
func (m *Maker) Published(run *journal.Run, name string) []Published {
	list := []Published{}
	for _, p := range run.Published {
		if name == "" || name == p.Name {
			list = append(list, Published{p.Name, m.Payload(Source{run.ID, FromPublished, p.Name}, p.Value)})
		}
	}
	return list
}
