package sqlite

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// relabelSQL merges label changes into a run's row, in the transaction of an accepted turn or of an
// operator's action. The first change keeps the labels of the start, which replay goes on to see.
const relabelSQL = `
UPDATE reprise_runs
SET start_labels = coalesce(start_labels, labels, '{}'), labels = nullif(json_patch(coalesce(labels, '{}'), ?), '{}')
WHERE id = ?`

func relabel(q querier, run journal.RunID, changes map[string]*string) error {
	if changes == nil {
		return nil
	}
	text, err := driver.EncodeLabelChanges(changes)
	if err != nil {
		return fmt.Errorf("run %s: labels: %w", run, err)
	}
	_, err = q.exec(relabelSQL, text, uuidArg(run))
	return err
}
