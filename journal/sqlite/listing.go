package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A listing looks at candidates, newest first, from the index that fits its filter best, and leaves
// out what the rest of the filter does not select. One statement for all filters, as package
// postgres has it, would be planned for none of them: SQLite does not fold away a condition whose
// parameter is null. So there is a statement for each source of candidates, all with the same
// columns, and Go filters.
//
// Each is a range of an index in the order of ids, bounded by a cursor and a limit, so a page costs
// what it looks at. INDEXED BY makes a statement fail instead of choosing another plan.
const (
	candidateColumns = `r.id, r.workflow, r.version, r.status, r.created_at, r.key, r.labels, r.parent_run,
       r.queue, r.priority, r.start_at, r.closed_at, r.generation, r.timeout`

	listAllSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r WHERE r.id < ? ORDER BY r.id DESC LIMIT +?`

	listWorkflowSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r WHERE r.id < ? AND r.workflow = ? ORDER BY r.id DESC LIMIT +?`

	listParentSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r WHERE r.id < ? AND r.parent_run = ? ORDER BY r.id DESC LIMIT +?`

	// listOpenSQL starts from the tasks, because most runs of a large table are closed.
	listOpenSQL = `
SELECT ` + candidateColumns + `
FROM reprise_tasks t CROSS JOIN reprise_runs r ON r.id = t.run_id
WHERE t.run_id < ? ORDER BY t.run_id DESC LIMIT +?`

	listStuckSQL = `
SELECT ` + candidateColumns + `
FROM reprise_tasks t INDEXED BY reprise_tasks_stuck_idx CROSS JOIN reprise_runs r ON r.id = t.run_id
WHERE t.state > 0 AND t.run_id < ? AND t.state = ? ORDER BY t.run_id DESC LIMIT +?`

	listLimitedSQL = `
SELECT ` + candidateColumns + `
FROM reprise_tasks t INDEXED BY reprise_tasks_limited_idx CROSS JOIN reprise_runs r ON r.id = t.run_id
WHERE t.state < 0 AND t.run_id < ? AND t.state = ? ORDER BY t.run_id DESC LIMIT +?`

	listFailedSQL = `
SELECT ` + candidateColumns + `
FROM reprise_events e INDEXED BY reprise_events_failed_idx CROSS JOIN reprise_runs r ON r.id = e.run_id
WHERE e.kind > 20 AND e.run_id < ? AND e.kind = ? ORDER BY e.run_id DESC LIMIT +?`

	// listFailedAsSQL looks for names in the text of the failure, as bytes, in one look at it: what
	// is found need not be a name there, and is asked for again. NULL is found nowhere.
	listFailedAsSQL = `
SELECT ` + candidateColumns + `
FROM reprise_events e INDEXED BY reprise_events_failed_idx CROSS JOIN reprise_runs r ON r.id = e.run_id
WHERE e.kind > 20 AND e.run_id < ? AND e.kind = ?
  AND (instr(e.payload, ?) > 0 OR instr(e.payload, ?) > 0 OR instr(e.payload, ?) > 0) ORDER BY e.run_id DESC LIMIT +?`

	listNoKeySQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_no_key_idx
WHERE r.key IS NULL AND r.id < ? ORDER BY r.id DESC LIMIT +?`

	listIDSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r WHERE r.id < ? AND r.id = ? LIMIT +?`

	// listKeysSQL finds a range of keys: between them the two indexes on keys hold every run that
	// has one.
	listKeysSQL = `
SELECT ` + candidateColumns + `
FROM (
    SELECT k.id FROM reprise_runs k WHERE k.holds_key = 1 AND k.key >= ?2 AND k.key < ?3
    UNION ALL
    SELECT k.id FROM reprise_runs k WHERE k.holds_key = 0 AND k.key IS NOT NULL AND k.key >= ?2 AND k.key < ?3
) k CROSS JOIN reprise_runs r ON r.id = k.id
WHERE r.id < ?1 ORDER BY r.id DESC LIMIT +?4`

	// listPastSQL names runs without a look at their rows: an index names each.
	listPastSQL = `
SELECT r.id FROM reprise_runs r INDEXED BY reprise_runs_workflow_idx WHERE r.id < ? ORDER BY r.id DESC LIMIT +?`
)

// listing is a filter and where its candidates come from. It serves one call.
type listing struct {
	f      *journal.ListFilter
	limit  int
	before []byte // candidates have smaller ids
	ids    []journal.RunID
	sql    string
	args   []any                   // between the first parameter, before, and the last, a limit
	where  *finding                // nil if the filter has no condition
	lost   map[journal.RunID]error // runs on damaged pages, and why
}

// newListing checks the cursor, applies the default limit and chooses a source.
func newListing(f *journal.ListFilter) (*listing, error) {
	l := &listing{f: f, limit: f.Limit, before: bytes.Repeat([]byte{0xff}, 17)} // more than any id
	if l.limit <= 0 || l.limit > journal.ListMax {
		l.limit = journal.ListDefault
	}
	if f.Cursor != "" {
		run, err := journal.ParseRunID(f.Cursor)
		if err != nil {
			return nil, fmt.Errorf("cursor: %w", err)
		}
		l.before = run[:]
	}
	l.choose()
	return l, nil
}

// choose takes the source that has the fewest candidates as a rule: named runs before keys, keys
// before children, and so on, down to all runs. A wrong choice costs time and no run.
func (l *listing) choose() {
	f := l.f
	switch {
	case len(f.IDs) > 0:
		l.ids = slices.Clone(f.IDs)
		slices.SortFunc(l.ids, func(a, b journal.RunID) int { return bytes.Compare(b[:], a[:]) })
		l.ids = slices.Compact(l.ids)
	case f.Key != "":
		l.sql, l.args = listKeysSQL, []any{f.Key, f.Key + "\x00"}
	case f.KeyPrefix != "":
		l.sql, l.args = listKeysSQL, []any{f.KeyPrefix, after(f.KeyPrefix)}
	case !f.Parent.IsZero():
		l.sql, l.args = listParentSQL, []any{uuidArg(f.Parent)}
	case f.State != nil && *f.State != journal.Ready:
		l.sql, l.args = stuckSource(*f.State), []any{int64(*f.State)}
	case f.State != nil, f.Status != nil && !f.Status.Closed(), f.Unchanged != "":
		l.sql = listOpenSQL
	case f.Status != nil && *f.Status > journal.Completed: // their terminal events have an index
		l.sql, l.args = listFailedSQL, []any{int64(f.Status.TerminalKind())}
	case f.Workflow != "":
		l.sql, l.args = listWorkflowSQL, []any{f.Workflow}
	default:
		l.sql = listAllSQL
	}
}

// after returns the first text after all that begin with a prefix, in the order of bytes. No byte
// of a valid text is 0xff, so the last byte can be raised.
func after(prefix string) string {
	b := []byte(prefix)
	b[len(b)-1]++
	return string(b)
}

// find returns one run more than the page holds, if there is one, so that the caller knows whether
// there is a next page. It looks at candidates in chunks, and between two chunks at its context.
func (l *listing) find(ctx context.Context, q querier) (found []journal.RunID, err error) {
	if l.ids != nil {
		for _, run := range l.ids {
			err := l.scanOne(q, l.limit+1, &found, l.before, run)
			if err != nil || len(found) > l.limit {
				return found, err
			}
		}
		return found, nil
	}
	found, _, err = l.descend(ctx, q, source{sql: l.sql, args: l.args}, [2][]byte{l.before}, math.MaxInt)
	return found, err
}

// descend looks at candidates of a source, newest first, between two ids, until there is one run
// more than the page holds. looked is more than most if that many candidates were not enough.
func (l *listing) descend(ctx context.Context, q querier, src source, between [2][]byte, most int) (found []journal.RunID, looked int, err error) {
	chunk := max(listChunk, min(l.limit, journal.ListMax)+1)
	for before := between[0]; ; {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		args := append(append([]any{before}, src.args...), int64(chunk))
		kept := len(found)
		seen, err := l.scan(q, src.sql, l.limit+1, &found, args...)
		if damaged(err) {
			found = found[:kept]
			seen, err = l.scanPast(q, l.limit+1, &found, before, chunk)
		}
		if err != nil || len(seen) < chunk || len(found) > l.limit || bytes.Compare(seen[len(seen)-1][:], between[1]) < 0 {
			return found, min(looked, most), err
		}
		if looked += len(seen); looked > most {
			return nil, looked, nil
		}
		before = bytes.Clone(seen[len(seen)-1][:])
	}
}

// scan reads a chunk of candidates and adds those that the filter selects to found, until there are
// enough. What needs a statement of its own is asked afterwards, when the rows are read: a
// connection executes one statement at a time.
func (l *listing) scan(q querier, sql string, enough int, found *[]journal.RunID, args ...any) (seen []journal.RunID, err error) {
	before := len(*found)
	err = q.query(sql, func(r row) error {
		run := r.id(0)
		seen = append(seen, run)
		if l.where != nil {
			l.where.note(r)
		}
		if len(*found) > 0 && (*found)[len(*found)-1] == run {
			return nil // it has several events of the kind that is looked for
		}
		if l.selects(r) {
			*found = append(*found, run)
		}
		return nil
	}, args...)
	if err != nil {
		return seen, err
	}
	kept, rest := (*found)[:before], slices.Clone((*found)[before:])
	for len(rest) > 0 && len(kept) < enough {
		n := min(len(rest), listChunk, max(enough-len(kept), askedMin))
		if kept, err = l.selectMore(q, kept, rest[:n]); err != nil {
			return seen, err
		}
		rest = rest[n:]
	}
	for _, run := range rest {
		if l.where != nil {
			l.where.forget(run)
		}
	}
	*found = kept
	return seen, nil
}

// scanPast is scan for a source that stands on a damaged page. It asks for each run by itself, by
// an index of all runs, so that the runs behind the page are listed too.
func (l *listing) scanPast(q querier, enough int, found *[]journal.RunID, before []byte, chunk int) (seen []journal.RunID, err error) {
	seen, err = readIDs(q, listPastSQL, before, int64(chunk))
	for _, run := range seen {
		if err != nil || len(*found) >= enough {
			break
		}
		err = l.scanOne(q, enough, found, bytes.Repeat([]byte{0xff}, 17), run)
	}
	return seen, err
}

// scanOne is scan for one run. If its row is lost nothing is known of it but its id, and nobody can
// say whether the filter selects it: it is shown if there is no filter.
func (l *listing) scanOne(q querier, enough int, found *[]journal.RunID, before []byte, run journal.RunID) error {
	_, err := l.scan(q, listIDSQL, enough, found, before, uuidArg(run), int64(1))
	if !damaged(err) {
		return err
	}
	rest := *l.f
	rest.IDs, rest.Cursor, rest.Limit = nil, "", 0
	if l.where == nil && reflect.ValueOf(rest).IsZero() {
		if l.lost == nil {
			l.lost = map[journal.RunID]error{}
		}
		l.lost[run] = err
		*found = append(*found, run)
	}
	return nil
}

// selects asks what a candidate's row tells. The conditions repeat those that the source has
// applied already, so that no source has to be trusted.
func (l *listing) selects(r row) bool {
	f, created := l.f, r.time(4)
	switch {
	case f.Workflow != "" && r.text(1) != f.Workflow,
		f.Version != 0 && int32(r.int(2)) != f.Version,
		f.Status != nil && journal.Status(r.int(3)) != *f.Status,
		!f.Since.IsZero() && created.Before(f.Since),
		!f.Until.IsZero() && !created.Before(f.Until),
		f.Key != "" && r.text(5) != f.Key,
		!f.Parent.IsZero() && r.id(7) != f.Parent,
		f.Unchanged != "" && journal.Status(r.int(3)).Closed(),
		len(r.text(5)) < len(f.KeyPrefix) || r.text(5)[:len(f.KeyPrefix)] != f.KeyPrefix:
		return false
	}
	if len(f.Labels) > 0 {
		labels, _ := driver.DecodeLabels(r.text(6)) // what cannot be read matches nothing
		for k, want := range f.Labels {
			if got, ok := labels[k]; !ok || got != want {
				return false
			}
		}
	}
	return l.where == nil || l.where.selects(r) // last, since it remembers what it selects
}

// listStateSQL asks for the state of an open run, by the primary key.
const listStateSQL = `SELECT 1 FROM reprise_tasks t WHERE t.run_id = ? AND t.state = +?`

// listChangedSQL looks for a line in what the current generation has issued. The history is read up
// to the line, so it is asked last, for runs that everything else selects.
const listChangedSQL = `
SELECT 1 FROM reprise_runs r JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation
WHERE r.id = ? AND instr(char(10) || e.issued || char(10), ?) > 0 LIMIT 1`

// selectMore adds those runs to kept that the filter selects by what their rows do not tell.
func (l *listing) selectMore(q querier, kept, runs []journal.RunID) ([]journal.RunID, error) {
	if l.where != nil {
		if err := l.where.ask(q, runs); err != nil {
			return nil, err
		}
	}
	for _, run := range runs {
		ok, err := l.selectsMore(q, run)
		if err != nil {
			return nil, err
		}
		if ok && l.where != nil {
			ok = l.where.selectsMore(run)
		}
		if ok {
			kept = append(kept, run)
		} else if l.where != nil {
			l.where.forget(run)
		}
	}
	return kept, nil
}

// selectsMore asks for the state of a candidate's task and for the lines of its history. Each is a
// statement for every candidate that is left.
func (l *listing) selectsMore(q querier, run journal.RunID) (ok bool, err error) {
	if l.f.State != nil {
		n := 0
		err := q.query(listStateSQL, func(row) error { n++; return nil }, uuidArg(run), int64(*l.f.State))
		if err != nil || n == 0 {
			return false, err
		}
	}
	ok = true
	if l.f.Unchanged != "" {
		line := "\n" + journal.Issued{Kind: journal.CommandChange, Name: l.f.Unchanged}.String() + "\n"
		err = q.query(listChangedSQL, func(row) error { ok = false; return nil }, uuidArg(run), line)
	}
	return ok, err
}

// read adds runs that were found to a page, as many as have room, and tells whether there are more.
// One that is damaged is shown with what can be read of it.
func (l *listing) read(q querier, s *Store, found []journal.RunID, page *journal.RunPage) (more bool, err error) {
	var room driver.Listed
	for i, run := range found {
		if i == l.limit {
			return true, nil
		}
		err := l.lost[run]
		var r journal.Run
		if err == nil {
			r, err = listed(q, run)
		}
		if damaged(err) {
			r, err = withoutRow(q, run, "row, task or terminal event", s.translate(err))
		}
		if err != nil {
			return false, err
		}
		if !room.Fits(&r) {
			return true, nil
		}
		page.Runs = append(page.Runs, r)
	}
	return false, nil
}

// listed reads a run with its task or its terminal event. It is asked for the runs of a page only,
// when it is known which they are.
func listed(q querier, run journal.RunID) (r journal.Run, err error) {
	err = q.query(loadRunSQL, func(got row) error {
		r = runOf(got[taskWidth:])
		addTask(&r, got)
		return nil
	}, uuidArg(run))
	if err != nil || r.Status == journal.Open {
		return r, err
	}
	return r, addTerminal(q, &r)
}
