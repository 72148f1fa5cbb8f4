package filter

import (
	"fmt"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// wants says for each type of field how its values are written.
var wants = map[Type]string{
	TypeLabel:    `a text in quotes, a number, true, false, or a time such as 2026-11-28, -2d or now`,
	TypeText:     `a text in quotes`,
	TypeID:       `the id of a run`,
	TypeStatus:   `one of "` + strings.Join(statuses, `", "`) + `"`,
	TypeNumber:   `a whole number`,
	TypeTime:     `a time: 2026-11-28, 2026-11-28T10:00:00Z, now, or a distance from now such as -2d or -90m`,
	TypeDuration: `a duration such as 90s or 1h30m (units w, d, h, m, s, ms, us)`,
}

// value reads one value of the type of the condition's field.
func (p *parser) value(c *Cond) *Error {
	v, ok := p.literal(c.Field.Type())
	if !ok {
		what := c.Field.String()
		if c.Field == FieldLabel {
			what = "label " + c.Label
		}
		return p.expected(fmt.Sprintf("%s to compare %s with", wants[c.Field.Type()], what))
	}
	c.Values = append(c.Values, v)
	return p.advance()
}

// literal makes a value of the next token, if it is one of that type.
func (p *parser) literal(t Type) (Value, bool) {
	tok := p.tok
	switch t {
	case TypeText:
		return Value{Kind: KindText, Text: tok.text}, tok.kind == tokenText
	case TypeID:
		id, err := journal.ParseRunID(tok.text)
		return Value{Kind: KindID, ID: id}, err == nil && len(tok.text) == 36 && tok.kind != tokenSign
	case TypeStatus:
		v := Value{Kind: KindStatus, Text: strings.ToLower(tok.text)}
		s, _ := v.Status()
		return v, s >= journal.Open && (tok.kind == tokenText || tok.kind == tokenWord)
	case TypeNumber:
		return wholeNumber(tok)
	case TypeTime:
		return timeValue(tok)
	case TypeDuration:
		d, ok := parseDuration(tok.text)
		return Value{Kind: KindDuration, Duration: d}, ok && tok.kind == tokenNumber
	}
	return labelValue(tok)
}

// wholeNumber reads what a column of whole numbers is compared with. Those columns are small, so
// 18 digits, which fit in an int64, are more than enough.
func wholeNumber(tok token) (Value, bool) {
	digits := strings.TrimLeft(tok.text, "+-")
	ok := tok.kind == tokenNumber && numberForm.MatchString(tok.text) && !strings.Contains(digits, ".") && len(digits) <= 18
	return Value{Kind: KindNumber, Text: tok.text}, ok
}

// timeValue reads a time, or a distance from now. The distance has a sign: 2d may mean two days
// ago or in two days.
func timeValue(tok token) (Value, bool) {
	if tok.kind == tokenWord && strings.EqualFold(tok.text, "now") {
		return Value{Kind: KindRelative}, true
	}
	if tok.kind == tokenWord || tok.kind == tokenSign || tok.kind == tokenEnd {
		return Value{}, false
	}
	if t, ok := parseTime(tok.text); ok {
		return Value{Kind: KindTime, Time: t}, true
	}
	d, ok := parseDuration(tok.text)
	signed := strings.HasPrefix(tok.text, "-") || strings.HasPrefix(tok.text, "+")
	return Value{Kind: KindRelative, Duration: d}, ok && signed && tok.kind == tokenNumber
}

// labelValue reads what a label is compared with. A text in quotes is a text, whatever it looks
// like.
func labelValue(tok token) (Value, bool) {
	word := strings.ToLower(tok.text)
	switch {
	case tok.kind == tokenText:
		return Value{Kind: KindText, Text: tok.text}, true
	case tok.kind == tokenWord && (word == "true" || word == "false"):
		return Value{Kind: KindBool, Text: word}, true
	case tok.kind == tokenNumber && numberForm.MatchString(tok.text):
		return Value{Kind: KindNumber, Text: tok.text}, true
	}
	return timeValue(tok)
}

// ordered tells whether values of the kind have an order that < and between ask for. Texts have
// none here: their order depends on a language, and nobody looks for runs by it.
func (k Kind) ordered() bool {
	return k == KindNumber || k == KindTime || k == KindRelative || k == KindDuration
}

// suits refuses an operator that makes no sense for the values. at is where it stands.
func (p *parser) suits(c *Cond, at int) *Error {
	for _, v := range c.Values {
		switch c.Op {
		case Less, LessOrEqual, Greater, GreaterOrEqual, Between:
			if !v.Kind.ordered() {
				return p.fail(at, fmt.Sprintf("%s compares numbers, times and durations; for %s there are =, !=, in and is set", c.Op, c))
			}
		case StartsWith:
			if v.Kind != KindText || c.Field.Type() != TypeText && c.Field.Type() != TypeLabel {
				return p.fail(at, "starts with is for texts: it needs a field of text or a label, and a text in quotes")
			}
			if v.Text == "" {
				return p.fail(at, "every text starts with nothing: write is set")
			}
		}
	}
	if c.Op == Between && kindOf(c.Values[0]) != kindOf(c.Values[1]) {
		return p.fail(at, "between needs two numbers, two times or two durations")
	}
	return nil
}

// kindOf is the kind of a value once relative times are times.
func kindOf(v Value) Kind {
	if v.Kind == KindRelative {
		return KindTime
	}
	return v.Kind
}
