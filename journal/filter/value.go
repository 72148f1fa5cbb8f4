package filter

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Kind is the form in which a value was written.
type Kind int

// The kinds of values. KindRelative is a distance from now; Filter.At makes a KindTime of it.
const (
	KindText Kind = iota
	KindNumber
	KindBool
	KindTime
	KindRelative
	KindDuration
	KindID
	KindStatus
)

// Value is what a field is compared with. Which of its fields is set depends on its kind.
type Value struct {
	Kind     Kind
	Text     string // of KindText, KindStatus and KindBool; the decimal digits of KindNumber
	Time     time.Time
	Duration time.Duration // of KindDuration; of KindRelative what is added to now
	ID       journal.RunID
}

// Int returns a KindNumber that a field of numbers is compared with.
func (v Value) Int() int64 {
	n, _ := strconv.ParseInt(v.Text, 10, 64) // checked by the parser
	return n
}

// statuses are the words for what may become of a run: those of its status, and those of the task
// of an open one.
var statuses = []string{
	journal.Open.String(), journal.Completed.String(), journal.Failed.String(), journal.Cancelled.String(), journal.Terminated.String(),
	journal.Blocked.String(), journal.Quarantined.String(), journal.Paused.String(), journal.Limited.String(),
}

// Status returns what a KindStatus means: a status, or the state of the task of an open run, which
// is not Ready then.
func (v Value) Status() (journal.Status, journal.TaskState) {
	for _, state := range []journal.TaskState{journal.Blocked, journal.Quarantined, journal.Paused, journal.Limited} {
		if v.Text == state.String() {
			return journal.Open, state
		}
	}
	for s := journal.Open; s <= journal.Terminated; s++ {
		if v.Text == s.String() {
			return s, journal.Ready
		}
	}
	return -1, journal.Ready
}

// The forms of labels that are compared as numbers and as times. They are narrower than what any
// store's own conversion takes, so that all of them read a label alike. NumberPattern and
// TimePattern are regular expressions of Go and of Postgres, with one meaning in both.
const (
	NumberPattern = `^[+-]?[0-9]+([.][0-9]+)?$`
	TimePattern   = `^[1-9][0-9]{3}-[01][0-9]-[0-3][0-9](T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9]))?$`
)

var (
	numberForm = regexp.MustCompile(NumberPattern)
	timeForm   = regexp.MustCompile(TimePattern)
)

// parseTime reads a date, which is midnight in UTC, or an RFC 3339 time.
func parseTime(s string) (time.Time, bool) {
	if !timeForm.MatchString(s) {
		return time.Time{}, false
	}
	layout := time.DateOnly
	if len(s) > len(layout) {
		layout = time.RFC3339
	}
	t, err := time.Parse(layout, s)
	return t.UTC(), err == nil
}

// durationForm is one or more numbers with units, largest first by custom and not by rule.
var durationForm = regexp.MustCompile(`^[+-]?([0-9]+(ms|us|[wdhms]))+$`)

var durationPart = regexp.MustCompile(`[0-9]+(ms|us|[wdhms])`)

var units = map[string]time.Duration{
	"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second,
	"ms": time.Millisecond, "us": time.Microsecond,
}

// parseDuration reads 90m, 1h30m or -2d. It refuses what is above the limit of the stores' delays,
// so that now plus a duration is a time that each of them can hold.
func parseDuration(s string) (time.Duration, bool) {
	if !durationForm.MatchString(s) {
		return 0, false
	}
	var sum time.Duration
	for _, part := range durationPart.FindAllString(s, -1) {
		unit := strings.TrimLeft(part, "0123456789")
		n, err := strconv.ParseInt(strings.TrimSuffix(part, unit), 10, 64)
		if err != nil || n > int64(journal.DelayMax/units[unit]) {
			return 0, false
		}
		if sum += time.Duration(n) * units[unit]; sum > journal.DelayMax {
			return 0, false
		}
	}
	if s[0] == '-' {
		sum = -sum
	}
	return sum, true
}

// compareNumbers compares two decimal numbers of any length, exactly. Both match NumberPattern.
func compareNumbers(a, b string) int {
	na, ia, fa := splitNumber(a)
	nb, ib, fb := splitNumber(b)
	if na != nb {
		if na {
			return -1
		}
		return 1
	}
	order := cmp.Or(cmp.Compare(len(ia), len(ib)), strings.Compare(ia, ib), strings.Compare(fa, fb))
	if na {
		return -order
	}
	return order
}

// splitNumber returns whether a number is negative, and its digits before and after the point
// without zeros that say nothing. Zero is not negative.
func splitNumber(s string) (negative bool, whole, fraction string) {
	negative = s[0] == '-'
	whole, fraction, _ = strings.Cut(strings.TrimLeft(s, "+-"), ".")
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	return negative && whole+fraction != "", whole, fraction
}
