package sqlite

import (
	"fmt"

	"github.com/reprise-run/reprise/journal/driver"
)

// publishSQL writes what a run has published, in the transaction of an accepted turn.
const publishSQL = `UPDATE reprise_runs SET published = ? WHERE id = ?`

func publish(q querier, c *driver.Commit) error {
	if c.Published == nil {
		return nil
	}
	text, err := driver.EncodePublished(c.Published)
	if err != nil {
		return fmt.Errorf("commit %s: published values: %w", c.Run, err)
	}
	_, err = q.exec(publishSQL, nullText(text), uuidArg(c.Run))
	return err
}
