package postgres

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// terminalColumns are the columns of a terminal event e as every statement selects them, for
// terminalRow.
const terminalColumns = `e.seq, e.kind, e.cmd, e.at, e.name, e.encoding, e.payload, e.issued, e.link`

// terminalRow reads terminalColumns; all are null for an open run. The event is found by the number
// that the run's row has of it, so no history is read for it.
type terminalRow struct {
	seq, cmd       *int32
	kind           *int16
	at             pgtype.Timestamptz
	link           *journal.Link
	name, encoding *string
	issued         *string
	payload        []byte
}

func (r *terminalRow) targets() []any {
	return []any{&r.seq, &r.kind, &r.cmd, &r.at, &r.name, &r.encoding, &r.payload, &r.issued, &r.link}
}

// addTo gives the run its terminal event, if it has one. What the last turn asked for may be
// unreadable without hiding how the run ended.
func (r *terminalRow) addTo(run *journal.Run) {
	if r.seq == nil {
		return
	}
	issued, err := journal.DecodeIssued(textOf(r.issued))
	if err == nil {
		err = finite(r.at)
	}
	driver.NoteUnreadableEnd(run, journal.Seq(*r.seq), err)
	ev := &journal.Event{Seq: journal.Seq(*r.seq), Kind: journal.Kind(*r.kind), Time: timeOf(r.at), Name: textOf(r.name),
		Payload: journal.Payload{Encoding: textOf(r.encoding), Data: r.payload}, Issued: issued, Link: *r.link}
	if r.cmd != nil {
		ev.Cmd = journal.Cmd(*r.cmd)
	}
	run.Terminal = ev
}
