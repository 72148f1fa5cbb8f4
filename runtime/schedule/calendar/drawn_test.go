package calendar_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// drawn is a random spec, beside what it means to the reference.
type drawn struct {
	spec   calendar.Spec
	lines  []line
	except []line
}

func (d *drawn) excludes(shown *face) bool {
	for k := range d.except {
		if d.except[k].fits(shown) {
			return true
		}
	}
	return false
}

// line is what a line of a spec says, as sets of bits; 0 for all days, weekdays or months.
type line struct {
	minutes, hours, days, weekdays, months uint64
	fromLast                               int // days ahead of the last one of a month; -1 for none
	nth, of                                int // the nth such weekday, 5 for the last one; 0 for none
	either                                 bool
}

func (l *line) fits(shown *face) bool {
	return l.minutes>>shown.minute&1 != 0 && l.hours>>shown.hour&1 != 0 && l.fitsDay(shown)
}

func (l *line) fitsDay(shown *face) bool {
	if l.months != 0 && l.months>>shown.month&1 == 0 {
		return false
	}
	left := shown.inMonth - shown.day
	anyDay, anyWeekday := l.days == 0 && l.fromLast < 0, l.weekdays == 0 && l.nth == 0
	day := anyDay || l.days>>shown.day&1 != 0 || left == l.fromLast
	weekday := anyWeekday || l.weekdays>>shown.weekday&1 != 0
	if l.nth != 0 && shown.weekday == l.of {
		weekday = weekday || l.nth == 5 && left < 7 || l.nth < 5 && shown.day > 7*(l.nth-1) && shown.day <= 7*l.nth
	}
	if l.either && !anyDay && !anyWeekday {
		return day || weekday
	}
	return day && weekday
}

// draw makes a random spec of one to three lines, whose hours are often those of transitions. One
// that is refused because no date fits a line, such as the fourth Monday if it is the 3rd, is drawn
// anew.
func draw(r *rand.Rand) *drawn {
	for {
		d := drawAny(r)
		if _, err := calendar.Compile(d.spec); err == nil || !strings.Contains(err.Error(), "no date fits it") {
			return d
		}
	}
}

func drawAny(r *rand.Rand) *drawn {
	d := &drawn{}
	d.spec.Gap = []calendar.Gap{"", calendar.GapAfter, calendar.GapBefore, calendar.GapSkip}[r.IntN(4)]
	d.spec.Repeat = []calendar.Repeat{"", calendar.RepeatFirst, calendar.RepeatSecond, calendar.RepeatBoth}[r.IntN(4)]
	for range 1 + r.IntN(3) {
		l, text := drawLine(r)
		if l.either = r.IntN(2) == 0; l.either {
			d.spec.Cron = append(d.spec.Cron, fmt.Sprint(text.Minute, " ", text.Hour, " ", text.Day, " ", text.Month, " ", text.Weekday))
		} else {
			d.spec.On = append(d.spec.On, text)
		}
		d.lines = append(d.lines, l)
	}
	if r.IntN(3) == 0 {
		l, text := drawLine(r)
		if r.IntN(2) == 0 { // whole days
			text.Minute, text.Hour, l.minutes, l.hours = "*", "*", upTo(60), upTo(24)
		}
		d.except, d.spec.Except = append(d.except, l), append(d.spec.Except, text)
	}
	return d
}

// drawLine draws a line, and returns what it means and its text.
func drawLine(r *rand.Rand) (l line, text calendar.Fields) {
	some := func(n, below, from int) (set uint64, _ calendar.Field) {
		list := []string{}
		for range 1 + r.IntN(n) {
			v := from + r.IntN(below)
			set |= 1 << v
			list = append(list, fmt.Sprint(v))
		}
		return set, calendar.Field(strings.Join(list, ","))
	}
	l.minutes, text.Minute = some(3, 60, 0)
	if step := []int{7, 15, 20}[r.IntN(3)]; r.IntN(3) == 0 {
		l.minutes, text.Minute = 0, calendar.Field(fmt.Sprint("*/", step))
		for m := 0; m < 60; m += step {
			l.minutes |= 1 << m
		}
	}
	switch r.IntN(4) {
	case 0:
		l.hours, text.Hour = upTo(24), "*"
	case 1:
		l.hours, text.Hour = some(3, 24, 0)
	default:
		l.hours, text.Hour = some(2, 4, 0)
	}
	text.Day, text.Weekday, text.Month, l.fromLast = "*", "*", "*", -1
	switch r.IntN(12) {
	case 0:
		l.fromLast = r.IntN(3)
		text.Day = []calendar.Field{"L", "L-1", "L-2"}[l.fromLast]
	case 1, 2, 3:
		l.days, text.Day = some(8, 31, 1)
	}
	switch r.IntN(12) {
	case 0:
		l.nth, l.of = 1+r.IntN(5), r.IntN(7)
		text.Weekday = calendar.Field(fmt.Sprintf("%d#%d", l.of, l.nth))
		if l.nth == 5 {
			text.Weekday = calendar.Field(fmt.Sprintf("%dL", l.of))
		}
	case 1, 2, 3, 4:
		l.weekdays, text.Weekday = some(4, 7, 0)
	}
	if r.IntN(8) == 0 {
		l.months, text.Month = some(6, 12, 1)
	}
	return l, text
}

// upTo is the set of all numbers below n.
func upTo(n int) uint64 { return 1<<n - 1 }
