package sqlite

import (
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// pausesSQL reads the pauses of scopes: as many as operators have made, which is few.
const pausesSQL = `
SELECT p.queue, p.workflow, p.version, p.number, p.interrupts, p.at, p.actor, p.reason FROM reprise_pauses p
ORDER BY p.queue, p.workflow, p.version`

// pauseScopeSQL pauses a scope. A pause that replaces another one has a number of its own, so that
// every node has to heed it: it interrupts.
const pauseScopeSQL = `
INSERT OR REPLACE INTO reprise_pauses (queue, workflow, version, interrupts, at, actor, reason)
VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number`

// resumeScopeSQL ends the pause of a scope.
const resumeScopeSQL = `DELETE FROM reprise_pauses WHERE queue = ? AND workflow = ? AND version = ?`

// pauseScope pauses or resumes a scope, in the writer's transaction. What has changed is in the
// audit (J12).
func pauseScope(q querier, a *driver.AdminAction, at time.Time) (out driver.AdminOutcome, err error) {
	list, err := readPauses(q)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(list, func(p journal.Pause) bool { return p.Scope == *a.Scope })
	var has *journal.Pause
	if i >= 0 {
		has, out.Pause = &list[i], list[i].Number
	}
	if !a.ScopePaused(has) {
		return out, nil
	}
	scope := []any{a.Scope.Queue, a.Scope.Workflow, int64(a.Scope.Version)}
	out.Pause = 0
	if a.Kind == driver.AdminResume {
		_, err = q.exec(resumeScopeSQL, scope...)
	} else {
		args := append(scope, boolArg(a.Kind == driver.AdminInterrupt), at.UnixMicro(), a.Actor, a.AuditReason())
		err = q.query(pauseScopeSQL, func(r row) error { out.Pause = r.int(0); return nil }, args...)
	}
	if err != nil {
		return out, err
	}
	return out, note(q, a, a.Scope.Workflow, a.ScopeDetail(), at)
}

func readPauses(q querier) (list []journal.Pause, err error) {
	err = q.query(pausesSQL, func(r row) error {
		list = append(list, journal.Pause{
			Scope:  journal.Scope{Queue: r.text(0), Workflow: r.text(1), Version: int32(r.int(2))},
			Number: r.int(3), Interrupts: r.bool(4), Time: r.time(5), Actor: r.text(6), Reason: r.text(7),
		})
		return nil
	})
	return list, err
}
