package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/migrations"
)

// listSQL reads a page, newest first: ids of runs grow with time, so the order of the primary key
// is the order of pages, and a cursor is an id.
//
// It is planned for its parameters (see listPlanSQL), so a condition whose parameter is null is
// folded away, and only those that are there decide the plan. A condition on the task is strict
// (t.run_id IS NOT NULL), which turns the outer join into an inner one, so that the planner can
// start from the tasks. The cursor is said of them too: an index of theirs, read in the order of
// its ids, is not bounded by what is said of the run's id.
//
// It locks nothing, and each page is a snapshot of its own: a run that closes between two pages is
// on the page where its id stands.
const listSQL = `
SELECT ` + listColumns + `
FROM reprise.runs r
` + listTasks + listEnds + listWhere + `  AND ($5::smallint IS NULL OR r.status = $5)
  AND ($5::smallint IS NULL OR $5 <> 0 OR t.run_id IS NOT NULL)
  AND ($6::smallint IS NULL OR e.kind = $6)
  AND ($1::uuid IS NULL OR ($5::smallint IS NULL OR $5 <> 0) AND $7::smallint IS NULL OR t.run_id < $1)
` + listRest + listOrder

// listFailedSQL is listSQL for a status of runs that did not complete. It starts from the terminal
// events: events_failed_idx has these in the order of ids, so a page is read and no more.
//
// That an event is the one that ended its run is said inside coalesce, where the planner does not
// look. It takes generation, number and status for independent of each other, multiplies how rare
// each is, and comes to a run or none where thousands are: it would then read all of them, because
// the few that it expects are quickly sorted. So it is left with a guess, one of two. For the same
// reason the predicate of the index is not repeated: the number of the kind implies it.
const listFailedSQL = `
SELECT ` + listColumns + `
FROM ` + listEnded + listTasks + listWhere + `  AND e.kind = $6::smallint
  AND coalesce(r.status = $5::smallint` + listIsEnd + `
  AND ($1::uuid IS NULL OR e.run_id < $1)
` + listRest + listOrder

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
` + listTasks + listEnds + listWhere + `  AND ($5::smallint IS NULL OR r.status = $5)
  AND ($6::smallint IS NULL OR e.kind = $6)
` + listRest + listOrder

// List implements driver.Store.
func (s *Store) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	var page listedPage
	var l *listing
	var err error
	if f.Where == "" {
		if l, err = plainListing(s, &f); err != nil {
			return journal.RunPage{}, err
		}
	}
	ctx = inShare(ctx, slowShare)
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) (err error) {
		page = listedPage{}
		if f.Where != "" {
			if l, err = findListing(ctx, s, c, &f); err != nil {
				return err
			}
		}
		return readPage(ctx, &s.o, c, l.sql, l.args, &page)
	})
	if driver.IsDamaged(err) && l != nil {
		page, err = salvageOf(s).list(ctx, l)
	}
	if driver.IsDamaged(err) && len(f.IDs) > 0 && f.Where == "" {
		page, err = salvageOf(s).listByIDs(ctx, l, &f)
	}
	if err != nil {
		return journal.RunPage{}, err
	}
	return l.end(&page), nil
}

// plainListing is for a filter without a condition.
func plainListing(s *Store, f *journal.ListFilter) (*listing, error) {
	args, limit, err := listArgs(f)
	if err != nil {
		return nil, err
	}
	l := &listing{sql: s.sql.list.plain, args: args, limit: limit, cursor: func(run *journal.Run) string { return run.ID.String() }}
	switch {
	case f.Key != "" || f.KeyPrefix != "":
		l.sql = s.sql.list.byKey
		var pattern *string
		if f.KeyPrefix != "" {
			pattern = nullText(likeEscape.Replace(f.KeyPrefix) + "%")
		}
		l.args = append(l.args, nullText(f.Key), pattern)
	case f.Status != nil && *f.Status > journal.Completed:
		l.sql = s.sql.list.failed
	}
	return l, nil
}

// findListing is for a filter that has a condition.
func findListing(ctx context.Context, s *Store, c *pgx.Conn, f *journal.ListFilter) (*listing, error) {
	q, err := filter.NewQuery(f.Where, f.Cursor, func() (now time.Time, err error) {
		err = c.QueryRow(ctx, listNowSQL).Scan(&now)
		return now, err
	})
	if err != nil {
		return nil, err
	}
	b, limit, err := findStatement(f, q)
	if err != nil {
		return nil, err
	}
	return &listing{sql: migrations.Render(b.text.String(), s.o.Schema), args: b.args, limit: limit, cursor: q.Cursor}, nil
}
