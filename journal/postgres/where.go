package postgres

import (
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal/filter"
)

// fragment is a piece of a statement that is put together at run time. Only constants of this
// package are ever converted to it: a string that came from somewhere is of another type, so it
// cannot become part of a statement without a conversion, and TestFragments finds none.
//
// That is why a condition, other than every other statement of this package, is no constant: what
// may be asked has no end, and one constant for all of it would have one plan for all of it.
type fragment string

// built is a statement in the making. Its text consists of fragments and of the names of parameters
// ($14), its arguments of everything that a caller said.
type built struct {
	text strings.Builder
	args []any
}

func (b *built) add(f fragment) { b.text.WriteString(string(f)) }

// arg adds a parameter with its type.
func (b *built) arg(v any, cast fragment) {
	b.args = append(b.args, v)
	b.text.WriteByte('$')
	b.text.WriteString(strconv.Itoa(len(b.args)))
	b.add(cast)
}

// The pieces between conditions.
const (
	fragmentOpen  fragment = "("
	fragmentClose fragment = ")"
	fragmentAnd   fragment = " AND "
	fragmentOr    fragment = " OR "
	fragmentFalse fragment = ") IS NOT TRUE"
	fragmentNot   fragment = "NOT ("
)

// The types of parameters.
const (
	castText      fragment = "::text"
	castTexts     fragment = "::text[]"
	castNumber    fragment = "::bigint"
	castNumbers   fragment = "::bigint[]"
	castTime      fragment = "::timestamptz"
	castTimes     fragment = "::timestamptz[]"
	castInterval  fragment = "::interval"
	castIntervals fragment = "::interval[]"
	castRun       fragment = "::uuid"
	castRuns      fragment = "::uuid[]"
	castShort     fragment = "::smallint"
	castShorts    fragment = "::smallint[]"
	castJSON      fragment = "::jsonb"
	castDecimal   fragment = "::text::numeric"
)

// operators are those that compare, by filter.Op; the others have forms of their own.
var operators = map[filter.Op]fragment{
	filter.Equal: opEqual, filter.NotEqual: opNotEqual, filter.Less: opLess, filter.LessOrEqual: opLessOrEqual,
	filter.Greater: opGreater, filter.GreaterOrEqual: opGreaterOrEqual,
}

const (
	opEqual          fragment = " = "
	opNotEqual       fragment = " <> "
	opLess           fragment = " < "
	opLessOrEqual    fragment = " <= "
	opGreater        fragment = " > "
	opGreaterOrEqual fragment = " >= "
)

const (
	fragmentAny     fragment = " = ANY ("
	fragmentBetween fragment = " BETWEEN "
	fragmentLike    fragment = " LIKE "
	fragmentSet     fragment = " IS NOT NULL"
)

// where adds an expression without Not, see filter.Positive. In SQL a condition on null is null,
// which above AND and OR is as good as false; so only a condition that is negated has to say what
// null is, and those that are not can be searched for in an index.
func (b *built) where(e filter.Expr) {
	switch e := e.(type) {
	case filter.And:
		b.list(e, fragmentAnd)
	case filter.Or:
		b.list(e, fragmentOr)
	case *filter.Cond:
		if e.Negate && e.Field == filter.FieldKey && e.Op == filter.IsSet {
			b.add(keyNone)
			return
		}
		b.add(fragmentOpen)
		b.cond(e)
		if e.Negate {
			b.add(fragmentFalse)
		} else {
			b.add(fragmentClose)
		}
	}
}

func (b *built) list(members []filter.Expr, between fragment) {
	b.add(fragmentOpen)
	for i, m := range members {
		if i > 0 {
			b.add(between)
		}
		b.where(m)
	}
	b.add(fragmentClose)
}

// cond adds one condition, not negated.
func (b *built) cond(c *filter.Cond) {
	switch c.Field {
	case filter.FieldLabel:
		b.label(c)
	case filter.FieldStatus:
		b.status(c)
	case filter.FieldKey:
		b.key(c)
	case filter.FieldWaiting:
		b.waiting(c)
	case filter.FieldErrorClass:
		b.class(c)
	default:
		b.scalar(whereColumns[c.Field], c)
	}
}

// whereColumn is a field that is an expression of one row. guard is what must hold for a run to
// have a value; an expression that is null for all others needs none.
type whereColumn struct {
	guard, expr, cast, casts fragment
}

const (
	exprID         fragment = "r.id"
	exprWorkflow   fragment = "r.workflow"
	exprVersion    fragment = "r.version"
	exprQueue      fragment = "r.queue"
	exprPriority   fragment = "r.priority"
	exprKey        fragment = "r.key"
	exprCreated    fragment = "r.created_at"
	exprClosed     fragment = "r.closed_at"
	exprGeneration fragment = "r.generation"
	exprParent     fragment = "r.parent_run"
	exprNode       fragment = "t.owner"
	exprStarted    fragment = "coalesce(r.start_at, r.created_at)"
	exprDuration   fragment = "greatest(r.closed_at - coalesce(r.start_at, r.created_at), interval '0')" // as in the index of docs/operating-postgres.md
	exprDeadline   fragment = "(coalesce(r.start_at, r.created_at) + r.timeout * interval '1 microsecond')"

	guardClosed fragment = "r.closed_at IS NOT NULL AND "
	guardOwned  fragment = "t.owner > 0 AND "
)

// whereColumns are the fields that have no form of their own.
var whereColumns = map[filter.Field]whereColumn{
	filter.FieldID:         {"", exprID, castRun, castRuns},
	filter.FieldWorkflow:   {"", exprWorkflow, castText, castTexts},
	filter.FieldVersion:    {"", exprVersion, castNumber, castNumbers},
	filter.FieldQueue:      {"", exprQueue, castText, castTexts},
	filter.FieldPriority:   {"", exprPriority, castNumber, castNumbers},
	filter.FieldKey:        {"", exprKey, castText, castTexts},
	filter.FieldCreated:    {"", exprCreated, castTime, castTimes},
	filter.FieldStarted:    {"", exprStarted, castTime, castTimes},
	filter.FieldClosed:     {"", exprClosed, castTime, castTimes},
	filter.FieldDuration:   {guardClosed, exprDuration, castInterval, castIntervals},
	filter.FieldDeadline:   {"", exprDeadline, castTime, castTimes},
	filter.FieldGeneration: {"", exprGeneration, castNumber, castNumbers},
	filter.FieldParent:     {"", exprParent, castRun, castRuns},
	filter.FieldNode:       {guardOwned, exprNode, castNumber, castNumbers},
}

// scalar compares an expression that has one value or none.
func (b *built) scalar(col whereColumn, c *filter.Cond) {
	b.add(col.guard)
	b.add(col.expr)
	b.compare(col.cast, col.casts, c)
}

// compare adds operator and values behind an expression.
func (b *built) compare(cast, casts fragment, c *filter.Cond) {
	switch c.Op {
	case filter.IsSet:
		b.add(fragmentSet)
	case filter.In:
		b.add(fragmentAny)
		b.arg(argsOf(c.Values), casts)
		b.add(fragmentClose)
	case filter.Between:
		b.add(fragmentBetween)
		b.arg(argOf(c.Values[0]), cast)
		b.add(fragmentAnd)
		b.arg(argOf(c.Values[1]), cast)
	case filter.StartsWith:
		b.add(fragmentLike)
		b.arg(startsWith(c.Values[0].Text), cast)
	default:
		b.add(operators[c.Op])
		b.arg(argOf(c.Values[0]), cast)
	}
}

// startsWith returns the pattern of texts that begin with a prefix.
func startsWith(prefix string) string { return likeEscape.Replace(prefix) + "%" }

// argOf returns a value as the driver takes it.
func argOf(v filter.Value) any {
	switch v.Kind {
	case filter.KindNumber:
		return v.Int()
	case filter.KindTime:
		return v.Time
	case filter.KindDuration:
		return v.Duration
	case filter.KindID:
		return uuidArg(v.ID)
	}
	return v.Text
}

// argsOf returns the values of a list, which are of one kind unless a label is compared with them.
func argsOf(values []filter.Value) any {
	switch values[0].Kind {
	case filter.KindNumber:
		return listOf(values, filter.Value.Int)
	case filter.KindTime:
		return listOf(values, func(v filter.Value) time.Time { return v.Time })
	case filter.KindDuration:
		return listOf(values, func(v filter.Value) time.Duration { return v.Duration })
	case filter.KindID:
		return listOf(values, func(v filter.Value) pgtype.UUID { return uuidArg(v.ID) })
	}
	return listOf(values, func(v filter.Value) string { return v.Text })
}

func listOf[T any](values []filter.Value, of func(v filter.Value) T) []T {
	list := make([]T, len(values))
	for i, v := range values {
		list[i] = of(v)
	}
	return list
}
