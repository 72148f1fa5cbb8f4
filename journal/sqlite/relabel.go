package sqlite

import (
	"fmt"

	"github.com/reprise-run/reprise/journal/driver"
)

// relabelSQL merges label changes into a run's row, in the transaction of an accepted turn. The
// first change keeps the labels of the start, which replay goes on to see.
const relabelSQL = `
UPDATE reprise_runs
SET start_labels = coalesce(start_labels, labels, '{}'), labels = nullif(json_patch(coalesce(labels, '{}'), ?), '{}')
WHERE id = ?`

func relabel(q querier, c *driver.Commit) error {
	if c.Labels == nil {
		return nil
	}
	text, err := driver.EncodeLabelChanges(c.Labels)
	if err != nil {
		return fmt.Errorf("commit %s: labels: %w", c.Run, err)
	}
	_, err = q.exec(relabelSQL, text, uuidArg(c.Run))
	return err
}
