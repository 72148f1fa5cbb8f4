package record

import (
	"time"

	"github.com/reprise-run/reprise/runtime"
)

// Rewound is what a verb that goes back has done, or would do.
type Rewound struct {
	Run        string     `json:"run" doc:"id of the run"`
	Done       string     `json:"done" doc:"what was done: retried, reset, skipped, edited, forked, or nothing for a dry run"`
	Generation int32      `json:"generation" doc:"the generation that goes on; with a dry run that would"`
	Kept       int32      `json:"kept" doc:"how many events of the generation before it begins with"`
	Steps      []Repeated `json:"steps,omitempty" doc:"steps that had ended behind them"`
	Replaced   []Replaced `json:"replaced,omitempty" doc:"steps that have another result, of an edit or a fork"`
	Children   []Along    `json:"children,omitempty" doc:"runs below it that go on with it, children before their own"`

	Messages     []RewoundMessage `json:"messages,omitempty" doc:"of a dry run: signals, updates and requests to cancel of the run, and what becomes of each; answers of children and of signals always come"`
	MoreMessages bool             `json:"more_messages,omitempty" doc:"whether there are messages that are not named: unread ones behind 10000, and those of the first generations of many"`
}

// RewoundMessage is a message of a run that goes back.
type RewoundMessage struct {
	Message int64     `json:"message" doc:"number of the message, as run skip takes it"`
	Kind    string    `json:"kind" doc:"signal, update or cancel request"`
	Name    string    `json:"name,omitempty" doc:"name of the signal or update"`
	Seq     int32     `json:"seq,omitempty" doc:"number of the event that has consumed it; absent if the present generation has not"`
	At      time.Time `json:"at" doc:"when it was consumed, or accepted if it was not"`
	Fate    string    `json:"fate" doc:"kept: what is kept has consumed it; again: it comes again, or the fork gets a copy; or dropped: it does not come again"`
}

// Along is a run that goes on because the one above it does.
type Along struct {
	Run        string     `json:"run" doc:"id of the run"`
	Parent     string     `json:"parent" doc:"id of the run above it"`
	Generation int32      `json:"generation" doc:"as above"`
	Kept       int32      `json:"kept" doc:"as above"`
	Steps      []Repeated `json:"steps,omitempty" doc:"as above"`
}

// Nothing is what a dry run does: see Rewound.Done.
const Nothing = "nothing"

// Replaced is a step that has another result.
type Replaced struct {
	Step   string   `json:"step" doc:"name of the step"`
	Seq    int32    `json:"seq,omitempty" doc:"number of the event that had its outcome; absent if it had none"`
	Failed bool     `json:"failed,omitempty" doc:"whether it had failed"`
	Was    *Payload `json:"was,omitempty" doc:"output or failure that it had"`
	New    *Payload `json:"new,omitempty" doc:"output that it has now"`
}

// Repeated is a step whose outcome is not kept.
type Repeated struct {
	Step     string   `json:"step" doc:"name of the step"`
	Seq      int32    `json:"seq" doc:"number of the event that has its outcome"`
	Attempts int32    `json:"attempts" doc:"attempts that it took"`
	Failed   bool     `json:"failed,omitempty" doc:"whether it had failed"`
	Again    string   `json:"again" doc:"certainly; perhaps: if the code asks for it again; or no: it keeps its result"`
	Outcome  *Payload `json:"outcome,omitempty" doc:"output or failure"`
}

// Forked is what a fork has made, or would make.
type Forked struct {
	Run string  `json:"run,omitempty" doc:"id of the fork; absent with a dry run"`
	Of  Rewound `json:"of" doc:"the run that was forked, as it stays, and where: done, generation and kept are those of the fork"`
}

// Rewound returns the record of a retry, a reset, or the run that was forked.
func (m *Maker) Rewound(r *runtime.Rewinding, done string) Rewound {
	rec := Rewound{Run: r.Run.String(), Done: done, Generation: int32(r.Generation) + 1, Kept: int32(r.Kept), Steps: m.repeated(r), Children: m.along(r)}
	for i := range r.Messages {
		p := &r.Messages[i]
		rec.Messages = append(rec.Messages, RewoundMessage{Message: int64(p.Number), Kind: p.Kind.String(), Name: p.Name, Seq: int32(p.Seq), At: p.At.UTC(), Fate: string(p.Fate)})
	}
	rec.MoreMessages = r.MoreMessages
	for i := range r.Replaced {
		s := &r.Replaced[i]
		from := Source{r.Run, FromStep, s.Name}
		rec.Replaced = append(rec.Replaced, Replaced{Step: s.Name, Seq: int32(s.Seq), Failed: s.Failed, Was: m.Payload(from, s.Was), New: m.Payload(from, s.New)})
	}
	return rec
}

// repeated returns the records of steps that run again.
func (m *Maker) repeated(r *runtime.Rewinding) (list []Repeated) {
	for i := range r.Steps {
		s := &r.Steps[i]
		from := Source{r.Run, FromStep, s.Name}
		again := Repeated{Step: s.Name, Seq: int32(s.Seq), Attempts: s.Attempts, Failed: s.Failed, Again: "perhaps", Outcome: m.Payload(from, s.Outcome)}
		switch {
		case s.Carried:
			again.Again = "no"
		case s.Certain:
			again.Again = "certainly"
		}
		list = append(list, again)
	}
	return list
}

// along returns the records of all runs below one that go on with it.
func (m *Maker) along(r *runtime.Rewinding) (list []Along) {
	for _, child := range r.Children {
		list = append(list, Along{Run: child.Run.String(), Parent: r.Run.String(), Generation: int32(child.Generation) + 1, Kept: int32(child.Kept), Steps: m.repeated(child)})
		list = append(list, m.along(child)...)
	}
	return list
}

// Forked returns the record of a fork, without the id of the run after a dry run.
func (m *Maker) Forked(f *runtime.Forked, done string) Forked {
	rec := Forked{Of: m.Rewound(&f.Of, done)}
	if !f.Run.IsZero() {
		rec.Run = f.Run.String()
	}
	return rec
}
