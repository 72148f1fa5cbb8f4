package journaltest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
)

// Faults checks J4 at every position: one scenario is repeated with a fault at its first call, its
// second, and so on, in each of three manners, until it ends before the fault. Its driver repeats
// what fails, as callers do; in the end the store must hold what it holds without any fault, and so
// must the answers.
func Faults(t *testing.T, open func(t *testing.T) driver.Store) {
	store := open(t)
	for _, fault := range []faulty.Fault{faulty.Before, faulty.After, faulty.Unknown} {
		t.Run("J4_"+fault.String(), func(t *testing.T) {
			if err := FindFault(t.Context(), store, fault); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// FindFault is one manner of [Faults]. It returns the first difference that a fault makes.
func FindFault(ctx context.Context, store driver.Store, fault faulty.Fault) error {
	want, _, err := scenario(ctx, store, nil)
	if err != nil {
		return fmt.Errorf("without faults: %w", err)
	}
	return everyFault(ctx, store, fault, want)
}

// everyFault repeats the scenario with a fault at every call, and returns the first difference it
// makes.
func everyFault(ctx context.Context, store driver.Store, fault faulty.Fault, want scenarioEnd) error {
	for n := 1; ; n++ {
		var hit faulty.Call
		nth := faulty.OnNth(n, fault)
		got, faults, err := scenario(ctx, store, func(c faulty.Call) faulty.Fault {
			f := nth(c)
			if f != faulty.None {
				hit = c
			}
			return f
		})
		if faults == 0 {
			return err
		}
		where := fmt.Sprintf("with a fault (%s) at call %d, %s number %d", fault, hit.Total, hit.Verb, hit.Nth)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			return fmt.Errorf("%s (-without +with):\n%s", where, diff)
		}
	}
}
