package sqlite

import (
	"math"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// The ranges that are gathered. Their first parameter is a listing's, which no id exceeds.
const (
	gatherParentsSQL = `
SELECT ` + candidateColumns + `
FROM reprise_runs r INDEXED BY reprise_runs_parent_idx
WHERE +r.id < ? AND r.parent_run IS NOT NULL LIMIT +?`

	gatherOwnedSQL = `
SELECT ` + candidateColumns + `
FROM reprise_tasks t INDEXED BY reprise_tasks_owner_idx CROSS JOIN reprise_runs r ON r.id = t.run_id
WHERE +t.run_id < ? AND t.owner > 0 AND t.owner = ? LIMIT +?`

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

// How many candidates the sources have, up to a limit. Each reads a range of an index and no row,
// so a count costs little beside a look at the candidates.
const (
	countNoKeySQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_no_key_idx WHERE r.key IS NULL LIMIT +?)`
	countKeysSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_runs k WHERE k.holds_key = 1 AND k.key >= ?1 AND k.key < ?2
    UNION ALL
    SELECT 1 FROM reprise_runs k WHERE k.holds_key = 0 AND k.key IS NOT NULL AND k.key >= ?1 AND k.key < ?2
    LIMIT +?3)`
	countParentSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_parent_idx WHERE r.parent_run = ? LIMIT +?)`
	countParentsSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_parent_idx WHERE r.parent_run IS NOT NULL LIMIT +?)`
	countOwnedSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_tasks t INDEXED BY reprise_tasks_owner_idx WHERE t.owner > 0 AND t.owner = ? LIMIT +?)`
	countWorkflowSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_workflow_idx WHERE r.workflow = ? LIMIT +?)`
	countOpenSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_tasks t LIMIT +?)`
	countStuckSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_tasks t INDEXED BY reprise_tasks_stuck_idx WHERE t.state > 0 AND t.state = ? LIMIT +?)`
	countLimitedSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_tasks t INDEXED BY reprise_tasks_limited_idx WHERE t.state < 0 AND t.state = ? LIMIT +?)`
	countFailedSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_events e INDEXED BY reprise_events_failed_idx WHERE e.kind > 20 AND e.kind = ? LIMIT +?)`
	// countFailedAsSQL counts those with any name: to look at names costs as much as to list them.
	countFailedAsSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_events e INDEXED BY reprise_events_failed_idx WHERE e.kind > 20 AND e.kind = ?1
      AND coalesce(?2, ?3, ?4) IS NOT NULL LIMIT +?5)`
	countCreatedSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_created_idx WHERE r.created_at >= ? AND r.created_at <= ? LIMIT +?)`
	countClosedSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_closed_idx
    WHERE r.closed_at IS NOT NULL AND r.closed_at >= ? AND r.closed_at <= ? LIMIT +?)`
	countDurationSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_runs r INDEXED BY reprise_runs_duration_idx
    WHERE r.closed_at IS NOT NULL AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) >= ?
      AND max(r.closed_at - coalesce(r.start_at, r.created_at), 0) <= ? LIMIT +?)`
)

// counts are the statements that count the candidates of each source but that of all runs.
var counts = map[string]string{
	listKeysSQL: countKeysSQL, listParentSQL: countParentSQL, listWorkflowSQL: countWorkflowSQL, listOpenSQL: countOpenSQL,
	listStuckSQL: countStuckSQL, listLimitedSQL: countLimitedSQL, listFailedSQL: countFailedSQL, listFailedAsSQL: countFailedAsSQL,
	listNoKeySQL: countNoKeySQL, listLabelSQL: countLabelSQL, gatherLabelsSQL: countLabelsSQL,
	gatherParentsSQL: countParentsSQL, gatherOwnedSQL: countOwnedSQL,
	gatherCreatedSQL: countCreatedSQL, gatherClosedSQL: countClosedSQL, gatherDurationSQL: countDurationSQL,
}

// source is a statement of candidates with the parameters between its first, an id, and its last, a
// limit.
type source struct {
	sql  string
	args []any
}

// part is a source with the conditions that its candidates must meet. Several parts together have
// every run that is selected: several statuses have an index each.
type part struct {
	source
	conditions []filter.Expr
}

// part returns a source whose candidates must meet all conditions.
func (w *finding) part(sql string, args ...any) []part {
	return []part{{source{sql, args}, w.all}}
}

// statusCond returns a condition that names the statuses that are meant.
func statusCond(e filter.Expr) (*filter.Cond, bool) {
	c, ok := e.(*filter.Cond)
	return c, ok && !c.Negate && c.Field == filter.FieldStatus && (c.Op == filter.Equal || c.Op == filter.In)
}

// statuses returns a part for each status that is meant, unless one of them has no index. A
// candidate of a part is asked for its own status: for those of tasks, the source says it.
func (w *finding) statuses() (parts []part) {
	at := -1
	for i, e := range w.all {
		if _, ok := statusCond(e); ok {
			at = i
		}
	}
	if at < 0 && w.bounds.Statuses != nil { // what open runs alone have
		return w.part(listOpenSQL)
	}
	if at < 0 && w.bounds.Failed {
		for status := journal.Failed; status <= journal.Terminated; status++ {
			parts = append(parts, part{w.failed(status), w.all})
		}
		return parts
	}
	if at < 0 {
		return nil
	}
	c := w.all[at].(*filter.Cond)
	for _, v := range filter.DistinctStatuses(c.Values) {
		one := *c
		one.Op, one.Values = filter.Equal, []filter.Value{v}
		rest := append(append([]filter.Expr{}, w.all[:at]...), w.all[at+1:]...)
		switch status, state := v.Status(); {
		case state != journal.Ready:
			parts = append(parts, part{source{stuckSource(state), []any{int64(state)}}, rest})
		case status == journal.Open:
			parts = append(parts, part{source{listOpenSQL, nil}, append(rest, &one)})
		case status > journal.Completed:
			parts = append(parts, part{w.failed(status), append(rest, &one)})
		default:
			return nil
		}
	}
	return parts
}

// stuckSource has the open runs whose tasks are in a state that is not Ready.
func stuckSource(state journal.TaskState) string {
	if state == journal.Limited {
		return listLimitedSQL
	}
	return listStuckSQL
}

// failed returns the source of the runs that ended with a status. Those of which names of the
// failure are asked are found by a name in its text, since most failures have another one.
func (w *finding) failed(status journal.Status) source {
	kind := int64(status.TerminalKind())
	for _, e := range w.all {
		c, ok := e.(*filter.Cond)
		if !ok || c.Negate || c.Field != filter.FieldErrorClass || c.Op != filter.Equal && c.Op != filter.In || len(c.Values) > namesMax ||
			slices.ContainsFunc(c.Values, func(v filter.Value) bool { return !plainName(v.Text) }) {
			continue
		}
		args := append([]any{kind}, make([]any, namesMax)...)
		for i, v := range c.Values {
			args[1+i] = []byte(v.Text)
		}
		return source{listFailedAsSQL, args}
	}
	return source{listFailedSQL, []any{kind}}
}

// indexed returns what has the order of ids in an index, each one an alternative.
func (w *finding) indexed() (list [][]part) {
	if parts := w.statuses(); parts != nil {
		list = append(list, parts)
	}
	for _, e := range w.all {
		c, ok := e.(*filter.Cond)
		switch {
		case !ok:
		case c.Negate && c.Field == filter.FieldKey && c.Op == filter.IsSet:
			list = append(list, w.part(listNoKeySQL))
		case !c.Negate:
			if parts := w.labelled(c); parts != nil {
				list = append(list, parts)
			}
		}
	}
	return list
}

// named returns the runs that are named.
func (l *listing) named() (parts []part) {
	for _, run := range l.ids {
		parts = append(parts, l.where.part(listIDSQL, uuidArg(run))...)
	}
	return parts
}

// narrowest tells whether the filter has named keys, children or a status: then nothing else is
// worth looking for.
func (l *listing) narrowest() bool {
	return l.sql != listAllSQL && l.sql != listOpenSQL && l.sql != listWorkflowSQL
}

// gathered returns what may be gathered, each one an alternative. What the order has an index of is
// none: to walk there meets no more candidates.
func (l *listing) gathered() (list [][]part) {
	w, b := l.where, &l.where.bounds
	newest := w.q.Order.ByID() && !w.q.Order.Ascending
	if !newest {
		if !l.narrowest() {
			list = append(list, w.indexed()...)
		}
		if l.sql != listAllSQL {
			list = append(list, w.part(l.sql, l.args...))
		}
	}
	if b.Closed != filter.All && w.q.Order.By != filter.FieldClosed {
		list = append(list, w.part(gatherClosedSQL, b.Closed.Low, b.Closed.High))
	}
	if b.Created != filter.All {
		list = append(list, w.part(gatherCreatedSQL, b.Created.Low, b.Created.High))
	}
	if b.Duration != filter.All && w.q.Order.By != filter.FieldDuration {
		list = append(list, w.part(gatherDurationSQL, b.Duration.Low, b.Duration.High))
	}
	if l.narrowest() {
		return list
	}
	for _, e := range w.all {
		c, ok := e.(*filter.Cond)
		switch {
		case !ok || c.Negate:
		case c.Field == filter.FieldParent && c.Op == filter.IsSet:
			list = append(list, w.part(gatherParentsSQL))
		case c.Field == filter.FieldNode && c.Op == filter.Equal:
			list = append(list, w.part(gatherOwnedSQL, c.Values[0].Int()))
		}
	}
	return list
}

// newest returns the parts that have the order of listings and the fewest candidates.
func (l *listing) newest(q querier) ([]part, error) {
	own, list := l.where.part(l.sql, l.args...), l.where.indexed()
	if l.narrowest() || len(list) == 0 {
		return own, nil
	}
	if l.sql != listAllSQL {
		list = append(list, own)
	}
	if len(list) == 1 {
		return list[0], nil
	}
	few, _, err := l.fewest(q, list, l.where.most)
	if few == nil {
		few = list[0]
	}
	return few, err
}

// fewest returns the alternative that has the fewest candidates, and how many these are; nil if all
// have more than that many.
func (l *listing) fewest(q querier, list [][]part, most int) (few []part, n int, err error) {
	for _, parts := range list {
		count := 0
		for _, p := range parts {
			args := append(append([]any{}, p.args...), int64(min(most, math.MaxInt32)-count+1))
			if err := q.query(counts[p.sql], func(r row) error { count += int(r.int(0)); return nil }, args...); err != nil {
				return nil, 0, err
			}
			if count > most {
				break
			}
		}
		if count <= most {
			few, n, most = parts, count, count
		}
	}
	return few, n, nil
}
