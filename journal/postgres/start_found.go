package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// startReadSQL finds, for starts that created nothing, their own run of an earlier try or the run
// that has the key. Its snapshot is newer than the conflict, so it normally sees the other run; if
// that has gone meanwhile, the start is tried again in a further round.
const startReadSQL = `
SELECT i.ord, own.start_at, task.owner, task.fence, holder.id, holder.workflow, holder.status, holder.start_at, clock_timestamp()
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS i(id, key, ord)
LEFT JOIN LATERAL (
    SELECT coalesce(r.start_at, r.created_at) AS start_at FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) own ON true
LEFT JOIN LATERAL (
    SELECT t.owner, t.fence FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) task ON true
LEFT JOIN LATERAL (
    SELECT r.id, r.workflow, r.status, coalesce(r.start_at, r.created_at) AS start_at
    FROM reprise.runs r WHERE r.key BETWEEN i.key AND i.key AND r.holds_key ORDER BY r.key LIMIT 1) holder ON true`

// startFound is a row of startReadSQL: the start's own run, or else the holder of its key.
type startFound struct {
	own         pgtype.Timestamptz
	owner       *int32
	fence       *int64
	holder      pgtype.UUID
	workflow    *string
	status      *int16
	holderStart pgtype.Timestamptz
	now         time.Time
}

// outcome returns the outcome of a start that created nothing, or nil if it should be tried again:
// because the key is free now, or because its holder may be replaced.
func (f *startFound) outcome(st *journal.Start, last bool) *journal.Started {
	switch {
	case f.own.Valid: // J4: an earlier try made the run
		owned := f.owner != nil && st.Owner != 0 && *f.owner == int32(st.Owner) && journal.Fence(*f.fence) == journal.FenceAtBirth
		return &journal.Started{Run: st.ID, Created: true, Owned: owned, StartAt: timeOf(f.own), Now: f.now.UTC()}
	case !f.holder.Valid:
		if last {
			return &journal.Started{Run: st.ID, Now: f.now.UTC(), Err: journal.ErrUnavailable}
		}
		return nil
	case *f.workflow != st.Workflow:
		return &journal.Started{Run: f.holder.Bytes, Now: f.now.UTC(),
			Err: &journal.KeyConflictError{Key: st.Key, Run: f.holder.Bytes, Workflow: *f.workflow}}
	}
	status := journal.Status(*f.status)
	if st.Reuse.Replaces(status) && !last {
		return nil
	}
	return &journal.Started{Run: f.holder.Bytes, StartAt: timeOf(f.holderStart), Now: f.now.UTC()}
}
