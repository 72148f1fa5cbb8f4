package postgres

import (
	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// endsSQL reads what has become of those runs among $1 that are closed or do not exist. A run is
// named by its place in $1, so an open one costs the bytes of its id in the request and nothing in
// the answer, and of its row no column is read that may be large.
//
// Outcomes beyond $2 bytes are left out, except the first: their size is known without reading
// them. All is one statement, so a run is never seen as closed without its terminal event.
//
// Each event is looked for by itself, in the order of the primary key: a planner that takes the
// table of events for a tiny one would read all of it for each call, until the server has looked
// again.
const endsSQL = `
WITH found AS (
    SELECT i.ord, i.id, r.generation, r.closed_seq, r.known
    FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, ord)
    LEFT JOIN LATERAL (SELECT r.generation, r.closed_seq, true AS known FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r ON true
    WHERE r.known IS NULL OR r.closed_seq IS NOT NULL
), sized AS (
    SELECT f.*, coalesce(sum(e.bytes) OVER (ORDER BY f.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) < $2::int AS fits
    FROM found f
    LEFT JOIN LATERAL (
        SELECT octet_length(e.payload) AS bytes FROM reprise.events e
        WHERE e.run_id = f.id AND e.generation = f.generation AND e.seq BETWEEN f.closed_seq AND f.closed_seq
        ORDER BY e.run_id, e.generation, e.seq LIMIT 1) e ON true
)
SELECT s.ord, s.known IS NOT NULL, s.fits, ` + terminalColumns + `
FROM sized s
LEFT JOIN LATERAL (
    SELECT * FROM reprise.events e
    WHERE s.fits AND e.run_id = s.id AND e.generation = s.generation AND e.seq BETWEEN s.closed_seq AND s.closed_seq
    ORDER BY e.run_id, e.generation, e.seq LIMIT 1) e ON true
ORDER BY s.ord`

// scanEnds reads what has become of a run of the question.
func scanEnds(runs []journal.RunID, ends *[]driver.End) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var ord int64
		var known, fits bool
		var t terminalRow
		if err := row.Scan(append([]any{&ord, &known, &fits}, t.targets()...)...); err != nil {
			return err
		}
		e := driver.End{Run: runs[ord-1], Err: journal.ErrNotFound}
		if known {
			run := journal.Run{ID: e.Run}
			t.addTo(&run)
			e.Terminal, e.Later, e.Err = run.Terminal, !fits, nil
		}
		*ends = append(*ends, e)
		return nil
	}
}
