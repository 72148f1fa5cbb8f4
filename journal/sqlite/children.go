package sqlite

import (
	"github.com/reprise-run/reprise/journal"
)

// childrenSQL reads the open children of a run, by reprise_runs_open_children_idx, which holds
// nothing else: closed children cost nothing. IS NOT NULL repeats the predicate of the index, which
// SQLite does not infer from the parameter.
const childrenSQL = `
SELECT r.id, r.parent_policy FROM reprise_runs r
WHERE r.parent_run = ? AND r.parent_run IS NOT NULL AND r.status = 0 ORDER BY r.id`

// child is an open run whose parent has closed, and what its parent wished for that case.
type child struct {
	run    journal.RunID
	policy journal.ClosePolicy
}

// closeChildren applies the close policies of a closed run's open children, and of the children of
// those that this terminates, depth first. It returns the terminated ones, appended to closed.
// Nobody is told of their ends: the parent of each is closed. The recursion ends because a child is
// made after its parent, so a family has no circle.
func (e *effects) closeChildren(parent journal.RunID, closed []journal.RunID) ([]journal.RunID, error) {
	list, err := readChildren(e.q, parent)
	for i := 0; err == nil && i < len(list); i++ {
		run := list[i].run
		switch list[i].policy {
		case journal.CloseCancel:
			request := journal.OrphanCancel(run)
			_, err = e.send(&request)
		case journal.CloseTerminate:
			if err = e.terminateChild(run); err == nil {
				closed, err = e.closeChildren(run, append(closed, run))
			}
		}
	}
	return closed, err
}

// readChildren reads them all before anything is written, because a statement that is being read
// must not have its index changed under it: rows could be met twice, or never.
func readChildren(q querier, parent journal.RunID) (list []child, err error) {
	err = q.query(childrenSQL, func(r row) error {
		list = append(list, child{r.id(0), journal.ClosePolicy(r.int16(1))})
		return nil
	}, uuidArg(parent))
	return list, err
}

// terminateChild closes a child without telling its parent, which is closed already.
func (e *effects) terminateChild(run journal.RunID) error {
	t, err := find(e.q, run)
	if err == nil {
		_, err = t.terminate(e, journal.ParentClosed)
	}
	return err
}

// tellFamily sends the outcome of a run to its parent and applies the close policies of its
// children. It returns those that it closes, appended to a list.
func (e *effects) tellFamily(run *journal.Run, ev *journal.Event, closed []journal.RunID) ([]journal.RunID, error) {
	if m, waits := run.ParentMessage(ev); waits {
		if _, err := e.send(&m); err != nil {
			return closed, err
		}
	}
	return e.closeChildren(run.ID, closed)
}
