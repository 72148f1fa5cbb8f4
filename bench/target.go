package main

import (
	"fmt"
	"strings"
)

// target is what a figure of a result is held against.
type target struct {
	Figure string   `json:"figure"`
	Least  *float64 `json:"at_least,omitempty"`
	Most   *float64 `json:"at_most,omitempty"`
	Met    bool     `json:"met"`
}

func atLeast(figure string, v float64) target { return target{Figure: figure, Least: &v} }
func atMost(figure string, v float64) target  { return target{Figure: figure, Most: &v} }

// held returns the targets as the figures meet them. One whose figure is missing is not met.
func held(targets []target, f figures) []target {
	out := make([]target, len(targets))
	for i, t := range targets {
		v, ok := f[t.Figure]
		t.Met = ok && (t.Least == nil || v >= *t.Least) && (t.Most == nil || v <= *t.Most)
		out[i] = t
	}
	return out
}

func (t target) String() string {
	bound, verdict := "", "missed"
	if t.Least != nil {
		bound = "at least " + number(*t.Least)
	}
	if t.Most != nil {
		bound = "at most " + number(*t.Most)
	}
	if t.Met {
		verdict = "met"
	}
	return fmt.Sprintf("target: %s %s: %s", words(t.Figure), bound, verdict)
}

// text prints a line for each target.
func text(targets []target, t *strings.Builder) {
	for _, one := range targets {
		fmt.Fprintf(t, "  %s\n", one)
	}
}
