package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// auditNoteSQL adds an action to the audit, in the transaction that carries it out (J12). It locks
// nothing that anybody else wants.
const auditNoteSQL = `
INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
VALUES (clock_timestamp(), $2::text, $3::text, $1::uuid, $6::text, $4::text, $5::text)`

// auditPauseSQL adds the pause of a run by itself to the audit, in the transaction of its turn
// (J12). It locks nothing.
const auditPauseSQL = `
INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
SELECT clock_timestamp(), $2::text, $3::text, r.id, r.workflow, $4::text, $5::text FROM reprise.runs r WHERE r.id = $1::uuid`

const auditColumns = `a.number, a.at, a.actor, a.verb, a.run_id, a.workflow, a.reason, a.detail`

// auditSQL reads the audit, newest first, along its primary key. An actor or a verb that is rare
// makes it read many rows for a page.
const auditSQL = `
SELECT ` + auditColumns + `
FROM reprise.audit a
WHERE a.number < $1::bigint AND ($2::text IS NULL OR a.actor = $2) AND ($3::text IS NULL OR a.verb = $3)
ORDER BY a.number DESC LIMIT $4::int`

// auditRunSQL is auditSQL for one run, along audit_run_idx.
const auditRunSQL = `
SELECT ` + auditColumns + `
FROM reprise.audit a
WHERE a.run_id = $5::uuid AND a.number < $1::bigint AND ($2::text IS NULL OR a.actor = $2) AND ($3::text IS NULL OR a.verb = $3)
ORDER BY a.run_id DESC, a.number DESC LIMIT $4::int`

// auditActedSQL reads what others have done to a run behind a number, with one verb and for reasons
// that begin alike: see driver.Once. It locks nothing and follows the lock of the run, so that its
// snapshot has whatever was done under that lock. ORDER BY and BETWEEN force the index of runs (see
// "Plans").
const auditActedSQL = `
SELECT EXISTS (
    SELECT FROM (
        SELECT a.verb, a.reason FROM reprise.audit a
        WHERE a.run_id BETWEEN $1::uuid AND $1::uuid AND a.number > $2::bigint ORDER BY a.run_id, a.number) e
    WHERE e.verb = $3::text AND starts_with(e.reason, $4::text))`

// queueActed asks whether another caller has carried an action out.
func queueActed(s *Store, p *pipeline, a *driver.AdminAction, acted *bool) {
	if a.Once != nil {
		read := each(func(row pgx.CollectableRow) error { return row.Scan(acted) })
		p.query(s.sql.admin.acted, read, uuidArg(a.Run), a.Once.After, a.Kind.String(), a.Once.Mark)
	}
}

// auditArgs are the first parameters of statements that write the audit.
func auditArgs(a *driver.AdminAction, detail string) []any {
	return []any{uuidArg(a.Run), a.Actor, a.Kind.String(), a.AuditReason(), detail}
}

// queuePauses adds the pauses of accepted members to the audit.
func (e *effects) queuePauses(p *pipeline) {
	for _, i := range e.accepted {
		if c := &e.commits[i]; c.Pause != "" {
			a := c.PauseAction()
			p.exec(e.s.sql.admin.notePause, auditArgs(&a, "")...)
		}
	}
}

// scanAudited reads auditColumns.
func scanAudited(row pgx.CollectableRow) (e journal.AuditEntry, err error) {
	var run pgtype.UUID
	err = row.Scan(&e.Number, &e.Time, &e.Actor, &e.Verb, &run, &e.Workflow, &e.Reason, &e.Detail)
	e.Time, e.Run = e.Time.UTC(), run.Bytes
	return e, err
}
