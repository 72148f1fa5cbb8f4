package filter

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Error says where a text is no filter, and what would be one there. It is a journal.ErrInvalid.
type Error struct {
	Text   string // the whole filter
	Offset int    // in bytes, where the trouble begins
	Reason string
}

// Error names the position as a column, counted from 1, and shows the text from there on.
func (e *Error) Error() string {
	rest := e.Text[min(e.Offset, len(e.Text)):]
	if rest == "" {
		return fmt.Sprintf("filter, at its end: %s", e.Reason)
	}
	return fmt.Sprintf("filter, column %d, at %q: %s", e.Offset+1, clip(rest), e.Reason)
}

// Is makes an Error a journal.ErrInvalid.
func (e *Error) Is(target error) bool { return target == journal.ErrInvalid }

// clip shortens a text for an error. What follows the trouble is of no use after a few words.
func clip(s string) string {
	const max = 30
	runes := []rune(s)
	if len(runes) <= max {
		return s
	}
	return string(runes[:max]) + "…"
}

func limitReason(what string, n, max int) string {
	return fmt.Sprintf("%d %s exceed the limit of %d in a filter", n, what, max)
}
