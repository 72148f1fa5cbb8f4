package main

import (
	"bytes"
	"testing"
	"time"
)

// TestScenarios plays some of the scenarios in a small form. The tests run beside others, so nothing
// is measured here: a step may be at two places for a moment, and a node that gets no processor may
// be declared dead. The program is stricter.
func TestScenarios(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		set  func(*options)
	}{
		{"async", func(o *options) { o.lag = time.Second }},
		{"sync", nil},
		{"standby-away", func(o *options) { o.away, o.lease = 5*time.Second, 3*time.Second }},
		{"restore", func(o *options) { o.lag = time.Second }},
		{"half-open", func(o *options) { o.lease, o.away, o.takes = 2*time.Second, 5*time.Second, 8*time.Second }},
		{"slow-login", func(o *options) { o.away, o.takes = 5*time.Second, 7*time.Second }},
		{"kill", func(o *options) { o.times, o.takes = 2, time.Second }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc, err := scenarioOf(c.name)
			if err != nil {
				t.Fatal(err)
			}
			sc.expect.atOnce, sc.expect.rejoins, sc.expect.prompt = true, c.name != "slow-login", false
			sc.expect.beyond = sc.expect.beyond || c.name == "half-open"
			o := sc.courses(options{}, nil)[0]
			o.runs, o.gap = 20, 300*time.Millisecond
			if c.set != nil {
				c.set(&o)
			}
			var line, notes bytes.Buffer
			if err := perform(t.Context(), sc, o, &line, &notes); err != nil {
				t.Errorf("%v\n%s", err, notes.String())
			}
			t.Log(line.String())
		})
	}
}
