package api

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// checkQuery refuses parameters that the operation does not have, and such as are given twice.
func (op *operation) checkQuery(raw string) (url.Values, error) {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return nil, refuse(invalidRequest, "the query of the address: %v", err)
	}
	for name, values := range q {
		p := op.find(name)
		switch {
		case p == nil:
			return nil, refuse(invalidRequest, "parameter %q is unknown: %s", name, op.known())
		case len(values) > 1 && p.kind != "list":
			return nil, refuse(invalidRequest, "parameter %q is given %d times", name, len(values))
		case p.kind == "flag" && !slices.Contains([]string{"", "true", "false"}, values[0]):
			return nil, refuse(invalidRequest, "parameter %q is neither true nor false: %q", name, values[0])
		}
	}
	return q, nil
}

// params are the parameters of a request.
type params struct {
	query url.Values
	wrong error // the first error of those that were read
}

func (p *params) text(name string) string { return p.query.Get(name) }

// flag is a parameter that is true if it is there, unless it says false.
func (p *params) flag(name string) bool { return p.query.Has(name) && p.query.Get(name) != "false" }

// number reads a parameter between two bounds. The first that is wrong is the call's error, see
// params.wrong.
func (p *params) number(name string, otherwise, from, to int64) int64 {
	text := p.query.Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < from || n > to {
		p.note(refuse(invalidRequest, "parameter %q is no number from %d to %d: %q", name, from, to, text))
	}
	return n
}

// word reads a parameter that is one of some words, and returns its place among them, -1 if it is
// not given.
func (p *params) word(name string, words []string) int {
	text := p.query.Get(name)
	if text == "" {
		return -1
	}
	i := slices.Index(words, text)
	if i < 0 {
		p.note(refuse(invalidRequest, "parameter %q is none of %s: %q", name, strings.Join(words, ", "), text))
	}
	return i
}

// pairs reads a parameter of name=value, which may be repeated.
func (p *params) pairs(name string) map[string]string {
	var all map[string]string
	for _, pair := range p.query[name] {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			p.note(refuse(invalidRequest, "parameter %q must be name=value: %q", name, pair))
		}
		if all == nil {
			all = map[string]string{}
		}
		all[key] = value
	}
	return all
}

// note keeps the first error of the parameters.
func (p *params) note(err error) {
	if p.wrong == nil {
		p.wrong = err
	}
}

// limit is how many members a page has.
func (p *params) limit() int {
	return int(p.number("limit", pageDefault, 1, journal.ListMax))
}
