package postgres

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// continueSQL begins the next generations of runs. It follows the statement that wrote their last
// turns, in the same transaction, so it runs under the locks of their tasks and only for accepted
// members: a new generation exists exactly if the event that ended the one before does (J2).
//
// The CTE is materialized so that the batch is unnested once for the two updates. Attempts and
// waiting lines belong to the generation that ended; what it had not consumed of the inbox is named
// by seen and carried (J5).
const continueSQL = `
WITH next AS MATERIALIZED (
    SELECT i.* FROM unnest($1::uuid[], $2::int[], $3::int[], $4::bytea[], $5::text[], $6::bigint[], $7::text[])
        AS i(run_id, generation, version, input, encoding, seen, carried)
), queued AS (
    UPDATE reprise.tasks t SET generation = n.generation, version = n.version, attempts = '', waiting = ''
    FROM next n WHERE t.run_id = ANY (ARRAY[n.run_id])
)
UPDATE reprise.runs r
SET generation = n.generation, version = n.version, input = n.input, input_encoding = n.encoding, inbox_seen = n.seen,
    carried = n.carried::bigint[], rewound = NULL
FROM next n WHERE r.id = ANY (ARRAY[n.run_id])`

// queueContinue adds continueSQL for the accepted members that continue as their next generation,
// if there are any.
func (e *effects) queueContinue(p *pipeline) {
	var ids []pgtype.UUID
	var generations, versions []int32
	var inputs [][]byte
	var encodings, carried []*string
	var seen []*int64
	for _, i := range e.accepted {
		c := &e.commits[i]
		next := c.Continue
		if next == nil {
			continue
		}
		ids, generations, versions = append(ids, uuidArg(c.Run)), append(generations, int32(c.Generation)+1), append(versions, next.Version)
		inputs, encodings = append(inputs, nullBytes(next.Input.Data)), append(encodings, nullText(next.Input.Encoding))
		seen, carried = append(seen, nullInt(int64(next.Seen))), append(carried, numberList(next.Carried))
	}
	if len(ids) > 0 {
		p.exec(e.s.sql.row.next, ids, generations, versions, inputs, encodings, seen, carried)
	}
}

// numberList is an array as text, because an array of arrays cannot be unnested: its elements would
// come out one by one. None is null.
func numberList(list []journal.InboxSeq) *string {
	if len(list) == 0 {
		return nil
	}
	return new("{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]") + "}")
}
