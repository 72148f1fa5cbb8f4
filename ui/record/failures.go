package record

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Failures are runs that have failed, or cannot go on, by what they have in common.
type Failures struct {
	Runs   int            `json:"runs" doc:"how many runs were counted"`
	Capped bool           `json:"capped,omitempty" doc:"there are more: those that were started first are not counted"`
	Groups []FailureGroup `json:"groups" doc:"the largest first, at most 200"`
}

// FailureGroup is the runs that have failed, or are blocked, with the same class and step.
type FailureGroup struct {
	Workflow string     `json:"workflow" doc:"name of the workflow"`
	Version  int32      `json:"version" doc:"version of the workflow"`
	Status   string     `json:"status" doc:"failed, blocked or quarantined"`
	Class    string     `json:"class,omitempty" doc:"of failed runs: the name or type of the error, as error.class finds it; of others: what the problem begins with, with N for numbers"`
	Step     string     `json:"step,omitempty" doc:"of failed runs: the step that has failed; absent if it was none"`
	Runs     int        `json:"runs" doc:"how many runs"`
	FirstAt  *time.Time `json:"first_at,omitempty" doc:"of failed runs: when the first of them ended; of blocked and quarantined ones: when the first of them was started"`
	LastAt   *time.Time `json:"last_at,omitempty" doc:"of failed runs: when the last of them ended; of blocked and quarantined ones: when the last of them was started"`
	Example  string     `json:"example" doc:"id of one of them: of that which was started last, unless the condition has an order"`
	Problem  string     `json:"problem,omitempty" doc:"of that run"`
}

const (
	// FailuresDefault and FailuresMax are how many runs of each status are counted at most: each is
	// read.
	FailuresDefault = 10_000
	FailuresMax     = 100_000

	failureGroupsMax = 200
	classBytesMax    = 100
)

// FailuresOf counts the runs that a filter selects and that the reader may see, at most so many of
// each status. list lists runs; sees may be nil for everything.
func FailuresOf(m *Maker, f journal.ListFilter, most int, list func(journal.ListFilter) (journal.RunPage, error), sees func(*journal.Run) bool) (Failures, error) {
	t, capped := failureTally{maker: m, groups: map[FailureGroup]*FailureGroup{}}, false
	for _, f := range failureFilters(f) {
		for left := most; left > 0; {
			f.Limit = min(left, journal.ListMax)
			page, err := list(f)
			if err != nil {
				return Failures{}, err
			}
			for i := range page.Runs {
				if sees == nil || sees(&page.Runs[i]) {
					t.add(&page.Runs[i])
				}
			}
			left -= len(page.Runs)
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		capped = capped || f.Cursor != ""
	}
	return t.answer(capped), nil
}

// failureFilters are the filters that select, of the runs that a filter selects, those that have
// failed, are blocked, and are quarantined. Each is served by an index: a page of it costs the same
// however many runs there are.
func failureFilters(f journal.ListFilter) (list []journal.ListFilter) {
	if (f.Status == nil || *f.Status == journal.Failed) && f.State == nil {
		failed := f
		failed.Status = new(journal.Failed)
		list = append(list, failed)
	}
	for _, state := range []journal.TaskState{journal.Blocked, journal.Quarantined} {
		if (f.State == nil || *f.State == state) && (f.Status == nil || *f.Status == journal.Open) {
			stuck := f
			stuck.State = new(state)
			list = append(list, stuck)
		}
	}
	return list
}

// failureTally counts runs by their failures.
type failureTally struct {
	maker  *Maker
	runs   int
	groups map[FailureGroup]*FailureGroup // by what their runs have in common
}

// add counts a run that one of failureFilters selects. The newest run of a group comes first.
func (t *failureTally) add(r *journal.Run) {
	t.runs++
	key := FailureGroup{Workflow: r.Workflow, Version: r.Version, Status: journal.Failed.String()}
	problem := ""
	if r.Task != nil {
		key.Status, problem = r.Task.State.String(), r.Task.Problem
		key.Class = problemClass(problem)
	} else if f := t.failure(r); f != nil {
		key.Class, key.Step, problem = f.class(), f.step(), f.Summary()
	}
	g := t.groups[key]
	if g == nil {
		g = new(key)
		g.Example, g.Problem = r.ID.String(), problem
		t.groups[key] = g
	}
	g.Runs++
	at := r.ClosedAt
	if r.Task != nil { // it was started at some time; since when it is stuck nobody keeps
		at = r.CreatedAt
	}
	if at := Moment(at); at != nil {
		if g.FirstAt == nil || at.Before(*g.FirstAt) {
			g.FirstAt = at
		}
		if g.LastAt == nil || at.After(*g.LastAt) {
			g.LastAt = at
		}
	}
}

// failure is what is shown of the failure of a run; nil for nothing.
func (t *failureTally) failure(r *journal.Run) *Failure {
	if r.Terminal == nil {
		return nil
	}
	f, err := journal.DecodeFailure(r.Terminal.Payload)
	if err != nil {
		return nil
	}
	return t.maker.failure(Source{Run: r.ID, Kind: FromOutcome}, f)
}

// answer returns the groups. capped says that there are more runs.
func (t *failureTally) answer(capped bool) Failures {
	out := Failures{Runs: t.runs, Capped: capped, Groups: []FailureGroup{}}
	for _, g := range t.groups {
		out.Groups = append(out.Groups, *g)
	}
	slices.SortFunc(out.Groups, func(a, b FailureGroup) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(b.Example, a.Example))
	})
	if len(out.Groups) > failureGroupsMax {
		out.Groups = out.Groups[:failureGroupsMax]
	}
	return out
}

// class is the name by which a failure is found: that of a registered type, or the type, of the
// first in the chain of causes that is more than a text.
func (f *Failure) class() string {
	for c := f; c != nil; c = c.Cause {
		if c.Name != "" {
			return c.Name
		}
		if !(&journal.Failure{Type: c.Type}).Plain() {
			return strings.TrimPrefix(c.Type, journal.FailurePrefix)
		}
	}
	return f.Type
}

// step is the step that a failure, or one of its causes, has passed on.
func (f *Failure) step() string {
	for ; f != nil; f = f.Cause {
		if f.Step != "" {
			return f.Step
		}
	}
	return ""
}

var digits = regexp.MustCompile(`[0-9]+`)

// problemClass is what problems of one kind have in common: they name events and lines behind that.
func problemClass(problem string) string {
	begin, _, _ := strings.Cut(problem, ": ")
	begin = digits.ReplaceAllString(begin, "N")
	if len(begin) > classBytesMax {
		begin = strings.ToValidUTF8(begin[:classBytesMax], "") + "…"
	}
	return begin
}
