package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// listColumns is what both listing statements select: a run with its task or its terminal event,
// and the time.
const listColumns = taskColumns + `,
       ` + terminalColumns + `, clock_timestamp(),
       ` + runColumns

// listWhere and listRest are what both listing statements filter by. Between them stands what
// differs. A parameter that is null selects everything.
const (
	listWhere = `LEFT JOIN reprise.tasks t ON t.run_id = r.id
LEFT JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq
WHERE ($1::uuid IS NULL OR r.id < $1)
  AND ($2::uuid[] IS NULL OR r.id = ANY ($2))
  AND ($3::text IS NULL OR r.workflow = $3)
  AND ($4::int IS NULL OR r.version = $4)
  AND ($5::smallint IS NULL OR r.status = $5)
`
	listRest = `  AND ($7::smallint IS NULL OR t.state = $7)
  AND ($8::jsonb IS NULL OR r.labels @> $8)
  AND ($9::timestamptz IS NULL OR r.created_at >= $9)
  AND ($10::timestamptz IS NULL OR r.created_at < $10)
  AND ($11::uuid IS NULL OR r.parent_run = $11)
  AND ($12::text IS NULL OR t.run_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM reprise.events c WHERE c.run_id = r.id AND c.generation = r.generation
        AND (E'\n' || c.issued || E'\n' LIKE E'%\n' || $12 || E'\n%' OR E'\n' || c.issued LIKE E'%\n' || $12 || E'\t%')))
ORDER BY r.id DESC LIMIT $13::int`
)

// listSQL reads a page, newest first: ids of runs grow with time, so the order of the primary key
// is the order of pages, and a cursor is an id.
//
// It is planned for its parameters (see listPlanSQL), so a condition whose parameter is null is
// folded away, and only those that are there decide the plan. Two conditions are written so that
// the planner can start from a smaller table than runs: one on the task is strict (t.run_id IS NOT
// NULL), which turns the outer join into an inner one; one on the terminal event names the kind and
// repeats the predicate of events_failed_idx.
//
// It locks nothing, and each page is a snapshot of its own: a run that closes between two pages is
// on the page where its id stands.
const listSQL = `
SELECT ` + listColumns + `
FROM reprise.runs r
` + listWhere + `  AND ($5::smallint IS NULL OR $5 <> 0 OR t.run_id IS NOT NULL)
  AND ($6::smallint IS NULL OR e.kind = $6 AND e.kind > 20)
` + listRest

// listPlanSQL lets the statement after it in the transaction be planned for its parameters. A
// listing is asked by people and takes longer than its planning, so the one plan for all
// parameters, which the store wants elsewhere, would be the worst here: it reads all runs.
const listPlanSQL = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true)`

// listByKeySQL is listSQL for a key or a prefix of keys. Two partial indexes hold every run that
// has a key between them: runs_key_idx those that hold it, runs_old_key_idx those that gave it up.
// Their predicates exclude each other, so UNION ALL brings each run once. The index is in the C
// collation, so a LIKE with a fixed prefix is a range of it.
const listByKeySQL = `
SELECT ` + listColumns + `
FROM (
    SELECT k.id FROM reprise.runs k
    WHERE k.holds_key AND ($14::text IS NULL OR k.key = $14) AND ($15::text IS NULL OR k.key LIKE $15)
    UNION ALL
    SELECT k.id FROM reprise.runs k
    WHERE NOT k.holds_key AND k.key IS NOT NULL AND ($14::text IS NULL OR k.key = $14) AND ($15::text IS NULL OR k.key LIKE $15)
) k
JOIN reprise.runs r ON r.id = k.id
` + listWhere + `  AND ($6::smallint IS NULL OR e.kind = $6)
` + listRest

// likeEscape makes a text a pattern that matches only itself.
var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// List implements driver.Store.
func (s *Store) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	args, limit, err := listArgs(&f)
	if err != nil {
		return journal.RunPage{}, err
	}
	sql := s.sql.list
	if f.Key != "" || f.KeyPrefix != "" {
		sql = s.sql.listByKey
		var pattern *string
		if f.KeyPrefix != "" {
			pattern = nullText(likeEscape.Replace(f.KeyPrefix) + "%")
		}
		args = append(args, nullText(f.Key), pattern)
	}
	var page journal.RunPage
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		page = journal.RunPage{}
		var p pipeline
		if !s.o.Pooler {
			p.exec(listPlanSQL)
		}
		p.query(sql, each(scanListed(&page)), args...)
		if len(f.IDs) > 0 { // the caller waits for the ends of these runs
			p.exec(durableReadSQL)
		}
		if err := p.send(ctx, c); err != nil || len(page.Runs) > 0 {
			return err
		}
		return c.QueryRow(ctx, listNowSQL).Scan(&page.Now)
	})
	if err != nil {
		return journal.RunPage{}, err
	}
	page.Now = page.Now.UTC()
	if len(page.Runs) > limit {
		page.Runs = page.Runs[:limit]
		page.Next = page.Runs[limit-1].ID.String()
	}
	return page, nil
}

// listNowSQL gives an empty page its time.
const listNowSQL = `SELECT clock_timestamp()`

// listArgs returns the parameters of the statement. It asks for one run more than the page holds,
// to know whether there is a next page.
func listArgs(f *journal.ListFilter) (args []any, limit int, err error) {
	var cursor pgtype.UUID
	if f.Cursor != "" {
		run, err := journal.ParseRunID(f.Cursor)
		if err != nil {
			return nil, 0, fmt.Errorf("cursor: %w", err)
		}
		cursor = uuidArg(run)
	}
	var ids []pgtype.UUID
	for _, run := range f.IDs {
		ids = append(ids, uuidArg(run))
	}
	var status, kind, state *int16
	if f.Status != nil {
		status = new(int16(*f.Status))
		if *f.Status > journal.Completed { // these terminal events have an index
			kind = new(int16(f.Status.TerminalKind()))
		}
	}
	if f.State != nil {
		state = new(int16(*f.State))
	}
	var labels *string
	if len(f.Labels) > 0 {
		b, err := json.Marshal(f.Labels)
		if err != nil {
			return nil, 0, err
		}
		labels = new(string(b))
	}
	parent := pgtype.UUID{Bytes: f.Parent, Valid: !f.Parent.IsZero()}
	var unchanged *string
	if f.Unchanged != "" {
		line := journal.Issued{Kind: journal.CommandChange, Name: f.Unchanged}
		unchanged = new(likeEscape.Replace(line.String()))
	}
	limit = f.Limit
	if limit <= 0 || limit > journal.ListMax {
		limit = journal.ListDefault
	}
	return []any{cursor, ids, nullText(f.Workflow), nullInt(f.Version), status, kind, state, labels, nullTime(f.Since), nullTime(f.Until),
		parent, unchanged, int32(limit + 1)}, limit, nil
}

func scanListed(page *journal.RunPage) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var t taskRow
		var e terminalRow
		var r runRow
		var now time.Time
		targets := append(append(t.targets(), e.targets()...), &now)
		if err := row.Scan(append(targets, r.targets()...)...); err != nil {
			return err
		}
		run := r.run()
		t.addTo(&run)
		e.addTo(&run)
		page.Runs, page.Now = append(page.Runs, run), now.UTC()
		return nil
	}
}
