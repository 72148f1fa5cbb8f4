package bulk

import (
	"strings"
	"time"
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
	Failures  []Failure `json:"failures,omitempty"` // the first 20 of those that Failed counts; [Outcomes] has all
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
	Failures  []Failure `json:"failures,omitempty"` // all of them: a page has pageMax runs at most
	// NotNeededAt are the places in the list of the runs that NotNeeded counts.
	NotNeededAt []int `json:"not_needed_at,omitempty"`
}

// note counts what came of a run; err is why it failed.
func (t *tally) note(run journal.RunID, what What, err error) {
	switch what {
	case Done:
		t.Done++
	case NotNeeded:
		t.NotNeeded++
		t.NotNeededAt = append(t.NotNeededAt, t.Tried)
	default:
		t.Failed++
		t.Failures = append(t.Failures, Failure{Run: run, Error: clip(err.Error())})
	}
	t.Tried++
}

// outcomes are what came of the runs that were tried. What the tally does not name was done, if it
// names all others.
func (t *tally) outcomes(tried []journal.RunID, at time.Time) []Outcome {
	list, rest, failed := make([]Outcome, len(tried)), Done, 0
	if len(t.Failures) < t.Failed || len(t.NotNeededAt) < t.NotNeeded {
		rest = Unknown
	}
	for i, run := range tried {
		list[i] = Outcome{Run: run, What: rest, At: at}
		if failed < len(t.Failures) && t.Failures[failed].Run == run { // in the order of the list
			list[i].What, list[i].Error = Failed, t.Failures[failed].Error
			failed++
		}
	}
	for _, i := range t.NotNeededAt {
		if i >= 0 && i < len(list) {
			list[i].What = NotNeeded
		}
	}
	return list
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
