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

// listColumns is what all listing statements select: a run with its task or its terminal event,
// and the time.
const listColumns = taskColumns + `,
       ` + terminalColumns + `, clock_timestamp(),
       ` + runColumns

// listWhere and listRest are what all listing statements filter by, of runs with their tasks and
// terminal events. Between them stands what differs. A parameter that is null selects everything.
const (
	listTasks = `LEFT JOIN reprise.tasks t ON t.run_id = r.id
`
	listEnds = `LEFT JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq
`
	listWhere = `WHERE ($1::uuid IS NULL OR r.id < $1)
  AND ($2::uuid[] IS NULL OR r.id = ANY ($2))
  AND ($3::text IS NULL OR r.workflow = $3)
  AND ($4::int IS NULL OR r.version = $4)
`
	listRest = `  AND ($7::smallint IS NULL OR t.state = $7)
  AND ($8::jsonb IS NULL OR r.labels @> $8)
  AND ($9::timestamptz IS NULL OR r.created_at >= $9)
  AND ($10::timestamptz IS NULL OR r.created_at < $10)
  AND ($11::uuid IS NULL OR r.parent_run = $11)
  AND ($12::text IS NULL OR t.run_id IS NOT NULL AND NOT EXISTS (
      SELECT FROM reprise.events c WHERE c.run_id = r.id AND c.generation = r.generation
        AND (E'\n' || c.issued || E'\n' LIKE E'%\n' || $12 || E'\n%' OR E'\n' || c.issued LIKE E'%\n' || $12 || E'\t%')))
`
	listOrder = `ORDER BY r.id DESC LIMIT $13::int`
)

// listEnded and listIsEnd are for runs of one status that did not complete, see listFailedSQL.
const (
	listEnded = `reprise.events e JOIN reprise.runs r ON r.id = e.run_id
`
	listIsEnd = ` AND e.generation = r.generation AND e.seq = r.closed_seq, false)`
)

// likeEscape makes a text a pattern that matches only itself.
var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

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

// listedPage is a page that is being read. full says that the runs behind it have no room.
type listedPage struct {
	journal.RunPage
	full bool
}

func scanListed(page *listedPage) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var t taskRow
		var e terminalRow
		var r runRow
		var now time.Time
		var fits bool
		targets := append(append(t.targets(), e.targets()...), &now)
		if err := row.Scan(append(append(targets, r.targets()...), &fits)...); err != nil {
			return err
		}
		if page.full = !fits; page.full {
			return nil
		}
		run := r.run()
		t.addTo(&run)
		e.addTo(&run)
		page.Runs, page.Now = append(page.Runs, run), now.UTC()
		return nil
	}
}

// listing is a listing that is ready to be sent.
type listing struct {
	sql    string
	args   []any // of listArgs, and more behind them
	limit  int
	cursor func(run *journal.Run) string // behind which the next page begins
}

// end leaves out what a statement has read beyond the end of its page.
func (l *listing) end(page *listedPage) journal.RunPage {
	if n := min(len(page.Runs), l.limit); page.full || len(page.Runs) > n {
		page.Runs = page.Runs[:n]
		page.Next = l.cursor(&page.Runs[n-1])
	}
	return page.RunPage
}

// listPlanSQL lets the statement after it in the transaction be planned for its parameters. A
// listing is asked by people and takes longer than its planning, so the one plan for all
// parameters, which the store wants elsewhere, would be the worst here: it reads all runs. Nor does
// the plan have parallel workers: a page takes a few milliseconds, and to start them takes more.
const listPlanSQL = `SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('max_parallel_workers_per_gather', '0', true)`

// readPage executes a statement with the parameters of listArgs and reads its rows.
func readPage(ctx context.Context, o *Options, c *pgx.Conn, sql string, args []any, page *listedPage) error {
	var p pipeline
	if !o.Pooler {
		p.exec(listPlanSQL)
	}
	p.query(withRoom(sql), each(scanListed(page)), args...)
	if ids := args[1].([]pgtype.UUID); len(ids) > 0 { // the caller waits for the ends of these runs
		p.exec(durableReadSQL)
	}
	if err := p.send(ctx, c); err != nil || len(page.Runs) > 0 {
		return err
	}
	err := c.QueryRow(ctx, listNowSQL).Scan(&page.Now)
	page.Now = page.Now.UTC()
	return err
}

// listNowSQL gives an empty page its time.
const listNowSQL = `SELECT clock_timestamp()`
