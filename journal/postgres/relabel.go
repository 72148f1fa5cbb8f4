package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal/driver"
)

// relabelSQL merges label changes into the rows of runs, as publishSQL writes what they publish: in
// the transaction of their turns, under the locks of their tasks. The first change keeps the labels
// of the start, which replay goes on to see. An operator's change is written the same way, see
// adminEdit.
const relabelSQL = `
UPDATE reprise.runs r
SET start_labels = coalesce(r.start_labels, r.labels, '{}'),
    labels = nullif(jsonb_strip_nulls(coalesce(r.labels, '{}') || i.changes::jsonb), '{}')
FROM unnest($1::uuid[], $2::text[]) AS i(run_id, changes)
WHERE r.id = ANY (ARRAY[i.run_id])`

// queueRelabel adds relabelSQL for the accepted members that change labels, if there are any.
func (e *effects) queueRelabel(p *pipeline) error {
	var ids []pgtype.UUID
	var texts []string
	for _, i := range e.accepted {
		c := &e.commits[i]
		if c.Labels == nil {
			continue
		}
		text, err := driver.EncodeLabelChanges(c.Labels)
		if err != nil {
			return fmt.Errorf("commit %s: labels: %w", c.Run, err)
		}
		ids, texts = append(ids, uuidArg(c.Run)), append(texts, text)
	}
	if len(ids) > 0 {
		p.exec(e.s.sql.row.relabel, ids, texts)
	}
	return nil
}
