package filter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// Parse reads a filter. An empty text selects everything. Its errors are of type *Error, which is a
// journal.ErrInvalid.
func Parse(text string) (*Filter, error) {
	f, err := parse(text)
	if err != nil {
		return nil, err // not a nil *Error in an error
	}
	return f, nil
}

func parse(text string) (*Filter, *Error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	f := new(Filter)
	var err *Error
	if p.tok.kind != tokenEnd && !p.is("order") {
		if f.Where, err = p.or(); err != nil {
			return nil, err
		}
	}
	if p.is("order") {
		if f.Order, err = p.order(); err != nil {
			return nil, err
		}
	}
	if p.tok.kind != tokenEnd {
		return nil, p.expected("and, or, order by, or the end")
	}
	return f, nil
}

// or reads members with "or" between them, which binds less than "and".
func (p *parser) or() (Expr, *Error) {
	list, err := p.members("or", func() (Expr, *Error) {
		list, err := p.members("and", p.not)
		if err != nil || len(list) == 1 {
			return first(list), err
		}
		return And(list), nil
	})
	if err != nil || len(list) == 1 {
		return first(list), err
	}
	return Or(list), nil
}

func first(list []Expr) Expr {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

func (p *parser) members(between string, read func() (Expr, *Error)) (list []Expr, err *Error) {
	for {
		member, err := read()
		if err != nil {
			return nil, err
		}
		list = append(list, member)
		if more, err := p.take(between); !more || err != nil {
			return list, err
		}
	}
}

// not reads a condition, a parenthesis, or the negation of one of them.
func (p *parser) not() (Expr, *Error) {
	if p.depth++; p.depth > DepthMax {
		return nil, p.fail(p.tok.offset, limitReason("parentheses and nots inside each other", p.depth, DepthMax))
	}
	defer func() { p.depth-- }()
	if negated, err := p.take("not"); negated || err != nil {
		if err != nil {
			return nil, err
		}
		e, err := p.not()
		return Not{e}, err
	}
	open, err := p.take("(")
	switch {
	case err != nil:
		return nil, err
	case !open:
		return p.cond()
	}
	e, err := p.or()
	if err != nil {
		return nil, err
	}
	return e, p.need(")")
}

// cond reads a field, an operator and values.
func (p *parser) cond() (Expr, *Error) {
	c := new(Cond)
	if err := p.field(c); err != nil {
		return nil, err
	}
	if err := p.term(); err != nil {
		return nil, err
	}
	if is, err := p.take("is"); is || err != nil {
		if err != nil {
			return nil, err
		}
		return p.isSet(c)
	}
	at := p.tok.offset
	if err := p.operator(c); err != nil {
		return nil, err
	}
	if err := p.values(c); err != nil {
		return nil, err
	}
	return c, p.suits(c, at)
}

// field reads the name of a field or a label.
func (p *parser) field(c *Cond) *Error {
	name := p.tok
	if name.kind != tokenWord || slices.ContainsFunc(reserved, func(w string) bool { return strings.EqualFold(w, name.text) }) {
		return p.expected("a condition, such as status = \"failed\"; the fields are " + strings.Join(Fields(), ", ") + ", and labels by their names")
	}
	if err := p.advance(); err != nil {
		return err
	}
	label, prefixed := strings.CutPrefix(name.text, "label.")
	if prefixed && label == "" {
		if p.tok.kind != tokenText || p.tok.offset != name.offset+len(name.text) {
			return p.expected("the name of a label directly behind label., in quotes if it is no word")
		}
		label = p.tok.text
		if err := p.advance(); err != nil {
			return err
		}
	}
	if !prefixed {
		if f, ok := fieldNamed(name.text); ok {
			c.Field = f
			return nil
		}
		if meant, ok := nearest(name.text); ok {
			return p.fail(name.offset, fmt.Sprintf("there is no field %q; is %s meant? Write label.%s if it is a label", name.text, meant, name.text))
		}
		label = name.text
	}
	if label == "" || len(label) > journal.LabelKeyBytesMax {
		return p.fail(name.offset, fmt.Sprintf("the name of a label has 1 to %d bytes", journal.LabelKeyBytesMax))
	}
	c.Label = label
	return nil
}

// isSet reads the rest of "is set" or "is not set".
func (p *parser) isSet(c *Cond) (Expr, *Error) {
	c.Op = IsSet
	if !c.Field.Optional() {
		return nil, p.fail(p.tok.offset, fmt.Sprintf("every run has %s: the question is for %s", c.Field, optionalFields()))
	}
	negated, err := p.take("not")
	if err != nil {
		return nil, err
	}
	if err := p.need("set"); err != nil {
		return nil, err
	}
	if negated {
		return Not{c}, nil
	}
	return c, nil
}

// operator reads what stands between field and values.
func (p *parser) operator(c *Cond) *Error {
	for _, op := range []Op{Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual, In, Between} {
		if took, err := p.take(op.String()); took || err != nil {
			c.Op = op
			return err
		}
	}
	if p.is("like") {
		return p.fail(p.tok.offset, `there are no patterns: write starts with "x" for texts that begin with x`)
	}
	if took, err := p.take("starts"); took || err != nil {
		if err != nil {
			return err
		}
		c.Op = StartsWith
		return p.need("with")
	}
	return p.expected("an operator: =, !=, <, <=, >, >=, in, between, starts with, is set, is not set")
}

// values reads as many values as the operator takes.
func (p *parser) values(c *Cond) *Error {
	switch c.Op {
	case In:
		if err := p.need("("); err != nil {
			return err
		}
		for {
			if err := p.term(); err != nil {
				return err
			}
			if err := p.value(c); err != nil {
				return err
			}
			if more, err := p.take(","); err != nil {
				return err
			} else if !more {
				return p.need(")")
			}
		}
	case Between:
		if err := p.value(c); err != nil {
			return err
		}
		if err := p.need("and"); err != nil {
			return err
		}
	}
	return p.value(c)
}

// order reads "order by", a field and a direction.
func (p *parser) order() (o Order, err *Error) {
	if err := p.advance(); err != nil {
		return o, err
	}
	if err := p.need("by"); err != nil {
		return o, err
	}
	for _, by := range []Field{FieldCreated, FieldClosed, FieldDuration} {
		if p.is(by.String()) {
			o.By = by
		}
	}
	if o.By == 0 {
		return o, p.expected("created, closed or duration")
	}
	if err := p.advance(); err != nil {
		return o, err
	}
	if o.Ascending = p.is("asc"); o.Ascending || p.is("desc") {
		return o, p.advance()
	}
	return o, nil
}
