package flow

import (
	"encoding/json"
	"fmt"
)

// Condition decides whether a node runs. The zero Condition is refused.
type Condition struct {
	holds   func(v *values) (bool, error)
	text    string // for pictures
	edges   []edge
	problem string
}

// When holds if fn returns true for the value. If that is not there, because its node was skipped,
// the condition does not hold.
func When[T any](of Source[T], fn func(T) bool) Condition {
	c := Condition{text: "a predicate", edges: edgesOf(of, fn == nil)}
	c.holds = func(v *values) (bool, error) {
		value, ok, err := valueOf(of, v)
		if err != nil || !ok {
			return false, err
		}
		return fn(value), nil
	}
	return c
}

// Contains holds if the JSON of the value contains a pattern, which is anything whose JSON is an
// object: a json.RawMessage, a map or a struct. An object contains those whose fields it has, each
// containing the pattern's; a list contains those whose elements are each contained in one of its
// own, in any order; anything else contains what equals it. If the value is not there, the
// condition does not hold: so Not(Contains(n, struct{}{})) holds if a node whose result is an
// object was skipped.
func Contains[T any](of Source[T], pattern any) Condition {
	c := Condition{edges: edgesOf(of, false)}
	text, err := plainJSON(pattern)
	var want any
	if err == nil {
		want, err = parse(text)
	}
	if err != nil {
		c.problem = fmt.Sprintf("a pattern is no JSON: %v", err)
	} else if _, ok := want.(map[string]any); !ok {
		c.problem = fmt.Sprintf("a pattern is %s, as in %s: it must be an object", jsonKind(text), cut(text, 60))
	}
	c.text = "contains " + cut(text, 60)
	c.holds = func(v *values) (bool, error) {
		value, ok, err := valueOf(of, v)
		if err != nil || !ok {
			return false, err
		}
		data, err := json.Marshal(value)
		if err != nil {
			return false, mistyped(producer(c.edges), "JSON", nil, err)
		}
		have, err := parse(data)
		return contains(have, want), err
	}
	return c
}

// Skipped holds if a node was skipped.
func Skipped(n Any) Condition {
	of := untypedOf(n)
	c := Condition{edges: []edge{{node: of}}}
	if of != nil {
		c.text = of.name + " was skipped"
	}
	c.holds = func(v *values) (bool, error) {
		_, completed := v.result(of)
		return !completed, nil
	}
	return c
}

// Not holds if another condition does not.
func Not(of Condition) Condition {
	c := of
	c.text = "not: " + of.text
	if of.holds != nil {
		c.holds = func(v *values) (bool, error) {
			holds, err := of.holds(v)
			return !holds && err == nil, err
		}
	}
	return c
}

// Named gives the condition words for pictures, such as "the order is large". It returns the
// condition.
func (c Condition) Named(words string) Condition {
	c.text = words
	return c
}

// met tells whether all conditions of a node hold.
func (n *node) met(v *values) (bool, error) {
	for _, c := range n.o.If {
		if holds, err := c.holds(v); err != nil || !holds {
			return false, err
		}
	}
	return true, nil
}
