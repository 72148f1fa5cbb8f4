package sqlite

import (
	"bytes"
	"context"
	"math"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/filter"
)

// A listing with a condition is a listing like any other: candidates come from an index, and Go
// filters, with filter.Match, so no condition ever becomes a part of a statement. What a condition
// adds are orders and ranges: by the time of the close, by duration, oldest first.
//
// There are two ways to find a page. To gather is to look at all candidates of the best source, if
// they are few, and to sort what matches. To walk is to look at candidates in the order that is
// asked for until the page is full, from an index with that order. Few candidates are gathered;
// among many, those that match are rarely far apart, so they are walked.
const (
	walkOldestSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r WHERE r.id > ? ORDER BY r.id LIMIT +?`

	walkClosedSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_closed_idx
WHERE r.closed_at IS NOT NULL AND (r.closed_at, r.id) < (?1, ?2) AND r.closed_at >= ?3
ORDER BY r.closed_at DESC, r.id DESC LIMIT +?4`

	walkClosedOldestSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_closed_idx
WHERE r.closed_at IS NOT NULL AND (r.closed_at, r.id) > (?1, ?2) AND r.closed_at <= ?3
ORDER BY r.closed_at, r.id LIMIT +?4`

	// walkLongestSQL bounds the duration beside the place: SQLite does not look for a row of values
	// in an index of an expression.
	walkLongestSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_duration_idx
WHERE r.closed_at IS NOT NULL
  AND (max(r.closed_at - coalesce(r.start_at, r.created_at), 0), r.id) < (?1, ?2)
  AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) <= ?1
  AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) >= ?3
ORDER BY max(r.closed_at - coalesce(r.start_at, r.created_at), 0) DESC, r.id DESC LIMIT +?4`

	walkShortestSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_duration_idx
WHERE r.closed_at IS NOT NULL
  AND (max(r.closed_at - coalesce(r.start_at, r.created_at), 0), r.id) > (?1, ?2)
  AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) >= ?1
  AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) <= ?3
ORDER BY max(r.closed_at - coalesce(r.start_at, r.created_at), 0), r.id LIMIT +?4`

	// The ranges that are gathered. Their first parameter is a listing's, which no id exceeds.
	gatherCreatedSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_created_idx
WHERE +r.id < ? AND r.created_at >= ? AND r.created_at <= ? LIMIT +?`

	gatherClosedSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_closed_idx
WHERE +r.id < ? AND r.closed_at IS NOT NULL AND r.closed_at >= ? AND r.closed_at <= ? LIMIT +?`

	gatherDurationSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_duration_idx
WHERE +r.id < ? AND r.closed_at IS NOT NULL
  AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) >= ?
  AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) <= ? LIMIT +?`
)

// finding is the condition of a listing, and what it has found. It serves one call.
type finding struct {
	q      *filter.Query
	bounds filter.Bounds
	cheap  []filter.Expr // what the row of a run tells
	dear   []filter.Expr // what needs the task or the terminal event
	labels bool          // whether any condition is about labels, which have to be decoded
	places map[journal.RunID]filter.Place
	place  filter.Place // of the candidate that was looked at last, if placed
	placed bool
	turns  []int                          // how many candidates a page may cost one way before the other is tried
	rows   map[journal.RunID]*journal.Run // what rows tell of the runs that they select, if somebody wants it; else nil
}

// source is a statement of candidates with the parameters between its first, an id, and its last, a
// limit.
type source struct {
	sql  string
	args []any
}

func newFinding(f *journal.ListFilter, now time.Time) (*finding, error) {
	q, err := filter.NewQuery(f.Where, f.Cursor, func() (time.Time, error) { return now, nil })
	if err != nil {
		return nil, err
	}
	w := &finding{q: q, bounds: filter.BoundsOf(q.Where), places: map[journal.RunID]filter.Place{}, turns: []int{gatherMax, gatherLateMax}}
	for _, e := range filter.Conjuncts(q.Where) {
		if filter.Any(e, needsMore) {
			w.dear = append(w.dear, e)
		} else {
			w.cheap = append(w.cheap, e)
		}
		w.labels = w.labels || filter.Any(e, func(c *filter.Cond) bool { return c.Field == filter.FieldLabel })
	}
	return w, nil
}

// needsMore tells whether the row of a run does not tell whether a condition holds.
func needsMore(c *filter.Cond) bool {
	stuck := func(v filter.Value) bool {
		_, state := v.Status()
		return v.Kind == filter.KindStatus && state != journal.Ready
	}
	return c.Field.OfTask() || c.Field == filter.FieldErrorClass || slices.ContainsFunc(c.Values, stuck)
}

// narrow puts into a filter what the condition says too, so that the filter's source is chosen by
// both. What the filter says already stays, and the condition is asked of every candidate anyway.
func (w *finding) narrow(f journal.ListFilter) *journal.ListFilter {
	b := &w.bounds
	if len(f.IDs) == 0 {
		f.IDs = b.IDs
	}
	if f.Key == "" && f.KeyPrefix == "" {
		f.Key = b.Key
		if b.Key == "" {
			f.KeyPrefix = b.Prefix
		}
	}
	if f.Parent.IsZero() {
		f.Parent = b.Parent
	}
	if f.Workflow == "" {
		f.Workflow = b.Workflow
	}
	if len(b.Statuses) == 1 && f.Status == nil && f.State == nil {
		if status, state := b.Statuses[0].Status(); state != journal.Ready {
			f.State = &state
		} else {
			f.Status = &status
		}
	}
	return &f
}

// note notes where a candidate stands in the order.
func (w *finding) note(r row) {
	run := journal.Run{ID: r.id(0), StartAt: r.time(10), ClosedAt: r.time(11)}
	if run.StartAt.IsZero() {
		run.StartAt = r.time(4)
	}
	w.place, w.placed = w.q.Order.Place(&run)
}

// selects asks what the row of the candidate tells that was noted last.
func (w *finding) selects(r row) bool {
	if !w.placed || w.q.After != nil && w.q.Order.Compare(*w.q.After, w.place) >= 0 {
		return false
	}
	run := journal.Run{
		ID: r.id(0), Workflow: r.text(1), Version: int32(r.int(2)), Status: journal.Status(r.int(3)), CreatedAt: r.time(4), Key: r.text(5),
		Queue: r.text(8), Priority: int16(r.int(9)), StartAt: r.time(10), ClosedAt: r.time(11),
		Generation: journal.Generation(r.int(12)), Timeout: time.Duration(r.int(13)) * time.Microsecond,
	}
	if run.StartAt.IsZero() {
		run.StartAt = run.CreatedAt
	}
	if !r.null(7) {
		run.Parent = &journal.Parent{Run: r.id(7)}
	}
	if w.labels {
		run.Labels, _ = driver.DecodeLabels(r.text(6)) // what cannot be read matches nothing
	}
	if !filter.Match(filter.And(w.cheap), &run) {
		return false
	}
	w.places[run.ID] = w.place
	if w.rows != nil {
		w.rows[run.ID] = &run
	}
	return true
}

// selectsMore asks what the row does not tell, of a candidate that everything else selects.
func (w *finding) selectsMore(q querier, run journal.RunID) (bool, error) {
	if len(w.dear) == 0 {
		return true, nil
	}
	r, err := listed(q, run)
	return err == nil && filter.Match(filter.And(w.dear), &r), err
}

// forget drops what is kept of a candidate: what is kept is bounded by what is selected.
func (w *finding) forget(run journal.RunID) {
	delete(w.places, run)
	delete(w.rows, run)
}

// clear drops all that is kept, of candidates that proved to be too many.
func (w *finding) clear() {
	clear(w.places)
	clear(w.rows)
}

// findPlaced returns the page in its order, and one run more if there is a next page.
//
// Of the two ways, to sort what the sources have and to walk in the order that is asked for, either
// may meet a thousand times the candidates of the other, and nothing tells which before they are
// met. So they take turns with more and more candidates: the page costs a few times what the better
// way costs. The last walk meets all there are.
func (l *listing) findPlaced(ctx context.Context, q querier) ([]journal.RunID, error) {
	w := l.where
	newestFirst, sources := w.q.Order.ByID() && !w.q.Order.Ascending, l.sources()
	ordered := newestFirst && len(sources) == 1 && sources[0].sql == l.sql // by the source
	for _, most := range w.turns {
		if !ordered && len(sources) > 0 {
			found, all, err := l.gather(ctx, q, sources, most)
			if err != nil || all {
				return found, err
			}
			w.clear()
		}
		if newestFirst {
			break // a walk by id has an index of its own for most conditions
		}
		found, all, err := l.walk(ctx, q, most)
		if err != nil || all {
			return found, err
		}
		w.clear()
	}
	if !newestFirst {
		found, _, err := l.walk(ctx, q, math.MaxInt)
		return found, err
	}
	if w.q.After != nil {
		l.before = w.q.After.Run[:]
	}
	return l.find(ctx, q)
}

// sources returns what to gather from: named runs, keys, children and so on, as a listing chooses
// them, else the statuses, else the narrowest range. None of them is all runs.
func (l *listing) sources() (list []source) {
	b := &l.where.bounds
	switch {
	case l.ids != nil:
		for _, run := range l.ids {
			list = append(list, source{listIDSQL, []any{uuidArg(run)}})
		}
		return list
	case l.sql != listAllSQL && l.sql != listOpenSQL && l.sql != listWorkflowSQL:
		return []source{{l.sql, l.args}}
	}
	if list = statusSources(b); list != nil {
		return list
	}
	switch { // the close is asked for with a window more often than the others
	case b.Closed != filter.All:
		return []source{{gatherClosedSQL, []any{b.Closed.Low, b.Closed.High}}}
	case b.Created != filter.All:
		return []source{{gatherCreatedSQL, []any{b.Created.Low, b.Created.High}}}
	case b.Duration != filter.All:
		return []source{{gatherDurationSQL, []any{b.Duration.Low, b.Duration.High}}}
	case l.sql != listAllSQL:
		return []source{{l.sql, l.args}}
	}
	return nil
}

// statusSources returns a source for each of several statuses, unless one of them has no index.
func statusSources(b *filter.Bounds) (list []source) {
	if b.Failed && b.Statuses == nil {
		for status := journal.Failed; status <= journal.Terminated; status++ {
			list = append(list, source{listFailedSQL, []any{int64(status.TerminalKind())}})
		}
	}
	for _, v := range b.Statuses {
		switch status, state := v.Status(); {
		case state != journal.Ready:
			list = append(list, source{listStuckSQL, []any{int64(state)}})
		case status == journal.Open:
			list = append(list, source{listOpenSQL, nil})
		case status > journal.Completed:
			list = append(list, source{listFailedSQL, []any{int64(status.TerminalKind())}})
		default:
			return nil
		}
	}
	return list
}

// gather looks at all candidates of the sources and returns what matches in order. all is false if
// there are more than that many.
func (l *listing) gather(ctx context.Context, q querier, sources []source, most int) (found []journal.RunID, all bool, err error) {
	looked := 0
	last := bytes.Repeat([]byte{0xff}, 17) // more than any id
	for _, src := range sources {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		args := append(append([]any{last}, src.args...), int64(most-looked+1))
		seen, err := l.scan(q, src.sql, &found, args...)
		if err != nil {
			return nil, false, err
		}
		if looked += len(seen); looked > most {
			return nil, false, nil
		}
	}
	w := l.where
	slices.SortFunc(found, func(a, b journal.RunID) int { return w.q.Order.Compare(w.places[a], w.places[b]) })
	return slices.Compact(found), true, nil
}

// walk looks at candidates in the order that is asked for until there is one run more than the page
// holds. It begins behind the cursor, or where the condition begins. all is false if that many
// candidates were not enough.
func (l *listing) walk(ctx context.Context, q querier, most int) (found []journal.RunID, all bool, err error) {
	w := l.where
	sql, bounds := walkOldestSQL, filter.All
	switch o := w.q.Order; {
	case o.By == filter.FieldClosed && o.Ascending:
		sql, bounds = walkClosedOldestSQL, w.bounds.Closed
	case o.By == filter.FieldClosed:
		sql, bounds = walkClosedSQL, w.bounds.Closed
	case o.By == filter.FieldDuration && o.Ascending:
		sql, bounds = walkShortestSQL, w.bounds.Duration
	case o.By == filter.FieldDuration:
		sql, bounds = walkLongestSQL, w.bounds.Duration
	}
	value, run, end := bounds.High, bytes.Repeat([]byte{0xff}, 17), bounds.Low
	if w.q.Order.Ascending {
		value, run, end = bounds.Low, []byte{0}, bounds.High
	}
	if w.q.After != nil {
		value, run = w.q.After.Value, w.q.After.Run[:]
	}
	chunk := max(listChunk, min(l.limit, journal.ListMax)+1)
	for looked := 0; looked < most; looked += chunk {
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		args := []any{run, int64(chunk)}
		if !w.q.Order.ByID() {
			args = []any{value, run, end, int64(chunk)}
		}
		seen, err := l.scan(q, sql, &found, args...)
		if err != nil || len(seen) < chunk || len(found) > l.limit {
			return found, true, err
		}
		value, run = w.place.Value, w.place.Run[:]
	}
	return nil, false, nil
}
