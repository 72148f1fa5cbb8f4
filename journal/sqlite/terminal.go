package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// terminalColumns are the columns of a terminal event e, for addTerminal.
const terminalColumns = `e.seq, e.kind, e.cmd, e.at, e.name, e.encoding, e.payload, e.issued, e.link`

// listTerminalSQL reads the terminal event of a closed run, by the number that the run's row has of
// it.
const listTerminalSQL = `
SELECT ` + terminalColumns + `
FROM reprise_runs r JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq
WHERE r.id = ?`

// addTerminal gives a closed run its terminal event. What the last turn asked for may be unreadable
// without hiding how the run ended.
func addTerminal(q querier, run *journal.Run) error {
	return q.query(listTerminalSQL, func(r row) error {
		issued, err := journal.DecodeIssued(r.text(7))
		driver.NoteUnreadableEnd(run, journal.Seq(r.int32(0)), err)
		run.Terminal = &journal.Event{Seq: journal.Seq(r.int32(0)), Kind: journal.Kind(r.int16(1)), Cmd: journal.Cmd(r.int32(2)),
			Time: r.time(3), Name: r.text(4), Payload: r.payload(5, 6), Issued: issued, Link: journal.Link(r.int(8))}
		return nil
	}, uuidArg(run.ID))
}
