package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Reuses are the words for journal.Reuse, in the order of its numbers.
var Reuses = []string{"reject", "allow", "allow-if-failed"}

// Statuses are the words for journal.Status, in the order of its numbers.
func Statuses() (words []string) {
	for s := journal.Open; s <= journal.Terminated; s++ {
		words = append(words, s.String())
	}
	return words
}

// States are the words for journal.TaskState, in the order of its numbers, the first of which is
// journal.Limited.
func States() (words []string) {
	for s := journal.Limited; s <= journal.Interrupting; s++ {
		words = append(words, s.String())
	}
	return words
}

// ParseSpan is time.ParseDuration with days of 24 hours: 3d.
func ParseSpan(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		return time.Duration(n * float64(24*time.Hour)), err
	}
	return time.ParseDuration(text)
}

// ParseMoment reads a moment, or how long before now it is. The error wraps journal.ErrInvalid.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	if ago, err := ParseSpan(text); err == nil && ago >= 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, invalid("%q is neither a time such as 2026-11-29T12:00:00Z nor a duration such as 90m, 12h or 3d", text)
}

// ParseTime reads a date or a time, in UTC if it names no zone. The error wraps journal.ErrInvalid.
func ParseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, invalid("%q is no time, such as 2026-11-30 or 2026-11-30T02:30:00Z", text)
}

// ParseGroupings reads groupings: a field or a label, and of a time the width of its bucket, as in
// closed:1h. The error wraps journal.ErrInvalid.
func ParseGroupings(list []string) (by []journal.Grouping, err error) {
	for _, arg := range list {
		field, bucket, timed := strings.Cut(arg, ":")
		g := journal.Grouping{Field: field}
		switch field {
		case "created", "started", "closed":
			if !timed {
				return nil, invalid("%s needs the width of a bucket: %[1]s:1h", field)
			}
			if g.Bucket, err = ParseSpan(bucket); err != nil {
				return nil, invalid("%q: %q is no duration such as 90m, 12h or 3d", arg, bucket)
			}
		default:
			g.Field = arg // names of labels may have colons
		}
		by = append(by, g)
	}
	return by, nil
}

// ParseStep reads which step is meant: step:NAME, cmd:N or event:N. The error wraps
// journal.ErrInvalid.
func ParseStep(text string) (runtime.StepResult, error) {
	kind, value, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(value, 10, 32)
	switch {
	case kind == "step" && value != "":
		return runtime.StepResult{Name: value}, nil
	case kind == "cmd" && err == nil && n > 0:
		return runtime.StepResult{Cmd: journal.Cmd(n)}, nil
	case kind == "event" && err == nil && n > 0:
		return runtime.StepResult{Event: journal.Seq(n)}, nil
	}
	return runtime.StepResult{}, invalid("%q is none of step:NAME, cmd:N and event:N", text)
}

// invalidError is a text that is no such thing. It does not show journal.ErrInvalid, whose text
// says nothing more.
type invalidError struct{ text string }

func (e *invalidError) Error() string { return e.text }

func (e *invalidError) Is(target error) bool { return target == journal.ErrInvalid }

func invalid(format string, args ...any) error {
	return &invalidError{fmt.Sprintf(format, args...)}
}
