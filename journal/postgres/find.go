package postgres

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// The statement of a listing with a condition begins as listSQL, up to its order. Parameters of
// listArgs that are null are folded away, as there. What the condition needs stands behind them.
const (
	findSelect fragment = `
SELECT ` + listColumns + `
`
	findRuns fragment = `FROM reprise.runs r
`
	findWhere fragment = listWhere + `  AND ($5::smallint IS NULL OR $5 <> 0 OR t.run_id IS NOT NULL)
  AND ($6::smallint IS NULL OR e.kind = $6 AND e.kind > 20)
` + listRest
)

// A listing of several statuses that have no index in common starts from a list of ids, each part
// of which is a range of an index in the order of ids. An event counts only if it is the one that
// ended its run.
const (
	sourceOpen   fragment = "FROM (\n"
	sourceTasks  fragment = "SELECT s.run_id AS id, NULL::int AS generation, NULL::int AS seq FROM reprise.tasks s"
	sourceStuck  fragment = "SELECT s.run_id AS id, NULL::int AS generation, NULL::int AS seq FROM reprise.tasks s WHERE s.state > 0 AND s.state = "
	sourceFailed fragment = "SELECT s.run_id AS id, s.generation, s.seq FROM reprise.events s WHERE s.kind > 20 AND s.kind = "
	sourceUnion  fragment = "\nUNION ALL\n"
	sourceClose  fragment = "\n) k JOIN reprise.runs r ON r.id = k.id\n"
	sourceIs     fragment = "  AND (k.seq IS NULL OR k.generation = r.generation AND k.seq = r.closed_seq)\n"
)

// The orders, each with the place behind which a page begins. A place is a value and an id, so that
// a page is a range of an index and costs the same wherever it is.
const (
	whereAnd fragment = "  AND "
	newline  fragment = "\n"
	comma    fragment = ", "

	placeID          fragment = "  AND r.id < "
	placeIDAsc       fragment = "  AND r.id > "
	placeTask        fragment = "  AND t.run_id < "
	placeTaskAsc     fragment = "  AND t.run_id > "
	placeEvent       fragment = "  AND e.run_id < "
	placeEventAsc    fragment = "  AND e.run_id > "
	placeSource      fragment = "  AND k.id < "
	placeSourceAsc   fragment = "  AND k.id > "
	placeClosed      fragment = "  AND (r.closed_at, r.id) < ("
	placeClosedAsc   fragment = "  AND (r.closed_at, r.id) > ("
	placeDuration    fragment = "  AND (" + exprDuration + ", r.id) < ("
	placeDurationAsc fragment = "  AND (" + exprDuration + ", r.id) > ("

	orderID          fragment = "ORDER BY r.id DESC"
	orderIDAsc       fragment = "ORDER BY r.id"
	orderClosed      fragment = "  AND r.closed_at IS NOT NULL\nORDER BY r.closed_at DESC, r.id DESC"
	orderClosedAsc   fragment = "  AND r.closed_at IS NOT NULL\nORDER BY r.closed_at, r.id"
	orderDuration    fragment = "  AND r.closed_at IS NOT NULL\nORDER BY " + exprDuration + " DESC, r.id DESC"
	orderDurationAsc fragment = "  AND r.closed_at IS NOT NULL\nORDER BY " + exprDuration + ", r.id"

	limitRows fragment = " LIMIT $13::int"
)

// ordering is the pieces of an order.
type ordering struct{ place, by, cast fragment }

var orderings = map[filter.Order]ordering{
	{}:                         {placeID, orderID, ""},
	{By: filter.FieldCreated}:  {placeID, orderID, ""},
	{By: filter.FieldClosed}:   {placeClosed, orderClosed, castTime},
	{By: filter.FieldDuration}: {placeDuration, orderDuration, castInterval},
	{By: filter.FieldCreated, Ascending: true}:  {placeIDAsc, orderIDAsc, ""},
	{By: filter.FieldClosed, Ascending: true}:   {placeClosedAsc, orderClosedAsc, castTime},
	{By: filter.FieldDuration, Ascending: true}: {placeDurationAsc, orderDurationAsc, castInterval},
}

// findStatement puts the statement together. Like listSQL it asks for one run more than the page
// holds.
func findStatement(f *journal.ListFilter, q *filter.Query) (*built, int, error) {
	plain := *f
	plain.Cursor = "" // it is one of the query's order
	args, limit, err := listArgs(&plain)
	if err != nil {
		return nil, 0, err
	}
	b := &built{args: args}
	b.add(findSelect)
	b.order(q, b.from(f, q))
	b.add(limitRows)
	return b, limit, nil
}

// beside tells which tables beside runs have a row of every run that is selected. The planner may
// read the runs in the order of one of these. It knows that their ids are those of the runs, and
// yet does not bound their index by a bound of the run's id: a page's place is said of each table.
type beside struct{ task, event, source bool }

// besideOf reads it off a filter: see besideCond for its conditions.
func besideOf(f *journal.ListFilter, conditions []filter.Expr) (s beside) {
	s.task = f.State != nil || f.Unchanged != "" || f.Status != nil && !f.Status.Closed()
	s.event = f.Status != nil && *f.Status > journal.Completed
	for _, e := range conditions {
		if c, ok := e.(*filter.Cond); ok && !c.Negate {
			s.besideCond(c)
		}
	}
	return s
}

// besideCond adds what a condition, not negated, is about.
func (s *beside) besideCond(c *filter.Cond) {
	switch c.Field {
	case filter.FieldNode, filter.FieldWaiting:
		s.task = true
	case filter.FieldErrorClass:
		s.event = true
	case filter.FieldStatus:
		if c.Op != filter.Equal && c.Op != filter.In {
			return
		}
		task, event := true, true
		for _, v := range c.Values {
			status, state := v.Status()
			open := state != journal.Ready || status == journal.Open
			task, event = task && open, event && !open && status > journal.Completed
		}
		s.task, s.event = s.task || task, s.event || event
	}
}

// from adds where runs come from, and everything that they must meet but their place.
func (b *built) from(f *journal.ListFilter, q *filter.Query) beside {
	conditions := filter.Conjuncts(q.Where)
	if f.Key != "" {
		conditions = append(conditions, keyCond(filter.Equal, f.Key))
	}
	if f.KeyPrefix != "" {
		conditions = append(conditions, keyCond(filter.StartsWith, f.KeyPrefix))
	}
	tables := besideOf(f, conditions)
	if c := sourceOf(f, q, conditions); c == nil {
		b.add(findRuns)
		b.add(findWhere)
	} else {
		b.source(c)
		b.add(findWhere)
		b.add(sourceIs)
		tables.source = true
	}
	for _, e := range conditions {
		b.add(whereAnd)
		b.where(e)
		b.add(newline)
	}
	return tables
}

func keyCond(op filter.Op, text string) filter.Expr {
	return &filter.Cond{Field: filter.FieldKey, Op: op, Values: []filter.Value{{Kind: filter.KindText, Text: text}}}
}

// sourceOf returns a condition on several statuses, each of which has an index, if that is the best
// that the planner could start from and cannot: nothing names runs, their keys or their parent, and
// the order is that of the ids.
func sourceOf(f *journal.ListFilter, q *filter.Query, conditions []filter.Expr) (found *filter.Cond) {
	if len(f.IDs) > 0 || !f.Parent.IsZero() || f.Status != nil || f.State != nil || !q.Order.ByID() {
		return nil
	}
	for _, e := range conditions {
		c, ok := e.(*filter.Cond)
		switch {
		case !ok || c.Negate || c.Op != filter.Equal && c.Op != filter.In && c.Op != filter.StartsWith:
			continue
		case c.Field == filter.FieldID, c.Field == filter.FieldKey, c.Field == filter.FieldParent, c.Field == filter.FieldErrorClass:
			return nil
		case c.Field == filter.FieldStatus && len(c.Values) > 1 && !hasCompleted(c.Values):
			found = c
		}
	}
	return found
}

// hasCompleted tells whether a status has no index: most runs of a large table are completed.
func hasCompleted(values []filter.Value) bool {
	for _, v := range values {
		if status, _ := v.Status(); status == journal.Completed {
			return true
		}
	}
	return false
}

// source adds the list of ids of the statuses. A status that is named twice, or that another one
// includes, has no part of its own: UNION ALL would bring its runs twice.
func (b *built) source(c *filter.Cond) {
	b.add(sourceOpen)
	all, done := false, map[string]bool{}
	for _, v := range c.Values {
		all = all || v.Text == journal.Open.String()
	}
	for _, v := range c.Values {
		status, state := v.Status()
		if done[v.Text] || all && state != journal.Ready {
			continue
		}
		if len(done) > 0 {
			b.add(sourceUnion)
		}
		done[v.Text] = true
		switch {
		case state != journal.Ready:
			b.add(sourceStuck)
			b.arg(int16(state), castShort)
		case status == journal.Open:
			b.add(sourceTasks)
		default:
			b.add(sourceFailed)
			b.arg(int16(status.TerminalKind()), castShort)
		}
	}
	b.add(sourceClose)
}

// order adds where the page begins, and the order.
func (b *built) order(q *filter.Query, tables beside) {
	o := orderings[q.Order]
	if q.After != nil {
		b.add(o.place)
		switch q.Order.By {
		case filter.FieldClosed:
			b.arg(time.UnixMicro(q.After.Value).UTC(), o.cast)
			b.add(comma)
		case filter.FieldDuration:
			b.arg(time.Duration(q.After.Value)*time.Microsecond, o.cast)
			b.add(comma)
		}
		b.arg(uuidArg(q.After.Run), castRun)
		if !q.Order.ByID() {
			b.add(fragmentClose)
		}
		b.add(newline)
		if q.Order.ByID() {
			b.placeBeside(q, tables)
		}
	}
	b.add(o.by)
}

// placeBeside adds where the page begins in the tables beside runs.
func (b *built) placeBeside(q *filter.Query, tables beside) {
	for _, p := range []struct {
		has      bool
		down, up fragment
	}{
		{tables.task, placeTask, placeTaskAsc},
		{tables.event, placeEvent, placeEventAsc},
		{tables.source, placeSource, placeSourceAsc},
	} {
		if !p.has {
			continue
		}
		if q.Order.Ascending {
			b.add(p.up)
		} else {
			b.add(p.down)
		}
		b.arg(uuidArg(q.After.Run), castRun)
		b.add(newline)
	}
}
