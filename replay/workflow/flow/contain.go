package flow

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"strings"
)

// parse reads JSON with numbers as they are written: a float would make unequal integers equal.
func parse(data []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && d.More() {
		err = errors.New("there is more behind the first value")
	}
	return v, err
}

// plainJSON is JSON for people, who are shown < and > as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// contains tells whether a JSON value contains another, see Contains.
func contains(have, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		have, ok := have.(map[string]any)
		if !ok {
			return false
		}
		for key, w := range want { // the answer does not depend on the order
			if h, ok := have[key]; !ok || !contains(h, w) {
				return false
			}
		}
		return true
	case []any:
		have, ok := have.([]any)
		return ok && !slices.ContainsFunc(want, func(w any) bool {
			return !slices.ContainsFunc(have, func(h any) bool { return contains(h, w) })
		})
	case json.Number:
		have, ok := have.(json.Number)
		return ok && sameNumber(have.String(), want.String())
	}
	switch have.(type) {
	case map[string]any, []any: // not comparable
		return false
	}
	return have == want
}

// sameNumber compares numbers by value: 1, 1.0 and 10e-1 are one, and numbers that one float stands
// for are not.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, y := decimalOf(a), decimalOf(b)
	return x.negative == y.negative && x.digits == y.digits && x.exponent.Cmp(y.exponent) == 0
}

// decimal is a number in its only form: digits, without zeros at either end, times a power of ten.
// It takes as much memory as the number's text, however large the number is.
type decimal struct {
	negative bool
	digits   string // empty for zero, which has no sign and the exponent 0
	exponent *big.Int
}

// decimalOf reads a number of JSON.
func decimalOf(text string) decimal {
	d := decimal{exponent: new(big.Int)}
	text, d.negative = strings.CutPrefix(text, "-")
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		d.exponent.SetString(text[at+1:], 10)
		text = text[:at]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	d.digits = strings.TrimRight(whole+fraction, "0")
	d.exponent.Add(d.exponent, big.NewInt(int64(len(whole)-len(d.digits))))
	if d.digits = strings.TrimLeft(d.digits, "0"); d.digits == "" {
		return decimal{exponent: new(big.Int)}
	}
	return d
}

// jsonKind is what a JSON value is, for people.
func jsonKind(data []byte) string {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return "nothing"
	case data[0] == '{':
		return "an object"
	case data[0] == '[':
		return "a list"
	case data[0] == '"':
		return "a string"
	case data[0] == 't', data[0] == 'f':
		return "a truth value"
	case data[0] == 'n':
		return "null"
	}
	return "a number"
}

// cut shortens text for people.
func cut(text []byte, most int) string {
	if len(text) <= most {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:most]), "") + "…"
}
