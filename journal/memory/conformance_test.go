package memory_test

import (
	"errors"
	"maps"
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/journaltest/model"
	"github.com/reprise-run/reprise/journal/memory"
)

func TestStore(t *testing.T) {
	journaltest.All(t, func(t *testing.T) driver.Store { return memory.New(nil) })
}

var (
	_ journaltest.Rusher  = (*memory.Store)(nil)
	_ journaltest.Expirer = (*memory.Store)(nil)
)

// TestModelFindsPlantedBugs: each bug is found, and shown by a short program.
func TestModelFindsPlantedBugs(t *testing.T) {
	t.Parallel()
	const seeds, short = 150, 12
	bugs := maps.Clone(memory.PlantedBugs)
	maps.Copy(bugs, memory.PlantedEffects)
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bug.Store = memory.New(nil)
			for seed := uint64(1); seed <= seeds; seed++ {
				d := model.Find(t.Context(), &bug, seed, 60)
				if d == nil {
					continue
				}
				t.Log(d)
				if d.Steps() > short {
					t.Errorf("the program has %d steps, want at most %d", d.Steps(), short)
				}
				return
			}
			t.Errorf("not found by %d programs", seeds)
		})
	}
}

// TestFaultsFindsPlantedBugs: a store that breaks J4 anywhere is found by some position and manner.
func TestFaultsFindsPlantedBugs(t *testing.T) {
	t.Parallel()
	bugs := maps.Clone(memory.PlantedRepeats)
	for _, name := range []string{"J4 a repeated commit is not recognised", "J4 a lost claim is not told again"} {
		bugs[name] = memory.PlantedBugs[name]
	}
	for name, bug := range bugs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bug.Store = memory.New(nil)
			if err := journaltest.FindFault(t.Context(), &bug, faulty.None); err != nil {
				t.Fatal(err)
			}
			var err error
			for _, fault := range []faulty.Fault{faulty.Before, faulty.After, faulty.Unknown} {
				err = errors.Join(err, journaltest.FindFault(t.Context(), &bug, fault))
			}
			t.Log(err)
			if err == nil {
				t.Error("not found")
			}
		})
	}
}
