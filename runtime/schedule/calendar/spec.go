package calendar

import (
	"encoding/json"
	"fmt"
	"time"
)

// Spec says when something happens. It has at least one line in Cron, Every or On; what they say is
// united. It is data: programs keep it as JSON, and people write it as YAML.
type Spec struct {
	// Cron are lines of five fields (minute, hour, day of the month, month, weekday) or six, with
	// the second first; or one of @yearly, @monthly, @weekly, @daily, @hourly and "@every 15m".
	// Beside lists, ranges, steps and names of months and weekdays there are, for the day, L for
	// the last one and L-2 for two before it, and for the weekday fri#2 for the second Friday and
	// friL for the last one. As ever with cron, a line that restricts both days means either.
	Cron Lines `json:"cron,omitempty"`
	// Every are intervals, which count seconds from the beginning of 1970 in UTC.
	Every []Interval `json:"every,omitempty"`
	// On are lists of fields, all of which must fit.
	On []Fields `json:"on,omitempty"`
	// Except excludes times that one of these lists fits. Fields that are not given fit everything
	// there, so {Day: "25", Month: "dec"} excludes a whole day. A time that does not exist is
	// excluded by what the spec says, not by when it would run instead.
	Except []Fields `json:"except,omitempty"`
	// From and Until bound the slots: none is before From, and all are before Until. Zero for none.
	From  time.Time `json:"from,omitzero"`
	Until time.Time `json:"until,omitzero"`
	// Zone is a name of the IANA database, such as "Europe/Berlin"; default UTC.
	Zone string `json:"zone,omitempty"`
	// Gap says what becomes of a time that does not exist, Repeat of one that exists twice.
	Gap    Gap    `json:"gap,omitempty"`
	Repeat Repeat `json:"repeat,omitempty"`
	// Jitter spreads what has the same slots: something is due later than its slot, by less than
	// this and ahead of the next slot. By how much is a function of its name and the slot.
	Jitter Duration `json:"jitter,omitempty"`
}

// Interval is a slot at every multiple of Every, plus Offset.
type Interval struct {
	Every  Duration `json:"every"`
	Offset Duration `json:"offset,omitempty"` // less than Every
}

// Fields are what a moment of the wall clock must fit, each as in a cron line. Hour, Minute and
// Second are 0 where they are not given, the others fit everything.
type Fields struct {
	Second  Field `json:"second,omitempty"`
	Minute  Field `json:"minute,omitempty"`
	Hour    Field `json:"hour,omitempty"`
	Day     Field `json:"day,omitempty"`
	Month   Field `json:"month,omitempty"`
	Weekday Field `json:"weekday,omitempty"`
	Year    Field `json:"year,omitempty"`
}

// Gap says what becomes of a time that the wall clock leaves out.
type Gap string

// The policies for gaps.
const (
	GapAfter  Gap = "after"  // it runs later, by as much as the clock was set; the default
	GapBefore Gap = "before" // it runs earlier, by as much
	GapSkip   Gap = "skip"   // it does not run
)

// Repeat says what becomes of a time that the wall clock shows twice.
type Repeat string

// The policies for repeated times.
const (
	RepeatFirst  Repeat = "first" // it runs the first time; the default
	RepeatSecond Repeat = "second"
	RepeatBoth   Repeat = "both"
)

// Policy says in words what happens when the clock is set.
func (s *Spec) Policy() string {
	gap, repeat := "runs later, by as much as the clock was set", "runs the first time"
	switch s.Gap {
	case GapBefore:
		gap = "runs earlier, by as much as the clock was set"
	case GapSkip:
		gap = "does not run"
	}
	switch s.Repeat {
	case RepeatSecond:
		repeat = "runs the second time"
	case RepeatBoth:
		repeat = "runs both times"
	}
	return "a time that does not exist " + gap + "; one that exists twice " + repeat
}

// Lines are lines of text. In JSON and YAML one line may stand without a list.
type Lines []string

// UnmarshalJSON implements json.Unmarshaler.
func (l *Lines) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*l = make(Lines, 1)
		return json.Unmarshal(b, &(*l)[0])
	}
	return json.Unmarshal(b, (*[]string)(l))
}

// Field is a field of a cron line. In JSON and YAML it may be a number.
type Field string

// UnmarshalJSON implements json.Unmarshaler.
func (f *Field) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
		*f = Field(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(f))
}

// Duration is a time.Duration that is text, such as "1h30m", in JSON and YAML.
type Duration time.Duration

// String is the duration as text.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("%q is no duration, such as 90s, 15m or 1h30m", b)
	}
	*d = Duration(v)
	return nil
}
