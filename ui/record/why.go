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
	Kind   string     `json:"kind" doc:"what it is about: closed, blocked, unserved, step, limit, timer, signal and so on, as runtime.ReasonKind"`
	Text   string     `json:"text" doc:"a sentence"`
	Since  *time.Time `json:"since,omitempty" doc:"since when, if that is known"`
	Until  *time.Time `json:"until,omitempty" doc:"when it is over by itself"`
	Remedy string     `json:"remedy,omitempty" doc:"who has to do what so that the run goes on"`
	Limit  *LimitWait `json:"limit,omitempty" doc:"of a wait for a limit: who holds it, its place in line, and when it may begin"`
}

// Why returns the record of an explanation.
func (m *Maker) Why(e *runtime.Explanation) Why {
	rec := Why{Run: m.Run(&e.Run), Reasons: []Reason{}}
	words := m.hidden(&e.Run)
	for _, r := range e.Reasons {
		reason := Reason{Kind: string(r.Kind), Text: words.Replace(r.Text), Since: Moment(r.Since), Until: Moment(r.Until), Remedy: r.Remedy}
		if w := r.Limit; w != nil {
			reason.Limit = &LimitWait{Waits: LimitClaimsOf([]journal.LimitClaim{w.Claim})[0], Held: w.Held, Waiting: w.Waiting,
				Holders: LimitClaimsOf(w.Holders), ExpectedAt: Moment(w.Expected), Estimate: w.Estimate}
		}
		rec.Reasons = append(rec.Reasons, reason)
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
