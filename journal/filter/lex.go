package filter

import (
	"strings"
	"unicode/utf8"
)

// tokenKind tells what a token is. Key words are words; the parser knows where they mean something.
type tokenKind int

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a key word, or the name of a field or label
	tokenText             // in quotes
	tokenNumber           // whatever begins with a digit or a sign: a number, a duration, a time, an id
	tokenSign             // an operator, a parenthesis or a comma
)

// token is a piece of a filter. Text is what it says: without quotes, and with escapes put in.
type token struct {
	kind   tokenKind
	text   string
	offset int
}

// lexer cuts a text into tokens. It looks at bytes: what is not ASCII stands in quotes only.
type lexer struct {
	text string
	at   int
}

func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func inWord(c byte) bool   { return isLetter(c) || isDigit(c) || c == '.' || c == '-' }
func inNumber(c byte) bool { return inWord(c) || c == ':' || c == '+' }

func (l *lexer) fail(offset int, reason string) *Error {
	return &Error{Text: l.text, Offset: offset, Reason: reason}
}

// next returns the next token.
func (l *lexer) next() (token, *Error) {
	for l.at < len(l.text) && isSpace(l.text[l.at]) {
		l.at++
	}
	start := l.at
	if start == len(l.text) {
		return token{kind: tokenEnd, offset: start}, nil
	}
	switch c := l.text[start]; {
	case isLetter(c):
		return l.while(tokenWord, inWord), nil
	case isDigit(c), c == '-', c == '+':
		return l.while(tokenNumber, inNumber), nil
	case c == '"' || c == '\'':
		return l.quoted(c)
	}
	for _, sign := range []string{"!=", "<=", ">=", "=", "<", ">", "(", ")", ","} {
		if strings.HasPrefix(l.text[start:], sign) {
			l.at += len(sign)
			return token{tokenSign, sign, start}, nil
		}
	}
	return token{}, l.fail(start, "no part of a filter begins like this; texts stand in quotes, and operators are = != < <= > >=")
}

// while takes bytes as long as they belong to the token.
func (l *lexer) while(kind tokenKind, belongs func(c byte) bool) token {
	start := l.at
	for l.at < len(l.text) && belongs(l.text[l.at]) {
		l.at++
	}
	return token{kind, l.text[start:l.at], start}
}

// escapes are the letters behind a backslash, with what they stand for.
var escapes = map[byte]byte{'n': '\n', 't': '\t', '\\': '\\', '"': '"', '\'': '\''}

// quoted reads a text in quotes. A backslash takes the next letter for what escapes has for it.
func (l *lexer) quoted(quote byte) (token, *Error) {
	start := l.at
	var b strings.Builder
	for l.at++; l.at < len(l.text); l.at++ {
		c := l.text[l.at]
		switch {
		case c == quote:
			l.at++
			return token{tokenText, b.String(), start}, nil
		case c == '\\':
			l.at++
			if l.at == len(l.text) {
				return token{}, l.fail(start, "the text has no closing quote")
			}
			plain, ok := escapes[l.text[l.at]]
			if !ok {
				return token{}, l.fail(l.at-1, `a backslash stands before n, t, a quote or another backslash; write \\ for a backslash`)
			}
			b.WriteByte(plain)
		default:
			b.WriteByte(c)
		}
	}
	return token{}, l.fail(start, "the text has no closing quote")
}

// checkText refuses what no store can compare with, before anything is read of it.
func checkText(text string) *Error {
	if len(text) > TextBytesMax {
		return &Error{Text: text, Offset: TextBytesMax, Reason: limitReason("bytes", len(text), TextBytesMax)}
	}
	for i, r := range text {
		if r == 0 {
			return &Error{Text: text, Offset: i, Reason: "a filter holds no zero byte"}
		}
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD") {
			return &Error{Text: text, Offset: i, Reason: "a filter is UTF-8 text"}
		}
	}
	return nil
}

// reserved are the key words. A label with such a name is written with "label." before it.
var reserved = []string{"and", "or", "not", "in", "is", "set", "between", "starts", "with", "like", "order", "by", "asc", "desc", "now", "true", "false"}
