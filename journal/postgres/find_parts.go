package postgres

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// A listing of several statuses that have no index in common is put together from parts: a listing
// of each status, which reads its own index in the order of ids and stops after a page. No run has
// two of these statuses, so no run is in two parts. What is read is a page of each part, however
// many runs have the statuses.
const (
	partOpen     fragment = "("
	partNext     fragment = ")\nUNION ALL\n("
	partClose    fragment = ")"
	partsByID    fragment = "ORDER BY id DESC"
	partsByIDAsc fragment = "ORDER BY id"
)

// partsOrder is the order of all parts, which are in the order of ids.
func partsOrder(o filter.Order) fragment {
	if o.Ascending {
		return partsByIDAsc
	}
	return partsByID
}

// parts adds each part, in parentheses if there are several.
func (b *built) parts(parts [][]filter.Expr, add func(conditions []filter.Expr)) {
	for i, conditions := range parts {
		switch {
		case len(parts) == 1:
		case i == 0:
			b.add(partOpen)
		default:
			b.add(partNext)
		}
		add(conditions)
	}
	if len(parts) > 1 {
		b.add(partClose)
	}
}

// partsOf returns the conditions of each part, or all conditions as the only part.
func partsOf(f *journal.ListFilter, q *filter.Query) [][]filter.Expr {
	conditions := filter.Conjuncts(q.Where)
	if f.Key != "" {
		conditions = append(conditions, keyCond(filter.Equal, f.Key))
	}
	if f.KeyPrefix != "" {
		conditions = append(conditions, keyCond(filter.StartsWith, f.KeyPrefix))
	}
	at := severalOf(f, q, conditions)
	if at < 0 {
		return [][]filter.Expr{conditions}
	}
	c := conditions[at].(*filter.Cond)
	var parts [][]filter.Expr
	for _, v := range filter.DistinctStatuses(c.Values) {
		one := *c
		one.Op, one.Values = filter.Equal, []filter.Value{v}
		part := append([]filter.Expr{}, conditions...)
		part[at] = &one
		parts = append(parts, part)
	}
	return parts
}

func keyCond(op filter.Op, text string) filter.Expr {
	return &filter.Cond{Field: filter.FieldKey, Op: op, Values: []filter.Value{{Kind: filter.KindText, Text: text}}}
}

// severalOf returns where a condition on several statuses stands, each of which has an index, if
// that is the best that the planner could start from and cannot: nothing names runs, their keys,
// their parent or their failures, and the order is that of the ids. Else it returns -1.
func severalOf(f *journal.ListFilter, q *filter.Query, conditions []filter.Expr) int {
	if len(f.IDs) > 0 || !f.Parent.IsZero() || f.Status != nil || f.State != nil || !q.Order.ByID() {
		return -1
	}
	at := -1
	for i, e := range conditions {
		c, ok := e.(*filter.Cond)
		switch {
		case !ok || c.Negate || c.Op != filter.Equal && c.Op != filter.In && c.Op != filter.StartsWith:
			continue
		case c.Field == filter.FieldID, c.Field == filter.FieldKey, c.Field == filter.FieldParent, c.Field == filter.FieldErrorClass:
			return -1
		case c.Field == filter.FieldStatus && len(c.Values) > 1 && !hasCompleted(c.Values):
			at = i
		}
	}
	return at
}

// endedFirst tells whether runs that did not complete can be found by nothing but that: no other
// condition has an index. The planner does not see that. It takes a condition without statistics,
// such as one on a label as a number, to select one run in two hundred or in three, and would read
// all runs in the order of their ids until the page is full, which it never is where few or none
// meet the condition.
func endedFirst(f *journal.ListFilter, conditions []filter.Expr) bool {
	if len(f.IDs) > 0 || !f.Parent.IsZero() || f.Workflow != "" || len(f.Labels) > 0 || !f.Since.IsZero() || !f.Until.IsZero() {
		return false
	}
	return !slices.ContainsFunc(conditions, hasIndex)
}

// hasIndex tells whether an index may find the runs that meet a condition, or a part of it.
func hasIndex(e filter.Expr) bool {
	switch e := e.(type) {
	case filter.And:
		return slices.ContainsFunc(e, hasIndex)
	case filter.Or:
		return slices.ContainsFunc(e, hasIndex)
	case filter.Not:
		return hasIndex(e.Expr)
	case *filter.Cond:
		switch e.Field {
		case filter.FieldID, filter.FieldKey, filter.FieldParent, filter.FieldWorkflow, filter.FieldCreated, filter.FieldClosed, filter.FieldDuration,
			filter.FieldErrorClass:
			return true
		case filter.FieldLabel:
			return len(e.Values) > 0 && (e.Op == filter.Equal || e.Op == filter.In) && e.Values[0].Kind != filter.KindNumber && e.Values[0].Kind != filter.KindTime
		}
		return e.Field.OfTask()
	}
	return true
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
