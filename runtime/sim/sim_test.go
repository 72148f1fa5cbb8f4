//go:debug randseednop=0
package sim

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var (
	seeds    = flag.Int("seeds", seedsDefault, "how many seeds")
	from     = flag.Uint64("from", 1, "the first seed")
	one      = flag.Uint64("seed", 0, "only this seed, with its plan")
	planFile = flag.String("plan", "", "only the plan in this file")
	verbose  = flag.Bool("log", false, "with -seed and -plan: what the nodes log")
)

// failuresMax is how many broken seeds are told of: a bug breaks many.
const failuresMax = 3

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSeeds carries out the plans of many seeds.
func TestSeeds(t *testing.T) {
	began, counts, failures := time.Now(), tally{}, 0
	for _, p := range chosen(t) {
		w := simulate(t, p(), nil)
		counts.add(w)
		if single() {
			t.Logf("%s\nas -plan reads it:\n%s\n%s", w.plan, planText(t, w.plan), w.log.String())
		}
		if len(w.broken) == 0 {
			continue
		}
		report(t, w)
		if failures++; failures == failuresMax {
			t.Fatalf("stopped after %d broken seeds", failures)
		}
	}
	t.Logf("%s of\n%s", time.Since(began).Round(time.Millisecond), counts)
}

// TestKeptPlans carries out plans that have found a fault, and whose seeds are beyond those of every
// run. A file's name says what went wrong.
func TestKeptPlans(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d plans: %v", len(files), err)
	}
	for _, f := range files {
		if w := simulate(t, readPlan(t, f), nil); len(w.broken) > 0 {
			t.Logf("plan %s", f)
			report(t, w)
		}
	}
}

func single() bool { return *one != 0 || *planFile != "" }

// chosen returns the plans that the flags ask for.
func chosen(t *testing.T) (list []func() *plan) {
	switch {
	case *planFile != "":
		return append(list, func() *plan { return readPlan(t, *planFile) })
	case *one != 0:
		return append(list, func() *plan { return generate(*one) })
	}
	for i := range uint64(*seeds) {
		list = append(list, func() *plan { return generate(*from + i) })
	}
	return list
}

// readPlan reads what planText has written.
func readPlan(t *testing.T, file string) *plan {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := new(plan)
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// report tells what is broken, and how little is needed for it.
func report(t *testing.T, w *world) {
	for _, b := range w.broken {
		t.Errorf("seed %d: %s", w.plan.Seed, b)
	}
	p, b := shrink(t, w.plan, w.broken[0], nil)
	t.Logf("smaller, and still broken:\n%s=> %s\nto repeat it: go test ./runtime/sim -run TestSeeds -seed %d, or -plan with a file of this:\n%s",
		p, b, w.plan.Seed, planText(t, p))
}

// planText is a plan as -plan reads it.
func planText(t *testing.T, p *plan) string {
	text, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
