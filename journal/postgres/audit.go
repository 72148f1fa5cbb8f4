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

// auditArgs are the first parameters of statements that write the audit.
func auditArgs(a *driver.AdminAction, detail string) []any {
	return []any{uuidArg(a.Run), a.Actor, a.Kind.String(), a.AuditReason(), detail}
}

// scanAudited reads auditColumns.
func scanAudited(row pgx.CollectableRow) (e journal.AuditEntry, err error) {
	var run pgtype.UUID
	err = row.Scan(&e.Number, &e.Time, &e.Actor, &e.Verb, &run, &e.Workflow, &e.Reason, &e.Detail)
	e.Time, e.Run = e.Time.UTC(), run.Bytes
	return e, err
}
