package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// clean makes text of strangers harmless on a terminal: control characters, which could move the
// cursor or change what was printed before, become spaces. Line feeds stay, for those who print
// several lines; see oneLine.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' {
			return r
		}
		if steers(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, s)
}

// steers tells whether a terminal may obey a character instead of showing it, or show others in
// another order because of it.
func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// harmless is a writer of JSON for a terminal. An encoder escapes the control characters of ASCII
// and leaves the others as they are; this escapes them too, so the JSON has the same value. Each
// call has whole characters, as an encoder's has. Outside of texts JSON has no such character.
type harmless struct{ w io.Writer }

func (h harmless) Write(p []byte) (int, error) {
	var b []byte // the copy, if one is needed
	done := 0    // what is in it already
	for i := 0; i < len(p); {
		r, size := utf8.DecodeRune(p[i:])
		if r >= 0x7f && steers(r) {
			b = fmt.Appendf(append(b, p[done:i]...), `\u%04x`, r)
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return h.w.Write(p)
	}
	if _, err := h.w.Write(append(b, p[done:]...)); err != nil {
		return 0, err
	}
	return len(p), nil
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
