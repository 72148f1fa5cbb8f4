package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal/driver"
)

// publishSQL writes what runs have published. It follows the statement that wrote their turns, in
// the same transaction, so it runs under the locks of their tasks and only for accepted members.
// Nobody else writes to a run's row without that lock, and no index has the column.
const publishSQL = `
UPDATE reprise.runs r SET published = i.published
FROM unnest($1::uuid[], $2::text[]) AS i(run_id, published)
WHERE r.id = ANY (ARRAY[i.run_id])`

// queuePublish adds publishSQL for the accepted members that publish, if there are any.
func (e *effects) queuePublish(p *pipeline) error {
	var ids []pgtype.UUID
	var texts []*string
	for _, i := range e.accepted {
		c := &e.commits[i]
		if c.Published == nil {
			continue
		}
		text, err := driver.EncodePublished(c.Published)
		if err != nil {
			return fmt.Errorf("commit %s: published values: %w", c.Run, err)
		}
		ids, texts = append(ids, uuidArg(c.Run)), append(texts, nullText(text))
	}
	if len(ids) > 0 {
		p.exec(e.s.sql.row.publish, ids, texts)
	}
	return nil
}
