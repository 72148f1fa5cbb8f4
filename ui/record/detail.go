package record

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Detail is a run with what it does.
type Detail struct {
	Run      Run               `json:"run" doc:"the run"`
	Input    *Payload          `json:"input,omitempty" doc:"input of the present generation"`
	Outcome  *Payload          `json:"outcome,omitempty" doc:"output or failure of a closed run"`
	Headers  map[string]string `json:"headers,omitempty" doc:"headers of the start"`
	Steps    []Step            `json:"steps,omitempty" doc:"steps without an outcome"`
	Timers   []Timer           `json:"timers,omitempty" doc:"timers that have not fired"`
	Freezes  []Freeze          `json:"freezes,omitempty" doc:"when its timers stood still, because it was paused"`
	Children []Child           `json:"children,omitempty" doc:"children whose outcome the run does not know"`
	Updates  []Message         `json:"updates,omitempty" doc:"updates that were accepted and have no answer yet"`
	SetAside []Message         `json:"set_aside,omitempty" doc:"signals that did not decode"`
	Inbox    []Unread          `json:"inbox,omitempty" doc:"the first messages that the run has not consumed"`
	Unread   int               `json:"unread" doc:"messages in the inbox that the run has not consumed"`
	Events   int               `json:"events" doc:"length of the present generation's history"`
	Rewinds  []Audit           `json:"rewinds,omitempty" doc:"newest first: when the run was retried, reset, forked or amended, or made as a fork, from where, by whom"`
	LastAt   *time.Time        `json:"last_at,omitempty" doc:"time of the newest event"`
	May      []string          `json:"may,omitempty" doc:"of an HTTP API that asks who may do what: the verbs about a run, such as run cancel, that the actor may do with this one"`
}

// Step is a step without an outcome.
type Step struct {
	Name      string     `json:"name" doc:"name of the step"`
	Cmd       int32      `json:"cmd" doc:"number of the command in its generation"`
	Since     time.Time  `json:"since" doc:"when the code asked for it"`
	Attempts  int32      `json:"attempts" doc:"attempts that have failed"`
	NextAt    *time.Time `json:"next_at,omitempty" doc:"when the next attempt is due"`
	Failure   *Failure   `json:"failure,omitempty" doc:"of the last attempt"`
	Cancelled bool       `json:"cancelled,omitempty" doc:"whether it was asked to stop"`
	Exhausted bool       `json:"exhausted,omitempty" doc:"whether it may not be tried again, and has paused the run"`
}

// Timer is a timer that has not fired.
type Timer struct {
	Name  string     `json:"name,omitempty" doc:"name of the timer"`
	Cmd   int32      `json:"cmd" doc:"number of the command in its generation"`
	Since time.Time  `json:"since" doc:"when the code armed it"`
	DueAt *time.Time `json:"due_at,omitempty" doc:"when it fires; absent while it stands still"`
	Left  string     `json:"left,omitempty" doc:"while it stands still: what is left of its time, such as 1h30m0s"`
}

// Freeze is a time in which the timers of a run stood still.
type Freeze struct {
	From  time.Time  `json:"from" doc:"when they stopped"`
	Until *time.Time `json:"until,omitempty" doc:"when they went on; absent while they stand still"`
}

// Child is a child whose outcome the run does not know.
type Child struct {
	Workflow  string    `json:"workflow" doc:"name of the child's workflow"`
	Key       string    `json:"key,omitempty" doc:"key of the child"`
	Cmd       int32     `json:"cmd" doc:"number of the command in its generation"`
	Since     time.Time `json:"since" doc:"when the code asked for it"`
	Cancelled bool      `json:"cancelled,omitempty" doc:"whether it was asked to cancel itself"`
	Run       *Run      `json:"run,omitempty" doc:"the child; absent if it was not found"`
}

// Unread is a message that a run has not consumed.
type Unread struct {
	Number  int64     `json:"number" doc:"number of the message in the run's inbox"`
	Kind    string    `json:"kind" doc:"signal, update, cancel request or answer"`
	Name    string    `json:"name,omitempty" doc:"name of the signal or update"`
	At      time.Time `json:"at" doc:"when the store accepted it"`
	Payload *Payload  `json:"payload,omitempty" doc:"payload"`
}

// Message is a message in the inbox.
type Message struct {
	Name   string `json:"name" doc:"name of the signal or update"`
	Number int64  `json:"number" doc:"number of the message in the run's inbox"`
}

// fromMessage says what the payloads of messages are of.
var fromMessage = map[journal.MessageKind]string{
	journal.MessageSignal: FromSignal, journal.MessageUpdate: FromUpdate,
	journal.MessageChildCompleted: FromChild, journal.MessageChildFailed: FromChild,
}

// Detail returns the record of a description, without its Rewinds. A description has the terminal
// event without its payload, so that is given beside it; it may be nil.
func (m *Maker) Detail(d *runtime.Description, terminal *journal.Event) *Detail {
	id := d.Run.ID
	rec := &Detail{Run: m.Run(&d.Run), Input: m.Payload(Source{Run: id, Kind: FromInput}, d.Run.Input), Headers: d.Run.Headers,
		Unread: d.Unread, Events: d.Events, LastAt: Moment(d.LastAt)}
	if terminal != nil {
		rec.Outcome = m.Payload(Source{Run: id, Kind: FromOutcome}, terminal.Payload)
	}
	for _, s := range d.Steps {
		failure := m.failure(Source{id, FromStep, s.Name}, s.LastError)
		rec.Steps = append(rec.Steps, Step{s.Name, int32(s.Cmd), s.Since, s.Attempts, Moment(s.NextAt), failure, s.Cancelled, s.Exhausted})
	}
	for _, t := range d.Timers {
		timer := Timer{Name: t.Name, Cmd: int32(t.Cmd), Since: t.Since, DueAt: Moment(t.Due)}
		if timer.DueAt == nil {
			timer.Left = t.Left.String()
		}
		rec.Timers = append(rec.Timers, timer)
	}
	for _, z := range d.Run.Freezes {
		rec.Freezes = append(rec.Freezes, Freeze{z.From, Moment(z.Until)})
	}
	for _, ch := range d.Children {
		child := Child{Workflow: ch.Workflow, Key: ch.Key, Cmd: int32(ch.Cmd), Since: ch.Since, Cancelled: ch.Cancelled}
		if ch.Run != nil {
			child.Run = new(m.Run(ch.Run))
		}
		rec.Children = append(rec.Children, child)
	}
	for _, u := range d.Updates {
		rec.Updates = append(rec.Updates, Message{u.Name, int64(u.Number)})
	}
	for i := range d.Inbox {
		rec.Inbox = append(rec.Inbox, m.unread(id, &d.Inbox[i]))
	}
	for _, s := range d.SetAside {
		rec.SetAside = append(rec.SetAside, Message{s.Name, int64(s.Number)})
	}
	return rec
}

func (m *Maker) unread(run journal.RunID, msg *journal.Message) Unread {
	from := Source{Run: run, Kind: fromMessage[msg.Kind], Name: msg.Name}
	if from.Kind == "" {
		from.Kind = FromOther
	}
	return Unread{int64(msg.Number), msg.Kind.String(), msg.Name, msg.Time, m.Payload(from, msg.Payload)}
}

// Kept is a history that was written to a file.
type Kept struct {
	Run        string `json:"run" doc:"id of the run"`
	Generation int32  `json:"generation" doc:"whose history it is"`
	Events     int32  `json:"events" doc:"how many events it has"`
	File       string `json:"file" doc:"where it is, as the command was told"`
}
