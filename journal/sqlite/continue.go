package sqlite

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// continueSQL and continueTaskSQL begin the next generation of a run, in the transaction of the
// turn that ended the one before (J2). They are executed for accepted turns only, so they name no
// owner.
const (
	continueSQL = `
UPDATE reprise_runs SET generation = generation + 1, version = ?, input = ?, input_encoding = ?, inbox_seen = ?, carried = ?, rewound = NULL
WHERE id = ?`
	continueTaskSQL = `UPDATE reprise_tasks SET generation = generation + 1, version = ?, attempts = NULL, waiting = NULL
WHERE run_id = ?`
)

// nextGeneration begins the next generation. The task stays the owner's or was freed with the
// commit; what the generation had not consumed of the inbox is named by Seen and Carried (J5).
func nextGeneration(q querier, run journal.RunID, n *journal.Continue) error {
	carried, err := encodeCarried(n.Carried)
	if err != nil {
		return fmt.Errorf("commit %s: carried messages: %w", run, err)
	}
	_, err = q.exec(continueSQL, int64(n.Version), nullBytes(n.Input.Data), nullText(n.Input.Encoding), int64(n.Seen), carried, uuidArg(run))
	if err != nil {
		return err
	}
	_, err = q.exec(continueTaskSQL, int64(n.Version), uuidArg(run))
	return err
}
