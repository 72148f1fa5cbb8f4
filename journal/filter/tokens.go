package filter

import "strings"

// parser reads by recursive descent, one token ahead. depth and terms are what limits bound.
type parser struct {
	lexer
	tok          token
	depth, terms int
}

func (p *parser) advance() (err *Error) {
	p.tok, err = p.next()
	return err
}

// is tells whether the next token is a key word or a sign. Key words may be in capitals.
func (p *parser) is(text string) bool {
	switch p.tok.kind {
	case tokenWord:
		return strings.EqualFold(p.tok.text, text)
	case tokenSign:
		return p.tok.text == text
	}
	return false
}

// take goes on if the next token is a key word or a sign, and tells whether it was.
func (p *parser) take(text string) (bool, *Error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

// need goes on behind a key word or a sign that must be there.
func (p *parser) need(text string) *Error {
	if !p.is(text) {
		return p.expected(text)
	}
	return p.advance()
}

func (p *parser) expected(what string) *Error {
	return p.fail(p.tok.offset, "expected "+what)
}

// term counts a condition or a value of a list.
func (p *parser) term() *Error {
	if p.terms++; p.terms > TermsMax {
		return p.fail(p.tok.offset, limitReason("conditions and values", p.terms, TermsMax))
	}
	return nil
}
