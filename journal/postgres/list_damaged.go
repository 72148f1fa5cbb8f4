package postgres

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// listNarrow is listColumns as far as it is narrow. Terminal events are left out.
const listNarrow = narrowTask + `,
       NULL::int, NULL::smallint, NULL::int, NULL::timestamptz, NULL::text, NULL::text, NULL::bytea, NULL::text, NULL::bigint, clock_timestamp(),
       ` + narrowRun

// listRowsSQL reads runs of a listing by their ids.
const listRowsSQL = `
SELECT ` + listColumns + `
FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, ord)
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
` + listTasks + `LEFT JOIN LATERAL (
    SELECT * FROM reprise.events e
    WHERE e.run_id = r.id AND e.generation = r.generation AND e.seq BETWEEN r.closed_seq AND r.closed_seq
    ORDER BY e.run_id, e.generation, e.seq LIMIT 1) e ON true
ORDER BY i.ord`

// list is a listing some of whose runs are damaged: their narrow columns say which runs the
// page has, and each of them is read afterwards. One that cannot be read is shown with what is
// narrow. A listing that looks for what is damaged, or for rows of a damaged page, still fails.
func (s salvage) list(ctx context.Context, l *listing) (page listedPage, err error) {
	sql := strings.ReplaceAll(l.sql, listColumns, listNarrow)
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		page = listedPage{}
		return readPage(ctx, s.o, c, sql, l.args, &page)
	})
	if err != nil || len(page.Runs) == 0 {
		return page, err
	}
	ids, at := make([]journal.RunID, len(page.Runs)), map[journal.RunID]int{}
	for i := range page.Runs {
		ids[i], at[page.Runs[i].ID] = page.Runs[i].ID, i
	}
	var room driver.Listed
	end := len(ids) // of those that have room
	read := func(from, to int) error {
		if from >= end {
			return nil
		}
		var part listedPage
		err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
			part = listedPage{}
			var p pipeline
			p.query(withRoom(s.sql.list.rows), each(scanListed(&part)), runIDs(ids[from:to]))
			p.exec(durableReadSQL) // the caller may wait for the ends of these runs
			return p.send(ctx, c)
		})
		if err != nil {
			return err
		}
		for i := range part.Runs { // a run that was deleted meanwhile stays as it was
			run := &part.Runs[i]
			if !room.Fits(run) {
				end = at[run.ID]
				return nil
			}
			page.Runs[at[run.ID]] = *run
		}
		if n := len(part.Runs); part.full {
			end = at[part.Runs[n-1].ID] + 1
		}
		return nil
	}
	err = driver.ApartFromDamage(0, len(ids), read, func(i int, why error) error {
		_ = driver.DamagedPart(&page.Runs[i], "row, task or terminal event", why)
		return nil
	})
	page.Runs, page.full = page.Runs[:end], end < len(ids)
	return page, err
}

// listByIDs is list for runs that are named, and whose rows are on damaged pages. Nothing can be
// said of these but their ids, nor whether the rest of a filter selects them: they are shown if
// there is no rest.
func (s salvage) listByIDs(ctx context.Context, l *listing, f *journal.ListFilter) (page listedPage, err error) {
	ids := slices.Clone(f.IDs)
	slices.SortFunc(ids, func(a, b journal.RunID) int { return bytes.Compare(b[:], a[:]) })
	ids = slices.Compact(ids)
	if f.Cursor != "" {
		ids = slices.DeleteFunc(ids, func(id journal.RunID) bool { return id.String() >= f.Cursor })
	}
	rest := *f
	rest.IDs, rest.Cursor, rest.Limit = nil, "", 0
	all := reflect.ValueOf(rest).IsZero()
	var room driver.Listed
	enough := func() bool { return page.full || len(page.Runs) > l.limit }
	read := func(from, to int) error {
		if enough() {
			return nil
		}
		var part listedPage
		args := slices.Clone(l.args)
		args[1] = runIDs(ids[from:to])
		err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
			part = listedPage{}
			return readPage(ctx, s.o, c, l.sql, args, &part)
		})
		if err != nil {
			return err
		}
		page.Now = part.Now
		for i := range part.Runs {
			if page.full = !room.Fits(&part.Runs[i]); page.full {
				return nil
			}
			page.Runs = append(page.Runs, part.Runs[i])
		}
		page.full = part.full
		return nil
	}
	err = driver.ApartFromDamage(0, len(ids), read, func(i int, why error) error {
		if all && !enough() {
			run := journal.Run{ID: ids[i]}
			_ = driver.DamagedPart(&run, "row", why)
			page.Runs = append(page.Runs, run)
		}
		return nil
	})
	return page, err
}
