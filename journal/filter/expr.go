package filter

import (
	"slices"
	"time"
)

// Filter is a parsed text.
type Filter struct {
	Where Expr // nil selects everything
	Order Order
}

// Expr is an And, an Or, a Not or a Cond.
type Expr interface{ expr() }

// And is true if all of its two or more members are.
type And []Expr

// Or is true if one of its two or more members is.
type Or []Expr

// Not is true if its member is false.
type Not struct{ Expr Expr }

// Cond compares a field with values.
type Cond struct {
	Field  Field
	Label  string // the name of the label, if Field is FieldLabel
	Op     Op
	Values []Value // two for Between, none for IsSet, one or more for In, else one
	Negate bool    // only in what Positive returns
}

func (And) expr()   {}
func (Or) expr()    {}
func (Not) expr()   {}
func (*Cond) expr() {}

// Op is an operator. "is not set" is Not of IsSet.
type Op int

// The operators. The texts of opNames stand in this order.
const (
	Equal Op = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	In
	Between
	StartsWith
	IsSet
)

var opNames = [...]string{"=", "!=", "<", "<=", ">", ">=", "in", "between", "starts with", "is set"}

// String returns the operator as it is written.
func (o Op) String() string { return opNames[o] }

// Order is the order of a listing. The zero value is newest first. Runs without a value of By are
// not listed: an open run has no time of its close.
type Order struct {
	By        Field // FieldCreated or zero, FieldClosed or FieldDuration
	Ascending bool
}

// ByID tells whether the order is that of the runs' ids, which grow with time.
func (o Order) ByID() bool { return o.By == 0 || o.By == FieldCreated }

// Positive returns an expression that selects the same runs and has no Not in it: each Cond says
// itself whether it is negated. A compiler for a database needs that, because there a condition on
// a value that is missing is unknown and not false, which makes no difference until it is negated.
func Positive(e Expr) Expr { return positive(e, false) }

func positive(e Expr, negate bool) Expr {
	switch e := e.(type) {
	case And:
		list := positives(e, negate)
		if negate {
			return Or(list)
		}
		return And(list)
	case Or:
		list := positives(e, negate)
		if negate {
			return And(list)
		}
		return Or(list)
	case Not:
		return positive(e.Expr, !negate)
	case *Cond:
		c := *e
		c.Negate = c.Negate != negate
		return &c
	}
	return nil
}

func positives(list []Expr, negate bool) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = positive(e, negate)
	}
	return out
}

// Conjuncts returns the parts of an expression that must all be true.
func Conjuncts(e Expr) []Expr {
	and, ok := e.(And)
	switch {
	case e == nil:
		return nil
	case !ok:
		return []Expr{e}
	}
	var list []Expr
	for _, member := range and {
		list = append(list, Conjuncts(member)...)
	}
	return list
}

// Any tells whether a condition of the expression has the property.
func Any(e Expr, is func(c *Cond) bool) bool {
	each := func(m Expr) bool { return Any(m, is) }
	switch e := e.(type) {
	case And:
		return slices.ContainsFunc(e, each)
	case Or:
		return slices.ContainsFunc(e, each)
	case Not:
		return Any(e.Expr, is)
	case *Cond:
		return is(e)
	}
	return false
}

// Relative tells whether what the filter selects depends on the present time.
func (f *Filter) Relative() bool {
	return Any(f.Where, func(c *Cond) bool {
		return slices.ContainsFunc(c.Values, func(v Value) bool { return v.Kind == KindRelative })
	})
}

// At returns the filter with the times that are relative to now put in. They are whole
// microseconds, like all times that stores keep.
func (f *Filter) At(now time.Time) *Filter {
	return &Filter{Where: at(f.Where, now), Order: f.Order}
}

func at(e Expr, now time.Time) Expr {
	switch e := e.(type) {
	case And:
		list := make(And, len(e))
		for i, m := range e {
			list[i] = at(m, now)
		}
		return list
	case Or:
		list := make(Or, len(e))
		for i, m := range e {
			list[i] = at(m, now)
		}
		return list
	case Not:
		return Not{at(e.Expr, now)}
	case *Cond:
		c := *e
		c.Values = slices.Clone(e.Values)
		for i, v := range c.Values {
			if v.Kind == KindRelative {
				c.Values[i] = Value{Kind: KindTime, Time: now.Add(v.Duration).UTC().Truncate(time.Microsecond)}
			}
		}
		return &c
	}
	return nil
}
