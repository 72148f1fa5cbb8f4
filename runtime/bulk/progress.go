package bulk

import (
	"strings"
	"unicode"

	"github.com/reprise-run/reprise/journal"
)

// Progress is what a job has done, and in the end its result.
type Progress struct {
	Verb   Verb `json:"verb"`
	Runs   int  `json:"runs"`             // that the filter selected when the job began
	Capped bool `json:"capped,omitempty"` // there were more than Runs, which is journal.AggregateMax then
	Done   int  `json:"done"`
	// NotNeeded counts runs that ended, or were deleted, between their listing and the call.
	NotNeeded int       `json:"not_needed"`
	Failed    int       `json:"failed"`
	Failures  []Failure `json:"failures,omitempty"` // the first 20 of those that Failed counts
}

// Failure is a run to which a job could not do what it should.
type Failure struct {
	Run   journal.RunID `json:"run"`
	Error string        `json:"error"` // its beginning
}

// add adds what came of the runs of a page.
func (p *Progress) add(t *tally) {
	p.Done += t.Done
	p.NotNeeded += t.NotNeeded
	p.Failed += t.Failed
	p.Failures = append(p.Failures, t.Failures[:min(len(t.Failures), failuresMax-len(p.Failures))]...)
}

// tally is what came of the first runs of a list of ids.
type tally struct {
	Tried     int       `json:"tried"`
	Done      int       `json:"done,omitempty"`
	NotNeeded int       `json:"not_needed,omitempty"`
	Failed    int       `json:"failed,omitempty"`
	Failures  []Failure `json:"failures,omitempty"`
}

// outcome is what came of one run.
type outcome int

const (
	done outcome = iota
	notNeeded
	failed
)

// note counts the outcome of a run; err is why it failed.
func (t *tally) note(run journal.RunID, o outcome, err error) {
	t.Tried++
	switch o {
	case done:
		t.Done++
	case notNeeded:
		t.NotNeeded++
	case failed:
		t.Failed++
		if len(t.Failures) < failuresMax {
			t.Failures = append(t.Failures, Failure{Run: run, Error: clip(err.Error())})
		}
	}
}

// clip makes a text of bounded size in any encoding: control characters take six bytes of JSON.
func clip(text string) string {
	if len(text) > failureBytesMax {
		text = text[:failureBytesMax] + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, ""))
}
