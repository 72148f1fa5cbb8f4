package filter

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// String returns the filter as a text that Parse reads back.
func (f *Filter) String() string {
	var parts []string
	if f.Where != nil {
		parts = append(parts, text(f.Where))
	}
	if o := f.Order; o.By != 0 {
		direction := "desc"
		if o.Ascending {
			direction = "asc"
		}
		parts = append(parts, "order by "+o.By.String()+" "+direction)
	}
	return strings.Join(parts, " ")
}

// text writes an expression. Members of another kind than their list's are in parentheses, also
// where precedence makes them needless: a person reads it.
func text(e Expr) string {
	switch e := e.(type) {
	case And:
		return join(e, " and ")
	case Or:
		return join(e, " or ")
	case Not:
		if c, ok := e.Expr.(*Cond); ok && c.Op == IsSet {
			return c.name() + " is not set"
		}
		return "not " + member(e.Expr)
	case *Cond:
		return e.String()
	}
	return ""
}

func join(list []Expr, between string) string {
	parts := make([]string, len(list))
	for i, e := range list {
		parts[i] = member(e)
	}
	return strings.Join(parts, between)
}

func member(e Expr) string {
	switch e.(type) {
	case And, Or:
		return "(" + text(e) + ")"
	}
	return text(e)
}

// String returns the condition as it is written.
func (c *Cond) String() string {
	values := make([]string, len(c.Values))
	for i, v := range c.Values {
		values[i] = v.String()
	}
	s := c.name() + " " + c.Op.String()
	switch c.Op {
	case IsSet:
	case In:
		s += " (" + strings.Join(values, ", ") + ")"
	default:
		s += " " + strings.Join(values, " and ")
	}
	if c.Negate {
		return "not " + s
	}
	return s
}

// name returns the field or the label, in a form that is read as that.
func (c *Cond) name() string {
	if c.Field != FieldLabel {
		return c.Field.String()
	}
	plain := isLetter(c.Label[0])
	for i := range len(c.Label) {
		plain = plain && inWord(c.Label[i])
	}
	_, isField := fieldNamed(c.Label)
	_, nearly := nearest(c.Label)
	switch {
	case !plain:
		return "label." + quote(c.Label)
	case isField, nearly, strings.HasPrefix(c.Label, "label."), slices.Contains(reserved, strings.ToLower(c.Label)):
		return "label." + c.Label
	}
	return c.Label
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)

func quote(s string) string { return `"` + quoter.Replace(s) + `"` }

// String returns the value as it is written.
func (v Value) String() string {
	switch v.Kind {
	case KindNumber, KindBool:
		return v.Text
	case KindTime:
		return v.Time.Format(time.RFC3339Nano)
	case KindRelative:
		switch {
		case v.Duration == 0:
			return "now"
		case v.Duration < 0:
			return "-" + printDuration(-v.Duration)
		}
		return "+" + printDuration(v.Duration)
	case KindDuration:
		if v.Duration < 0 {
			return "-" + printDuration(-v.Duration)
		}
		return printDuration(v.Duration)
	case KindID:
		return quote(v.ID.String())
	}
	return quote(v.Text)
}

// printDuration writes a duration with the units that parseDuration reads.
func printDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	var b strings.Builder
	for _, unit := range []string{"w", "d", "h", "m", "s", "ms", "us"} {
		if n := d / units[unit]; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + unit)
			d -= n * units[unit]
		}
	}
	return b.String()
}
