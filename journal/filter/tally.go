package filter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// By is a grouping of a journal.Aggregate that was read.
type By struct {
	Field  Field
	Label  string
	Bucket int64 // microseconds; of a time
}

// ParseBy reads groupings, or says which one is none.
func ParseBy(list []journal.Grouping) ([]By, error) {
	if len(list) > journal.GroupingsMax {
		return nil, &journal.LimitError{What: "groupings of an aggregate", Size: len(list), Max: journal.GroupingsMax}
	}
	out := make([]By, len(list))
	for i, g := range list {
		by, err := parseBy(g)
		if err != nil {
			return nil, fmt.Errorf("grouping %q: %w: %s", g.Field, journal.ErrInvalid, err)
		}
		out[i] = by
	}
	return out, nil
}

func parseBy(g journal.Grouping) (By, error) {
	f, ok := fieldNamed(g.Field)
	switch f {
	case FieldWorkflow, FieldVersion, FieldStatus, FieldQueue, FieldPriority:
	case FieldCreated, FieldStarted, FieldClosed:
		if g.Bucket < time.Microsecond {
			return By{}, fmt.Errorf("a time needs a bucket of at least a microsecond")
		}
		return By{Field: f, Bucket: g.Bucket.Microseconds()}, nil
	case FieldLabel:
		label, prefixed := strings.CutPrefix(g.Field, "label.")
		if meant, nearly := nearest(label); nearly && !prefixed {
			return By{}, fmt.Errorf("there is no such field; is %s meant? Write label.%s if it is a label", meant, label)
		}
		if err := journal.CheckText("label", label, journal.LabelKeyBytesMax); err != nil || label == "" {
			return By{}, fmt.Errorf("the name of a label has 1 to %d bytes of UTF-8", journal.LabelKeyBytesMax)
		}
		if g.Bucket != 0 {
			return By{}, fmt.Errorf("only times have buckets")
		}
		return By{Label: label}, nil
	default:
		return By{}, fmt.Errorf("runs are grouped by workflow, version, status, queue, priority, labels, and by created, started and closed with a bucket")
	}
	if ok && g.Bucket != 0 {
		return By{}, fmt.Errorf("only times have buckets")
	}
	return By{Field: f}, nil
}

// value returns the value of a run, a time as the microseconds at which its bucket begins.
func (b By) value(run *journal.Run) string {
	switch b.Field {
	case FieldLabel:
		return run.Labels[b.Label]
	case FieldWorkflow:
		return run.Workflow
	case FieldQueue:
		return run.Queue
	case FieldStatus:
		return run.Status.String()
	case FieldVersion, FieldPriority:
		n, _ := number(b.Field, run)
		return strconv.FormatInt(n, 10)
	}
	t := timeOf(b.Field, run)
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.UnixMicro()/b.Bucket*b.Bucket, 10)
}

// Tally counts runs. It is what an aggregate means: a store that lets its database count must come
// to the same numbers.
type Tally struct {
	by     []By
	groups map[string]*tallied
	runs   int
}

// tallied is what is known of a group.
type tallied struct {
	runs            int
	took            []time.Duration // of the closed runs
	steps, attempts int64
}

// NewTally returns a tally without runs.
func NewTally(by []By) *Tally { return &Tally{by: by, groups: map[string]*tallied{}} }

// Told is what the history of a run tells: how many steps have an outcome in the present
// generation, and how many attempts these took.
type Told struct{ Steps, Attempts int64 }

// TellFrom returns what the events of the present generation tell.
func TellFrom(events []journal.Event) (t Told) {
	for i := range events {
		if ev := &events[i]; ev.Kind.EndsStep() {
			t.Steps++
			t.Attempts += int64(ev.Attempt)
		}
	}
	return t
}

// Add counts a run; told may be nil.
func (t *Tally) Add(run *journal.Run, told *Told) {
	values := make([]string, len(t.by))
	for i, by := range t.by {
		values[i] = strconv.Quote(by.value(run))
	}
	key := strings.Join(values, " ")
	g := t.groups[key]
	if g == nil {
		g = &tallied{}
		t.groups[key] = g
	}
	t.runs++
	g.runs++
	if d, ok := Duration(run); ok {
		g.took = append(g.took, d)
	}
	if told != nil {
		g.steps, g.attempts = g.steps+told.Steps, g.attempts+told.Attempts
	}
}

// Groups returns what was counted, the largest group first.
func (t *Tally) Groups() (groups []journal.Group) {
	for key, of := range t.groups {
		g := journal.Group{Values: make([]string, len(t.by)), Runs: of.runs, Closed: len(of.took), Steps: of.steps, Attempts: of.attempts}
		if slices.Sort(of.took); len(of.took) > 0 {
			g.P50, g.P95 = percentile(of.took, 0.5), percentile(of.took, 0.95)
		}
		for i := range t.by {
			quoted, _ := strconv.QuotedPrefix(key)
			g.Values[i], _ = strconv.Unquote(quoted)
			key = strings.TrimPrefix(key[len(quoted):], " ")
		}
		groups = append(groups, g)
	}
	return groups
}

// percentile is percentile_disc of SQL, with the same arithmetic.
func percentile(sorted []time.Duration, p float64) time.Duration {
	return sorted[max(int(math.Ceil(p*float64(len(sorted))))-1, 0)]
}

// Answer puts groups into the form of an answer: in order, cut to the limit, with times as texts.
func Answer(groups []journal.Group, by []By, runs, most int, now time.Time) journal.Aggregated {
	slices.SortFunc(groups, func(a, b journal.Group) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), slices.Compare(a.Values, b.Values))
	})
	groups = groups[:min(len(groups), journal.GroupsMax)]
	for _, g := range groups {
		for i, b := range by {
			if micros, err := strconv.ParseInt(g.Values[i], 10, 64); err == nil && b.Bucket > 0 {
				g.Values[i] = time.UnixMicro(micros).UTC().Format(time.RFC3339Nano)
			}
		}
	}
	return journal.Aggregated{Groups: groups, Runs: runs, Capped: runs == most, Now: now}
}

// Runs returns how many runs were added.
func (t *Tally) Runs() int { return t.runs }

// CapOf returns the runs that an aggregate counts at most.
func CapOf(a *journal.Aggregate) int {
	standard, most := journal.AggregateDefault, journal.AggregateMax
	if a.Histories {
		standard, most = journal.HistoriesDefault, journal.HistoriesMax
	}
	if a.Cap <= 0 || a.Cap > most {
		return standard
	}
	return a.Cap
}
