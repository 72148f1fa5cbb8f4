package filter

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Match tells whether a run is one that the expression selects. It is what a filter means: a store
// that compiles filters must select the same runs. Relative times must have been put in, see
// Filter.At. The run is one as List returns it; which parts of it are needed says Cond.
func Match(e Expr, run *journal.Run) bool {
	is := func(m Expr) bool { return Match(m, run) }
	switch e := e.(type) {
	case And:
		return !slices.ContainsFunc(e, func(m Expr) bool { return !is(m) })
	case Or:
		return slices.ContainsFunc(e, is)
	case Not:
		return !is(e.Expr)
	case *Cond:
		return e.holds(run) != e.Negate
	}
	return true // no expression
}

// holds tells whether the condition is true, before it is negated.
func (c *Cond) holds(run *journal.Run) bool {
	switch c.Field.Type() {
	case TypeLabel:
		label, ok := run.Labels[c.Label]
		return ok && c.compare(func(v Value) (int, bool) { return compareLabel(label, v) }, func(prefix string) bool { return strings.HasPrefix(label, prefix) })
	case TypeText:
		return c.text(texts(c.Field, run))
	case TypeStatus:
		return c.compare(func(v Value) (int, bool) { return equality(hasStatus(run, v)) }, nil)
	case TypeID:
		id := run.ID
		if c.Field == FieldParent {
			if run.Parent == nil {
				return false
			}
			id = run.Parent.Run
		}
		return c.compare(func(v Value) (int, bool) { return equality(id == v.ID) }, nil)
	case TypeNumber:
		n, ok := number(c.Field, run)
		return ok && c.compare(func(v Value) (int, bool) { return cmp.Compare(n, v.Int()), true }, nil)
	case TypeTime:
		t := timeOf(c.Field, run)
		return !t.IsZero() && c.compare(func(v Value) (int, bool) { return t.Compare(v.Time), true }, nil)
	}
	d, ok := Duration(run)
	return ok && c.compare(func(v Value) (int, bool) { return cmp.Compare(d, v.Duration), true }, nil)
}

// compare applies the operator to one value that is there. order compares it with a value of the
// filter, and says false if the two cannot be compared, which no operator matches.
func (c *Cond) compare(order func(v Value) (int, bool), starts func(prefix string) bool) bool {
	if c.Op == IsSet {
		return true
	}
	if c.Op == StartsWith {
		return starts(c.Values[0].Text)
	}
	for i, v := range c.Values {
		n, ok := order(v)
		switch {
		case c.Op == In && ok && n == 0:
			return true
		case c.Op == In:
			continue
		case !ok:
			return false
		case c.Op == Between && i == 0 && n < 0:
			return false
		case c.Op == Between && i == 0:
			continue
		}
		return c.Op.accepts(n)
	}
	return false
}

// accepts tells whether the operator holds for the result of a comparison. Of Between it is the
// upper bound.
func (o Op) accepts(n int) bool {
	switch o {
	case Equal:
		return n == 0
	case NotEqual:
		return n != 0
	case Less:
		return n < 0
	case LessOrEqual, Between:
		return n <= 0
	case Greater:
		return n > 0
	}
	return n >= 0
}

// equality is the result of a comparison that knows only equal and different.
func equality(equal bool) (int, bool) {
	if equal {
		return 0, true
	}
	return 1, true
}

// text applies the operator to a field that has any number of texts.
func (c *Cond) text(have []string) bool {
	one := func(op Op) bool {
		single := Cond{Op: op, Values: c.Values}
		return slices.ContainsFunc(have, func(s string) bool {
			return single.compare(func(v Value) (int, bool) { return equality(s == v.Text) }, func(prefix string) bool { return strings.HasPrefix(s, prefix) })
		})
	}
	if c.Op == NotEqual {
		return len(have) > 0 && !one(Equal)
	}
	return one(c.Op)
}

// compareLabel compares the text of a label with a value, which says how to read it.
func compareLabel(label string, v Value) (int, bool) {
	switch v.Kind {
	case KindNumber:
		if !numberForm.MatchString(label) {
			return 0, false
		}
		return compareNumbers(label, v.Text), true
	case KindTime:
		t, ok := parseTime(label)
		return t.Compare(v.Time), ok
	case KindBool:
		n, _ := equality(label == v.Text)
		return n, label == "true" || label == "false"
	}
	return equality(label == v.Text)
}

// hasStatus tells whether a run is in a status, or its task in a state.
func hasStatus(run *journal.Run, v Value) bool {
	status, state := v.Status()
	return run.Status == status && (state == journal.Ready || run.Task != nil && run.Task.State == state)
}

// texts returns the values of a field of texts.
func texts(f Field, run *journal.Run) []string {
	one := ""
	switch f {
	case FieldWorkflow:
		one = run.Workflow
	case FieldQueue:
		one = run.Queue
	case FieldKey:
		one = run.Key
	case FieldWaiting:
		if run.Task == nil {
			return nil
		}
		return causes(run.Task.Waiting)
	case FieldErrorClass:
		return classes(run.Terminal)
	}
	if one == "" {
		return nil
	}
	return []string{one}
}

// waitingTime is the time at the end of what a run waits for.
var waitingTime = regexp.MustCompile(` [0-9]{4}-[0-9]{2}-[0-9]{2}T[^ ]*$`)

// causes returns what a run waits for, without times: people look for all that sleep.
func causes(waiting []string) []string {
	list := make([]string, len(waiting))
	for i, line := range waiting {
		list[i] = waitingTime.ReplaceAllString(line, "")
	}
	return list
}

// classes returns the names by which the failure of a run can be found: of it and of its causes the
// types, without the prefix of the engine's own, and what programs have registered.
func classes(terminal *journal.Event) (list []string) {
	if terminal == nil || terminal.Kind <= journal.RunCompleted {
		return nil
	}
	f, err := journal.DecodeFailure(terminal.Payload)
	if err != nil {
		return nil
	}
	for ; f != nil; f = f.Cause {
		list = append(list, f.Type)
		if own, ok := strings.CutPrefix(f.Type, journal.FailurePrefix); ok {
			list = append(list, own)
		}
		list = append(append(list, f.As), f.Is...)
	}
	return slices.DeleteFunc(list, func(s string) bool { return s == "" || len(s) > ClassBytesMax })
}

// number returns the value of a field of numbers, and whether the run has one.
func number(f Field, run *journal.Run) (int64, bool) {
	switch f {
	case FieldVersion:
		return int64(run.Version), true
	case FieldPriority:
		return int64(run.Priority), true
	case FieldGeneration:
		return int64(run.Generation), true
	case FieldNode:
		if run.Task != nil && run.Task.Owner > 0 {
			return int64(run.Task.Owner), true
		}
	}
	return 0, false
}

// timeOf returns the value of a field of times; zero if the run has none.
func timeOf(f Field, run *journal.Run) time.Time {
	switch f {
	case FieldCreated:
		return run.CreatedAt
	case FieldStarted:
		return run.StartAt
	case FieldClosed:
		return run.ClosedAt
	}
	if run.Timeout == 0 {
		return time.Time{}
	}
	return run.StartAt.Add(run.Timeout)
}

// Duration returns how long a closed run took from its start on, after its delay. A message may
// wake a run before that, and then it took no time.
func Duration(run *journal.Run) (time.Duration, bool) {
	if run.ClosedAt.IsZero() {
		return 0, false
	}
	return max(run.ClosedAt.Sub(run.StartAt), 0), true
}
