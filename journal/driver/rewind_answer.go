package driver

import (
	"bytes"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// childKey begins the keys of answers of children, as [journal.ChildMessage] makes them.
const childKey = "~child/"

// Answer is what a parent has heard of a child's end, as its inbox has it.
type Answer struct {
	Kind    journal.MessageKind
	Key     string // as [journal.ChildMessage] and [FreedKey] make it
	Payload journal.Payload
}

// Child returns the child that has answered, and whether the answer was freed before. It answers
// false if the message is none of a child that was there.
func (a *Answer) Child() (child journal.RunID, freed, ok bool) {
	id, ok := strings.CutPrefix(a.Key, childKey)
	if !ok || a.Kind != journal.MessageChildCompleted && a.Kind != journal.MessageChildFailed {
		return child, false, false
	}
	id, _, freed = strings.Cut(id, "/")
	child, err := journal.ParseRunID(id)
	return child, freed, err == nil
}

// Tells tells whether the answer is of that end.
func (a *Answer) Tells(end *journal.Event) bool {
	return (end.Kind == journal.RunCompleted) == (a.Kind == journal.MessageChildCompleted) &&
		end.Payload.Encoding == a.Payload.Encoding && bytes.Equal(end.Payload.Data, a.Payload.Data)
}
