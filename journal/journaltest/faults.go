package journaltest

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal"
)

// Faults checks J4 at every position: one scenario is repeated with a fault at its first call, its second, and so on, in
// each of three manners, until it ends before the fault. Its driver repeats what fails, as callers do; in the end
// the store must hold what it holds without any fault, and so must the answers.
func Faults(t *testing.T, open func(t *testing.T) journal.Store) {
	store := open(t)
	want, _, err := scenario(t.Context(), store, nil)
	if err != nil {
		t.Fatalf("without faults: %v", err)
	}
	for _, fault := range []Fault{FaultBefore, FaultAfter, FaultUnknown} {
		t.Run("J4_"+fault.String(), func(t *testing.T) {
			if err := everyFault(t.Context(), store, fault, want); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// everyFault repeats the scenario with a fault at every call, and returns the first difference it makes.
func everyFault(ctx context.Context, store journal.Store, fault Fault, want scenarioEnd) error {
	for n := 1; ; n++ {
		var hit Call
		nth := OnNth(n, fault)
		got, faults, err := scenario(ctx, store, func(c Call) Fault {
			f := nth(c)
			if f != FaultNone {
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
