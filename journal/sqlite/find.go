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
// There are two ways to find a page. To walk is to look at candidates in the order that is asked
// for until the page is full, from an index with that order. To gather is to look at all candidates
// of the source that has the fewest, and to sort what matches: see listing.findPlaced.
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
)

// finding is the condition of a listing, and what it has found. It serves one call.
type finding struct {
	q      *filter.Query
	bounds filter.Bounds
	all    []filter.Expr // the conditions
	cheap  []filter.Expr // what the row of a run tells of those that candidates must meet now
	labels []filter.Expr // what needs the labels in the row, which have to be decoded
	dear   []filter.Expr // what needs the task or the terminal event
	decode bool          // whether labels are decoded without a condition on them
	places map[journal.RunID]filter.Place
	place  filter.Place // of the candidate that was looked at last, if placed
	placed bool
	most   int                            // how many candidates are gathered at most
	rows   map[journal.RunID]*journal.Run // what rows tell of the runs that they select, if somebody wants it; else nil
	asked  map[journal.RunID]*journal.Run // the same of runs of which more is asked
}

func newFinding(f *journal.ListFilter, now time.Time) (*finding, error) {
	q, err := filter.NewQuery(f.Where, f.Cursor, func() (time.Time, error) { return now, nil })
	if err != nil {
		return nil, err
	}
	w := &finding{q: q, bounds: filter.BoundsOf(q.Where), all: filter.Conjuncts(q.Where), most: gatherMax,
		places: map[journal.RunID]filter.Place{}, asked: map[journal.RunID]*journal.Run{}}
	w.use(w.all)
	return w, nil
}

// use makes conditions those that the next candidates must meet. Of one on the states of tasks the
// row of a run tells at least whether the run is open.
func (w *finding) use(conditions []filter.Expr) {
	w.cheap, w.labels, w.dear = nil, nil, nil
	for _, e := range conditions {
		switch {
		case filter.Any(e, needsMore):
			w.dear = append(w.dear, e)
		case filter.Any(e, ofLabel):
			w.labels = append(w.labels, e)
		default:
			w.cheap = append(w.cheap, e)
		}
		if c, ok := statusCond(e); ok && needsMore(c) {
			open := *c
			open.Values = slices.Clone(c.Values)
			for i, v := range open.Values {
				if status, _ := v.Status(); status == journal.Open {
					open.Values[i].Text = journal.Open.String()
				}
			}
			w.cheap = append(w.cheap, &open)
		}
	}
}

func ofLabel(c *filter.Cond) bool { return c.Field == filter.FieldLabel }

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
	if !filter.Match(filter.And(w.cheap), &run) {
		return false
	}
	if w.decode || len(w.labels)+len(w.dear) > 0 {
		run.Labels, _ = driver.DecodeLabels(r.text(6)) // what cannot be read matches nothing
	}
	if !filter.Match(filter.And(w.labels), &run) {
		return false
	}
	w.places[run.ID] = w.place
	if w.rows != nil {
		w.rows[run.ID] = &run
	}
	if len(w.dear) > 0 {
		w.asked[run.ID] = &run
	}
	return true
}

// forget drops what is kept of a candidate: what is kept is bounded by what is selected.
func (w *finding) forget(run journal.RunID) {
	delete(w.places, run)
	delete(w.rows, run)
	delete(w.asked, run)
}

// clear drops all that is kept, of candidates that proved to be too many.
func (w *finding) clear() {
	clear(w.places)
	clear(w.rows)
	clear(w.asked)
}

// findPlaced returns the page in its order, and one run more if there is a next page.
//
// A walk may meet a thousand times the candidates that are to be gathered, or a thousandth, and
// nothing tells which before they are met. How many are to be gathered is counted in an index; that
// costs little. A few are gathered at once. Else a walk comes first, over a fraction of that many:
// it costs little beside what is to be gathered, and most pages are full by then.
func (l *listing) findPlaced(ctx context.Context, q querier) ([]journal.RunID, error) {
	if l.ids != nil {
		return l.gather(ctx, q, l.named())
	}
	ranges := l.where.labelRanges()
	if l.narrowest() {
		ranges = nil
	}
	if len(ranges) > 0 { // most runs have such a name, or few: a count of most would cost more than a page
		found, all, err := l.walk(ctx, q, listChunk)
		if err != nil || all {
			return found, err
		}
		l.where.clear()
	}
	most, err := l.mostGathered(q)
	if err != nil {
		return nil, err
	}
	parts, n, err := l.fewest(q, l.gathered(), most)
	if err == nil && len(ranges) > 0 && (parts == nil || n > gatherSure) {
		most := min(labelledMax, l.where.most)
		if parts != nil {
			most = min(n, most)
		}
		var few []part
		var m int
		if few, m, err = l.fewest(q, ranges, most); few != nil {
			parts, n = few, m
		}
	}
	if err != nil {
		return nil, err
	}
	if parts == nil {
		found, _, err := l.walk(ctx, q, math.MaxInt)
		return found, err
	}
	if n > gatherSure {
		found, all, err := l.walk(ctx, q, n/walkShare)
		if err != nil || all {
			return found, err
		}
		l.where.clear()
	}
	return l.gather(ctx, q, parts)
}

// mostGathered returns how many candidates are gathered at most. Where the runs of some statuses
// are walked over, newest first, that is no more than they are: to count more of something else
// costs as much as the walk.
func (l *listing) mostGathered(q querier) (most int, err error) {
	parts := l.where.statuses()
	if o := l.where.q.Order; parts == nil || l.narrowest() || !o.ByID() || o.Ascending {
		return l.where.most, nil
	}
	few, n, err := l.fewest(q, [][]part{parts}, l.where.most)
	if few == nil {
		n = l.where.most
	}
	return n, err
}

// gather looks at all candidates of the parts and returns what matches in order.
func (l *listing) gather(ctx context.Context, q querier, parts []part) (found []journal.RunID, err error) {
	w := l.where
	last := bytes.Repeat([]byte{0xff}, 17) // more than any id
	for _, p := range parts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		w.use(p.conditions)
		args := append(append([]any{last}, p.args...), int64(math.MaxInt64))
		if _, err := l.scan(q, p.sql, math.MaxInt, &found, args...); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b journal.RunID) int { return w.q.Order.Compare(w.places[a], w.places[b]) })
	return slices.Compact(found), nil
}

// walk looks at candidates in the order that is asked for until there is one run more than the page
// holds. It begins behind the cursor, or where the condition begins. all is false if that many
// candidates were not enough.
func (l *listing) walk(ctx context.Context, q querier, most int) (found []journal.RunID, all bool, err error) {
	w := l.where
	w.use(w.all)
	sql, bounds := walkOldestSQL, filter.All
	switch o := w.q.Order; {
	case o.ByID() && !o.Ascending:
		return l.walkNewest(ctx, q, most)
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
		seen, err := l.scan(q, sql, l.limit+1, &found, args...)
		if err != nil || len(seen) < chunk || len(found) > l.limit {
			return found, true, err
		}
		value, run = w.place.Value, w.place.Run[:]
	}
	return nil, false, nil
}

// walkNewest is walk for the order of listings, newest first: each part has that order. A part is
// left where its candidates are older than a page of those that the parts before have given.
func (l *listing) walkNewest(ctx context.Context, q querier, most int) (found []journal.RunID, all bool, err error) {
	parts, err := l.newest(q)
	if err != nil {
		return nil, false, err
	}
	before, floor := l.before, []byte(nil)
	if w := l.where; w.q.After != nil {
		before = w.q.After.Run[:]
	}
	for _, p := range parts {
		l.where.use(p.conditions)
		got, looked, err := l.descend(ctx, q, p.source, [2][]byte{before, floor}, most)
		if err != nil || looked > most {
			return nil, false, err
		}
		most -= looked
		found = append(found, got...)
		slices.SortFunc(found, func(a, b journal.RunID) int { return bytes.Compare(b[:], a[:]) })
		found = slices.Compact(found)
		for len(found) > l.limit+1 {
			l.where.forget(found[len(found)-1])
			found = found[:len(found)-1]
		}
		if len(found) > l.limit {
			floor = bytes.Clone(found[l.limit][:])
		}
	}
	return found, true, nil
}
