package record

import (
	"time"

	"github.com/reprise-run/reprise/runtime"
)

// Why is why a run stands where it stands.
type Why struct {
	Run     Run      `json:"run" doc:"the run"`
	Reasons []Reason `json:"reasons" doc:"what is to be dealt with first comes first; never empty"`
}

// Reason is one thing that a run waits for, or how it ended.
type Reason struct {
	Kind   string     `json:"kind" doc:"what it is about: closed, blocked, unserved, step, timer, signal and so on, as runtime.ReasonKind"`
	Text   string     `json:"text" doc:"a sentence"`
	Since  *time.Time `json:"since,omitempty" doc:"since when, if that is known"`
	Until  *time.Time `json:"until,omitempty" doc:"when it is over by itself"`
	Remedy string     `json:"remedy,omitempty" doc:"who has to do what so that the run goes on"`
}

// Why returns the record of an explanation.
func (m *Maker) Why(e *runtime.Explanation) Why {
	rec := Why{Run: m.Run(&e.Run), Reasons: []Reason{}}
	for _, r := range e.Reasons {
		rec.Reasons = append(rec.Reasons, Reason{string(r.Kind), r.Text, Moment(r.Since), Moment(r.Until), r.Remedy})
	}
	return rec
}
