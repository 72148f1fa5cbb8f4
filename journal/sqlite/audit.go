package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// auditNoteSQL adds an action to the audit, in the transaction that carries it out (J12).
const auditNoteSQL = `INSERT INTO reprise_audit (at, actor, verb, run_id, workflow, reason, detail) VALUES (?, ?, ?, ?, ?, ?, ?)`

const auditColumns = `a.number, a.at, a.actor, a.verb, a.run_id, a.workflow, a.reason, a.detail`

// auditSQL reads the audit, newest first, along its primary key. An actor or a verb that is rare
// makes it read many rows for a page.
const auditSQL = `
SELECT ` + auditColumns + `
FROM reprise_audit a
WHERE a.number < +?1 AND (?2 IS NULL OR a.actor = ?2) AND (?3 IS NULL OR a.verb = ?3)
ORDER BY a.number DESC LIMIT +?4`

// auditRunSQL is auditSQL for one run, along reprise_audit_run_idx.
const auditRunSQL = `
SELECT ` + auditColumns + `
FROM reprise_audit a
WHERE a.run_id = ?5 AND a.number < +?1 AND (?2 IS NULL OR a.actor = ?2) AND (?3 IS NULL OR a.verb = ?3)
ORDER BY a.number DESC LIMIT +?4`

// auditActedSQL reads the entries of a run behind a number, along reprise_audit_run_idx: see
// driver.Once.
const auditActedSQL = `
SELECT ` + auditColumns + ` FROM reprise_audit a WHERE a.run_id = ? AND a.number > ? ORDER BY a.number`

// unacted answers driver.ErrActed if another caller has carried an action out, whatever has become
// of the run.
func unacted(q querier, a *driver.AdminAction) error {
	if a.Once == nil {
		return nil
	}
	acted := false
	err := q.query(auditActedSQL, func(r row) error {
		e := auditedOf(r)
		acted = acted || a.Acted(&e)
		return nil
	}, uuidArg(a.Run), a.Once.After)
	if err == nil && acted {
		return driver.ErrActed
	}
	return err
}

// note adds an action to the audit.
func note(q querier, a *driver.AdminAction, workflow, detail string, at time.Time) error {
	_, err := q.exec(auditNoteSQL, at.UnixMicro(), a.Actor, a.Kind.String(), uuidArg(a.Run), workflow, a.AuditReason(), detail)
	return err
}

// auditPauseSQL adds the pause of a run by itself to the audit, in the transaction of its turn
// (J12).
const auditPauseSQL = `
INSERT INTO reprise_audit (at, actor, verb, run_id, workflow, reason, detail)
SELECT ?, ?, ?, r.id, r.workflow, ?, '' FROM reprise_runs r WHERE r.id = ?`

// notePause adds the pause of a turn to the audit, if it has one.
func notePause(q querier, c *driver.Commit, at time.Time) error {
	if c.Pause == "" {
		return nil
	}
	a := c.PauseAction()
	_, err := q.exec(auditPauseSQL, at.UnixMicro(), a.Actor, a.Kind.String(), a.AuditReason(), uuidArg(a.Run))
	return err
}

// auditedOf reads auditColumns.
func auditedOf(r row) journal.AuditEntry {
	return journal.AuditEntry{
		Number: r.int(0), Time: r.time(1), Actor: r.text(2), Verb: r.text(3), Run: r.id(4), Workflow: r.text(5), Reason: r.text(6), Detail: r.text(7),
	}
}
