package main

import (
	"context"
	"errors"
	"fmt"
)

// scenario is one way to load the engine.
type scenario struct {
	name     string
	about    string
	defaults options // for flags that were not given
	by       measure
	run      func(ctx context.Context, b *bench) error
}

// measure says which flag ends a scenario.
type measure int

const (
	byEither measure = iota // -runs or -seconds
	byRuns
	bySeconds
)

// check refuses a flag that the scenario would ignore.
func (s *scenario) check(o options) error {
	switch {
	case s.by == byRuns && o.seconds > 0 && o.runs == 0:
		return fmt.Errorf("%s goes by -runs, not by -seconds", s.name)
	case s.by == bySeconds && o.runs > 0:
		return fmt.Errorf("%s goes by -seconds, not by -runs", s.name)
	}
	return nil
}

func checkAll(picked []scenario, o options) error {
	var errs error
	for i := range picked {
		errs = errors.Join(errs, picked[i].check(o))
	}
	return errs
}
