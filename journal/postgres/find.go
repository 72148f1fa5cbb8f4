package postgres

import (
	"slices"
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
` + listTasks + listEnds
	findEnded fragment = `FROM ` + listEnded + listTasks
	// findEndedFirst leaves the planner one way, from the terminal events to their runs, see
	// endedFirst.
	findEndedFirst fragment = `FROM reprise.events e
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[e.run_id])) r
` + listTasks
	findWhere fragment = listWhere + `  AND ($5::smallint IS NULL OR r.status = $5)
  AND ($5::smallint IS NULL OR $5 <> 0 OR t.run_id IS NOT NULL)
  AND ($6::smallint IS NULL OR e.kind = $6 AND e.kind > 20)
` + listRest
	findKind    fragment = "  AND e.kind"
	findIs      fragment = "\n  AND coalesce(r.status"
	findIsClose fragment = listIsEnd + "\n"
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
	placeClosed      fragment = "  AND (r.closed_at, r.id) < ("
	placeClosedAsc   fragment = "  AND (r.closed_at, r.id) > ("
	placeDuration    fragment = "  AND (" + exprDuration + ", r.id) < ("
	placeDurationAsc fragment = "  AND (" + exprDuration + ", r.id) > ("

	orderID          fragment = "ORDER BY r.id DESC"
	orderIDAsc       fragment = "ORDER BY r.id"
	orderEvent       fragment = "ORDER BY e.run_id DESC"
	orderEventAsc    fragment = "ORDER BY e.run_id"
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
	args, limit, err := findArgs(f)
	if err != nil {
		return nil, 0, err
	}
	b := &built{args: args}
	parts := partsOf(f, q)
	b.parts(parts, func(conditions []filter.Expr) {
		b.add(findSelect)
		b.order(q, b.from(f, conditions, q.Order.ByID()))
		b.add(limitRows)
	})
	if len(parts) > 1 {
		b.add(newline)
		b.add(partsOrder(q.Order))
		b.add(limitRows)
	}
	return b, limit, nil
}

// findArgs is listArgs without what a condition has a form of its own for: the cursor, which is one
// of the query's order, and the status of runs that did not complete, see built.from.
func findArgs(f *journal.ListFilter) (args []any, limit int, err error) {
	plain := *f
	plain.Cursor = ""
	if f.Status != nil && *f.Status > journal.Completed {
		plain.Status = nil
	}
	return listArgs(&plain)
}

// beside tells which tables beside runs have a row of every run that is selected. The planner may
// read the runs in the order of one of these. It knows that their ids are those of the runs, and
// yet does not bound their index by a bound of the run's id: a page's place is said of each table.
//
// ended says that the runs come from their terminal events alone, in whose order they are.
type beside struct{ task, event, ended bool }

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

// from adds where runs come from, and everything that they must meet but their place. Runs of
// statuses that did not complete come from their terminal events, see listFailedSQL; inOrder says
// that they are to be in the order of ids.
func (b *built) from(f *journal.ListFilter, conditions []filter.Expr, inOrder bool) beside {
	tables := besideOf(f, conditions)
	ended, conditions := takeEnded(f, conditions)
	tables.ended = len(ended) > 0 && inOrder && endedFirst(f, conditions)
	if len(ended) == 0 {
		b.add(findRuns)
		b.add(findWhere)
	} else {
		if tables.ended {
			b.add(findEndedFirst)
		} else {
			b.add(findEnded)
		}
		b.add(findWhere)
		kinds := make([]int16, len(ended))
		for i, status := range ended {
			kinds[i] = int16(journal.Status(status).TerminalKind())
		}
		b.add(findKind)
		b.oneOf(kinds)
		b.add(findIs)
		b.oneOf(ended)
		b.add(findIsClose)
	}
	for _, e := range conditions {
		b.add(whereAnd)
		b.where(e)
		b.add(newline)
	}
	return tables
}

// oneOf compares with one number or with several. Only what is equal to one number comes in the
// order of an index behind it.
func (b *built) oneOf(list []int16) {
	if len(list) == 1 {
		b.add(opEqual)
		b.arg(list[0], castShort)
		return
	}
	b.add(fragmentAny)
	b.arg(list, castShorts)
	b.add(fragmentClose)
}

// takeEnded takes the first condition that is about nothing but statuses of runs that did not
// complete.
func takeEnded(f *journal.ListFilter, conditions []filter.Expr) ([]int16, []filter.Expr) {
	if f.Status != nil && *f.Status > journal.Completed {
		return []int16{int16(*f.Status)}, conditions // left out by findArgs
	}
	for i, e := range conditions {
		c, ok := e.(*filter.Cond)
		if !ok || c.Negate || c.Field != filter.FieldStatus || c.Op != filter.Equal && c.Op != filter.In {
			continue
		}
		var ended []int16
		for _, v := range c.Values {
			if status, state := v.Status(); state == journal.Ready && status > journal.Completed {
				ended = append(ended, int16(status))
			}
		}
		if len(ended) == len(c.Values) {
			return ended, slices.Delete(slices.Clone(conditions), i, i+1)
		}
	}
	return nil, conditions
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
	switch {
	case tables.ended && q.Order.Ascending:
		b.add(orderEventAsc)
	case tables.ended:
		b.add(orderEvent)
	default:
		b.add(o.by)
	}
}

// placeBeside adds where the page begins in the tables beside runs.
func (b *built) placeBeside(q *filter.Query, tables beside) {
	for _, p := range []struct {
		has      bool
		down, up fragment
	}{
		{tables.task, placeTask, placeTaskAsc},
		{tables.event, placeEvent, placeEventAsc},
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
