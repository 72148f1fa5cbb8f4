package postgres

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// The columns of events, which are the last ones of every statement that writes a batch of turns.
// An event names its member by position, from 1, which is a subscript in SQL.
const (
	eventMember = iota
	eventSeq
	eventKind
	eventCmd
	eventInbox
	eventAt
	eventLink
	eventName
	eventAttempt
	eventEncoding
	eventPayload
	eventIssued
)

// eventTypes are their types, in the order of the constants above.
var eventTypes = []uint32{int32Column, int32Column, int16Column, int32Column, int64Column, instantColumn, int64Column, textColumn,
	int32Column, textColumn, bytesColumn, textColumn}

// newTurnColumns returns columns of members, of the given types, and of their events.
func newTurnColumns(members ...uint32) *columns {
	return newColumns(slices.Concat(members, eventTypes)...)
}

// addEvent appends the columns of an event. l begins with the event columns.
func addEvent(l []column, member int32, ev *journal.Event) {
	p := driver.StoredPayload(ev)
	l[eventMember].int32(member)
	l[eventSeq].int32(int32(ev.Seq))
	l[eventKind].int16(int16(ev.Kind))
	l[eventCmd].nullInt32(int32(ev.Cmd))
	l[eventInbox].nullInt64(int64(ev.Inbox))
	l[eventAt].int64(ev.Time.UnixMicro() - epochMicros)
	l[eventLink].int64(int64(ev.Link))
	l[eventName].nullText(ev.Name)
	l[eventAttempt].nullInt32(ev.Attempt)
	l[eventEncoding].nullText(p.Encoding)
	l[eventPayload].nullBytes(p.Data)
	l[eventIssued].nullText(journal.EncodeIssued(ev.Issued))
}
