package sqlite

import (
	"encoding/hex"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// askSQL reads of several runs what conditions are about that the rows of runs do not tell. It
// reads their tasks and terminal events at once, since a statement for each run costs more than
// what it reads. The ids are a list in JSON, as hexadecimal digits.
const askSQL = `
SELECT r.id, t.owner, t.state, t.waiting, e.kind, e.encoding, e.payload
FROM json_each(?) j CROSS JOIN reprise_runs r ON r.id = unhex(j.value)
LEFT JOIN reprise_tasks t ON t.run_id = r.id
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq`

// idList returns ids as askSQL takes them.
func idList(runs []journal.RunID) string {
	var b strings.Builder
	for i, run := range runs {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.WriteString(hex.EncodeToString(run[:]))
		b.WriteByte('"')
	}
	return "[" + b.String() + "]"
}

// ask gives runs what conditions may be about: not all of their tasks and terminal events.
func (w *finding) ask(q querier, runs []journal.RunID) error {
	if len(w.dear) == 0 {
		return nil
	}
	return q.query(askSQL, func(r row) error {
		run := w.asked[r.id(0)]
		if run == nil {
			return nil
		}
		if !r.null(1) {
			run.Task = &journal.Task{Owner: journal.NodeID(r.int(1)), State: journal.TaskState(r.int(2))}
			if run.Task.State != journal.Blocked { // as addTask
				run.Task.Waiting = splitWaiting(r.text(3))
			}
		}
		if !r.null(4) {
			run.Terminal = &journal.Event{Kind: journal.Kind(r.int(4)), Payload: r.payload(5, 6)}
		}
		return nil
	}, idList(runs))
}

// selectsMore tells whether a run that was asked is selected.
func (w *finding) selectsMore(run journal.RunID) bool {
	if len(w.dear) == 0 {
		return true
	}
	r := w.asked[run]
	delete(w.asked, run)
	return r != nil && filter.Match(filter.And(w.dear), r)
}

// tellSQL reads what the histories of several runs tell: which attempts their steps took.
const tellSQL = `
SELECT r.id, count(*), coalesce(sum(e.attempt), 0)
FROM json_each(?) j CROSS JOIN reprise_runs r ON r.id = unhex(j.value)
CROSS JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.kind IN (2, 3)
GROUP BY j.key`

// tell returns what histories tell, for those runs that have had steps.
func tell(q querier, runs []journal.RunID) (map[journal.RunID]filter.Told, error) {
	told := map[journal.RunID]filter.Told{}
	return told, q.query(tellSQL, func(r row) error {
		told[r.id(0)] = filter.Told{Steps: r.int(1), Attempts: r.int(2)}
		return nil
	}, idList(runs))
}
