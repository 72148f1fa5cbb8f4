package postgres

import (
	"encoding/json"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// The forms of a key: each index on keys is partial, and the two predicates exclude each other.
const (
	keyHeld    fragment = "r.holds_key AND r.key"
	keyOld     fragment = "NOT r.holds_key AND r.key IS NOT NULL AND r.key"
	keyBetween fragment = ") OR ("
	keyNone    fragment = "(r.key IS NULL)" // the predicate of runs_no_key_idx
)

// key compares a key so that the indexes on keys serve it, if they can: as listByKeySQL does.
func (b *built) key(c *filter.Cond) {
	switch c.Op {
	case filter.Equal, filter.In, filter.StartsWith:
		b.add(fragmentOpen)
		b.scalar(whereColumn{"", keyHeld, castText, castTexts}, c)
		b.add(keyBetween)
		b.scalar(whereColumn{"", keyOld, castText, castTexts}, c)
		b.add(fragmentClose)
	default:
		b.scalar(whereColumns[filter.FieldKey], c)
	}
}

// The forms of a status. Each names what an index is about: that an open run has a task (J7), the
// predicates of tasks_stuck_idx and tasks_limited_idx, and the kind of a terminal event, which
// implies the predicate of events_failed_idx. So the planner can start from a smaller table than
// runs.
const (
	statusOpen    fragment = "(t.run_id IS NOT NULL AND r.status = "
	statusStuck   fragment = "(t.state > 0 AND t.state = "
	statusLimited fragment = "(t.state < 0 AND t.state = "
	statusClosed  fragment = "(r.status = "
	statusKind    fragment = " AND e.kind = "
)

// status compares the status of a run, or the state of its task. Every run has a status.
func (b *built) status(c *filter.Cond) {
	b.add(fragmentOpen)
	for i, v := range c.Values {
		if i > 0 {
			b.add(fragmentOr)
		}
		status, state := v.Status()
		switch {
		case state == journal.Limited:
			b.add(statusLimited)
			b.arg(int16(state), castShort)
		case state != journal.Ready:
			b.add(statusStuck)
			b.arg(int16(state), castShort)
		case status == journal.Open:
			b.add(statusOpen)
			b.arg(int16(status), castShort)
		default:
			b.add(statusClosed)
			b.arg(int16(status), castShort)
			if status > journal.Completed {
				b.add(statusKind)
				b.arg(int16(status.TerminalKind()), castShort)
			}
		}
		b.add(fragmentClose)
	}
	if c.Op == filter.NotEqual {
		b.add(fragmentFalse)
	} else {
		b.add(fragmentClose)
	}
}

// The forms of labels are filter.NumberPattern and filter.TimePattern, written out.
const (
	labelHas     fragment = "r.labels @> "
	labelNamed   fragment = "r.labels ? " // of which the planner has statistics
	labelText    fragment = "(r.labels ->> "
	labelNumber  fragment = "CASE WHEN (r.labels ->> "
	labelNumber2 fragment = ") ~ '^[+-]?[0-9]+([.][0-9]+)?$' THEN (r.labels ->> "
	labelNumber3 fragment = ")::numeric END"
	labelTime2   fragment = ") ~ '^[1-9][0-9]{3}-[01][0-9]-[0-3][0-9](T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,6})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9]))?$' THEN " +
		"reprise.label_time(r.labels ->> "
	labelTime3 fragment = ") END"
)

// label compares a label. What it is compared with says how its text is read. A text that is not of
// the form makes the CASE null before anything converts it, so no label makes a statement fail.
func (b *built) label(c *filter.Cond) {
	switch {
	case c.Op == filter.In:
		for i, v := range c.Values {
			if i > 0 {
				b.add(fragmentOr)
			}
			b.label(&filter.Cond{Label: c.Label, Op: filter.Equal, Values: []filter.Value{v}})
		}
	case c.Op == filter.IsSet, c.Op == filter.StartsWith:
		b.labelNamed(c.Label)
		b.add(fragmentAnd)
		b.labelText(c)
	case c.Values[0].Kind == filter.KindNumber:
		b.labelAs(c.Label, labelNumber, labelNumber2, labelNumber3)
		b.decimals(c)
	case c.Values[0].Kind == filter.KindTime:
		b.labelAs(c.Label, labelNumber, labelTime2, labelTime3)
		b.compare(castTime, castTimes, c)
	case c.Op == filter.Equal:
		b.labelHas(c.Label, c.Values[0].Text)
	case c.Values[0].Kind == filter.KindBool: // what is true or false and not one of them is the other
		b.labelHas(c.Label, map[string]string{"true": "false", "false": "true"}[c.Values[0].Text])
	default:
		b.labelText(c)
	}
}

// labelHas asks for one text, which the index on labels knows.
func (b *built) labelHas(name, text string) {
	pair, err := json.Marshal(map[string]string{name: text})
	if err != nil {
		panic("postgres: two texts that are no JSON: " + err.Error())
	}
	b.add(labelHas)
	b.arg(string(pair), castJSON)
}

// labelNamed asks for a name, which the index on names of labels knows.
func (b *built) labelNamed(name string) {
	b.add(labelNamed)
	b.arg(name, castText)
}

func (b *built) labelText(c *filter.Cond) {
	b.add(labelText)
	b.arg(c.Label, castText)
	b.add(fragmentClose)
	b.compare(castText, castTexts, c)
}

func (b *built) labelAs(name string, first, second, third fragment) {
	b.add(first)
	b.arg(name, castText)
	b.add(second)
	b.arg(name, castText)
	b.add(third)
}

// decimals is compare for numbers of any length.
func (b *built) decimals(c *filter.Cond) {
	if c.Op == filter.Between {
		b.add(fragmentBetween)
		b.arg(c.Values[0].Text, castDecimal)
		b.add(fragmentAnd)
		b.arg(c.Values[1].Text, castDecimal)
		return
	}
	b.add(operators[c.Op])
	b.arg(c.Values[0].Text, castDecimal)
}

// What a run waits for are lines; each is compared without the time at its end, for which the row
// has a mark, see joinWaiting. A blocked task shows none.
const (
	waitingGuard  fragment = "t.state <> 1 AND t.waiting <> ''"
	waitingExists fragment = "EXISTS (SELECT FROM unnest(string_to_array(t.waiting, E'\\n')) AS w (line) WHERE " +
		"CASE WHEN w.line LIKE '% @' THEN left(w.line, -2) ELSE regexp_replace(w.line, ' [0-9]{4}-[0-9]{2}-[0-9]{2}T[^ ]*$', '') END"
)

// waiting compares each line of what a run waits for.
func (b *built) waiting(c *filter.Cond) {
	b.add(waitingGuard)
	if c.Op == filter.IsSet {
		return
	}
	b.add(fragmentAnd)
	b.several(waitingExists, c)
}

// several compares each of several values in a subquery, which exists begins.
func (b *built) several(exists fragment, c *filter.Cond) {
	one := *c
	if c.Op == filter.NotEqual {
		b.add(fragmentNot)
		one.Op = filter.Equal
	}
	b.add(exists)
	b.compare(castText, castTexts, &one)
	b.add(fragmentClose)
	if c.Op == filter.NotEqual {
		b.add(fragmentClose)
	}
}

// The names of a failure, with the predicate of events_failure_idx and as its expression.
const (
	classGuard    fragment = "e.kind > 20 AND e.encoding = 'failure' AND "
	classExpr     fragment = "reprise.failure_classes(e.payload, e.encoding)"
	classSome     fragment = "cardinality(reprise.failure_classes(e.payload, e.encoding)) > 0"
	classExists   fragment = "EXISTS (SELECT FROM unnest(reprise.failure_classes(e.payload, e.encoding)) AS f (class) WHERE f.class"
	classOverlaps fragment = " && "
)

// class compares each name of the failure of a run.
func (b *built) class(c *filter.Cond) {
	b.add(classGuard)
	switch c.Op {
	case filter.IsSet:
		b.add(classSome)
	case filter.StartsWith:
		b.several(classExists, c)
	case filter.NotEqual:
		b.add(classSome)
		b.add(fragmentAnd)
		b.several(classExists, c)
	default: // of these the index knows the answer
		b.add(classExpr)
		b.add(classOverlaps)
		b.arg(argsOf(c.Values), castTexts)
	}
}
