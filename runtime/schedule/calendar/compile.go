package calendar

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Times are the slots of a spec. They may be used from many goroutines.
type Times struct {
	spec      Spec
	loc       *time.Location
	rules     []*rule
	except    []*rule
	intervals []Interval
}

// Compile checks a spec and makes its slots. The error names everything that is wrong with the
// spec, not only the first thing.
func Compile(s Spec) (*Times, error) {
	t, problems := &Times{spec: s}, []string{}
	note := func(what string, i, of int, err error) {
		if err == nil {
			return
		}
		if of > 1 {
			what = fmt.Sprintf("%s %d", what, i+1)
		}
		problems = append(problems, what+": "+err.Error())
	}
	for i, line := range s.Cron {
		note("cron", i, len(s.Cron), t.addCron(line))
	}
	for i, x := range s.Every {
		note("every", i, len(s.Every), x.check())
		t.intervals = append(t.intervals, x)
	}
	for i := range s.On {
		r, err := s.On[i].rule("0", false)
		if err == nil {
			err = r.checkSome()
		}
		note("on", i, len(s.On), err)
		t.rules = append(t.rules, r)
	}
	for i := range s.Except {
		r, err := s.Except[i].rule("*", false)
		if err == nil && s.Except[i] == (Fields{}) {
			err = errors.New("it excludes everything: give it a field")
		}
		note("except", i, len(s.Except), err)
		t.except = append(t.except, r)
	}
	var err error
	t.loc, err = LoadZone(s.Zone)
	note("zone", 0, 0, err)
	for _, err := range s.checkRest() {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	return t, nil
}

// checkRest checks what is not of one line.
func (s *Spec) checkRest() (errs []error) {
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	refuse(len(s.Cron)+len(s.Every)+len(s.On) == 0, "it says no time: give it cron, every or on")
	n := max(len(s.Cron), len(s.Every), len(s.On), len(s.Except))
	refuse(n > linesMax, "there are %d lines of one sort, at most %d are allowed", n, linesMax)
	switch s.Gap {
	case "", GapAfter, GapBefore, GapSkip:
	default:
		refuse(true, "gap: %q must be after, before or skip", s.Gap)
	}
	switch s.Repeat {
	case "", RepeatFirst, RepeatSecond, RepeatBoth:
	default:
		refuse(true, "repeat: %q must be first, second or both", s.Repeat)
	}
	refuse(s.Jitter < 0 || time.Duration(s.Jitter) > JitterMax, "jitter: %s must be between 0 and %s", s.Jitter, JitterMax)
	refuse(!s.Until.IsZero() && !s.Until.After(s.From), "until: %s is not after from, %s", s.Until.Format(time.RFC3339), s.From.Format(time.RFC3339))
	return errs
}

func (x Interval) check() error {
	every, offset := time.Duration(x.Every), time.Duration(x.Offset)
	switch {
	case every < EveryMin || every > EveryMax || every%time.Second != 0:
		return fmt.Errorf("the interval %s must be whole seconds, from %s to %s", every, EveryMin, EveryMax)
	case offset < 0 || offset >= every || offset%time.Second != 0:
		return fmt.Errorf("the offset %s must be whole seconds, from 0 to less than the interval, %s", offset, every)
	}
	return nil
}

// short are the lines that have a name.
var short = map[string]string{
	"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
	"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
}

// addCron adds a line.
func (t *Times) addCron(line string) error {
	text := strings.TrimSpace(line)
	if d, found := strings.CutPrefix(text, "@every "); found {
		var every Duration
		err := every.UnmarshalText([]byte(strings.TrimSpace(d)))
		if err == nil {
			err = Interval{Every: every}.check()
		}
		t.intervals = append(t.intervals, Interval{Every: every})
		return wrapLine(line, err)
	}
	if long, found := short[strings.ToLower(text)]; found {
		text = long
	}
	if strings.HasPrefix(text, "CRON_TZ=") || strings.HasPrefix(text, "TZ=") {
		return wrapLine(line, errors.New("the zone stands beside the line, in the field zone"))
	}
	columns := strings.Fields(text)
	if len(columns) == 5 {
		columns = append([]string{"0"}, columns...)
	}
	if len(columns) != 6 {
		return wrapLine(line, fmt.Errorf("it has %d fields: it needs 5 (minute, hour, day, month, weekday) or 6, with the second first", len(columns)))
	}
	r, err := (&Fields{
		Second: Field(columns[0]), Minute: Field(columns[1]), Hour: Field(columns[2]), Day: Field(columns[3]),
		Month: Field(columns[4]), Weekday: Field(columns[5]),
	}).rule("0", true)
	r.text = line
	if err == nil {
		err = r.checkSome()
	}
	t.rules = append(t.rules, r)
	return wrapLine(line, err)
}

func wrapLine(line string, err error) error {
	if err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	return nil
}

// rule makes a rule of the fields. time stands for a second, a minute and an hour that are not
// given; either is as in a cron line.
func (f *Fields) rule(time string, either bool) (*rule, error) {
	r, errs := &rule{either: either}, []error{}
	or := func(text Field, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return string(text)
	}
	read := func(set *uint64, f *field, text string) {
		var err error
		*set, err = f.set(text)
		errs = append(errs, err)
	}
	read(&r.seconds, &secondField, or(f.Second, time))
	read(&r.minutes, &minuteField, or(f.Minute, time))
	read(&r.hours, &hourField, or(f.Hour, time))
	read(&r.months, &monthField, or(f.Month, "*"))
	errs = append(errs, r.setDays(or(f.Day, "*")), r.setWeekdays(or(f.Weekday, "*")), r.setYears(or(f.Year, "*")))
	r.tabulate()
	return r, joined(errs)
}

// joined makes one error of several, in one line.
func joined(errs []error) error {
	texts := []string{}
	for _, err := range errs {
		if err != nil {
			texts = append(texts, err.Error())
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New(strings.Join(texts, ", "))
}

// checkSome refuses a rule that fits no date at all, such as 30 February.
func (r *rule) checkSome() error {
	if _, some := r.next(time.Date(yearMin, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), forever); !some {
		return errors.New("no date fits it")
	}
	return nil
}
