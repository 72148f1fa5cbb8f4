package filter

import (
	"math"

	"github.com/reprise-run/reprise/journal"
)

// Bounds are what all conditions of an expression together say of the fields that a store has
// indexes on. They select at least the runs that the expression selects, so a store may look for
// those and ask the expression of each. A zero field bounds nothing.
type Bounds struct {
	IDs      []journal.RunID
	Key      string
	Prefix   string // of the key
	Parent   journal.RunID
	Workflow string
	Statuses []Value // KindStatus
	Failed   bool    // only runs that failed, were cancelled or terminated

	Created, Closed, Duration Range
}

// Range is an interval of microseconds, with both ends.
type Range struct{ Low, High int64 }

// All is the range that bounds nothing.
var All = Range{math.MinInt64, math.MaxInt64}

// BoundsOf returns the bounds of an expression of a Query.
func BoundsOf(e Expr) Bounds {
	b := Bounds{Created: All, Closed: All, Duration: All}
	for _, e := range Conjuncts(e) {
		if c, ok := e.(*Cond); ok && !c.Negate {
			b.add(c)
		}
	}
	return b
}

// add narrows the bounds by a condition. One that says nothing for an index is left out, and so is
// a second one on the same field.
func (b *Bounds) add(c *Cond) {
	list := c.Op == Equal || c.Op == In
	switch c.Field {
	case FieldID:
		for _, v := range c.Values {
			if list {
				b.IDs = append(b.IDs, v.ID)
			}
		}
	case FieldKey:
		switch c.Op {
		case Equal:
			b.Key = c.Values[0].Text
		case StartsWith:
			b.Prefix = c.Values[0].Text
		}
	case FieldParent:
		if c.Op == Equal {
			b.Parent = c.Values[0].ID
		}
	case FieldWorkflow:
		if c.Op == Equal {
			b.Workflow = c.Values[0].Text
		}
	case FieldStatus:
		if list {
			b.Statuses = c.Values
		}
	case FieldNode, FieldWaiting: // open runs alone have these
		if b.Statuses == nil {
			b.Statuses = []Value{{Kind: KindStatus, Text: journal.Open.String()}}
		}
	case FieldErrorClass:
		b.Failed = true
	case FieldCreated:
		b.Created.narrow(c)
	case FieldClosed:
		b.Closed.narrow(c)
	case FieldDuration:
		b.Duration.narrow(c)
	}
}

// narrow applies a condition on a time or a duration.
func (r *Range) narrow(c *Cond) {
	micros := func(v Value) int64 {
		if v.Kind == KindDuration {
			return v.Duration.Microseconds()
		}
		return v.Time.UnixMicro()
	}
	switch c.Op {
	case Equal:
		r.Low, r.High = max(r.Low, micros(c.Values[0])), min(r.High, micros(c.Values[0]))
	case Between:
		r.Low, r.High = max(r.Low, micros(c.Values[0])), min(r.High, micros(c.Values[1]))
	case Less, LessOrEqual:
		r.High = min(r.High, micros(c.Values[0]))
	case Greater, GreaterOrEqual:
		r.Low = max(r.Low, micros(c.Values[0]))
	}
}
