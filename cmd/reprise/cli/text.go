package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// clean makes text of strangers harmless on a terminal: control characters, which could move the
// cursor or change what was printed before, become spaces. Line feeds stay, for those who print
// several lines; see oneLine.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// oneLine is text for a cell of a table: clean, in one line, and not longer than max runes.
func oneLine(s string, max int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if r := []rune(s); len(r) > max {
		return string(r[:max-1]) + "…"
	}
	return s
}

// times prints moments: how far they are from the store's clock, or as such in UTC.
type times struct {
	utc bool
	now time.Time
}

// at is a moment, "-" for none.
func (t times) at(m time.Time) string {
	switch {
	case m.IsZero():
		return "-"
	case t.utc:
		return m.UTC().Format(time.RFC3339)
	case m.After(t.now):
		return "in " + span(m.Sub(t.now))
	}
	return span(t.now.Sub(m)) + " ago"
}

// span is a duration for people: its two largest units.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return pair(d/time.Minute, "m", d%time.Minute/time.Second, "s")
	case d < day:
		return pair(d/time.Hour, "h", d%time.Hour/time.Minute, "m")
	}
	return pair(d/day, "d", d%day/time.Hour, "h")
}

func pair(large time.Duration, unit string, small time.Duration, smaller string) string {
	if small == 0 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smaller)
}
