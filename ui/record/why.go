package record

import (
	"cmp"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
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
	words := m.hidden(&e.Run)
	for _, r := range e.Reasons {
		rec.Reasons = append(rec.Reasons, Reason{string(r.Kind), words.Replace(r.Text), Moment(r.Since), Moment(r.Until), r.Remedy})
	}
	return rec
}

// hidden replaces failures in the sentences about a run by what is shown of them.
func (m *Maker) hidden(run *journal.Run) *strings.Replacer {
	var pairs []string
	add := func(from Source, f *journal.Failure) {
		if f != nil && f.Summary() != "" {
			pairs = append(pairs, f.Summary(), cmp.Or(m.failure(from, f).Summary(), "…"))
		}
	}
	if m.Show == nil {
		return strings.NewReplacer()
	}
	if ev := run.Terminal; ev != nil {
		if f, err := journal.DecodeFailure(ev.Payload); err == nil {
			add(Source{Run: run.ID, Kind: FromOutcome}, f)
		}
	}
	if run.Task != nil {
		for _, a := range run.Task.Attempts {
			add(Source{run.ID, FromStep, a.Name}, a.Failure)
		}
	}
	return strings.NewReplacer(pairs...)
}
