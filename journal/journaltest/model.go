package journaltest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// ModelOptions of a Model. Zero fields mean the defaults.
type ModelOptions struct {
	Sequences int    // how many programs; default 150, or what REPRISE_MODEL_SEQUENCES says
	Seed      uint64 // of the first program, default 1; the next has the next seed
	Steps     int    // of a program, default 60
}

// Environment variables of a Model.
const (
	modelSequencesEnv = "REPRISE_MODEL_SEQUENCES" // more programs, or fewer
	modelSeedEnv      = "REPRISE_MODEL_SEED"      // only the program with this seed
)

func (o *ModelOptions) withDefaults(t *testing.T) ModelOptions {
	var c ModelOptions
	if o != nil {
		c = *o
	}
	c.Steps = orElse(c.Steps, 60)
	c.Seed = orElse(c.Seed, 1)
	c.Sequences = orElse(c.Sequences, orElse(envNumber(t, modelSequencesEnv), 150))
	if seed := envNumber(t, modelSeedEnv); seed > 0 {
		c.Seed, c.Sequences = uint64(seed), 1
	}
	return c
}

func orElse[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

func envNumber(t *testing.T, name string) int {
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// modelStorePrograms is how many programs share a store: enough that each lives among the rows of many others, and
// few enough that listings, which look at those rows, stay quick.
const modelStorePrograms = 200

// Model runs random programs against the store under test and against a [Memory], and compares every outcome, and the
// whole state every few steps. A program that shows a difference is shrunk to a few steps and printed with its seed.
// Many programs share one store, each with runs, keys and workflows of its own. When there are more of them, open is called
// again, and the stores are at work in parallel.
//
// Times are compared by what they mean: whether a task is due, waits for a time or for a message only. A store that is
// also a [Rusher] and an [Expirer] goes through times that come and nodes that die.
func Model(t *testing.T, open func(t *testing.T) journal.Store, o *ModelOptions) {
	opts := o.withDefaults(t)
	for first := 0; first < opts.Sequences; first += modelStorePrograms {
		from := opts.Seed + uint64(first)
		to := from + uint64(min(modelStorePrograms, opts.Sequences-first)) - 1
		t.Run(fmt.Sprintf("Seeds_%d_to_%d", from, to), func(t *testing.T) {
			t.Parallel()
			store := open(t)
			for seed := from; seed <= to; seed++ {
				if f := findFault(t.Context(), store, seed, opts.Steps); f != nil {
					t.Fatal(f)
				}
			}
		})
	}
}

// modelFault is a difference that a program showed.
type modelFault struct {
	seed    uint64
	program program
	step    int // of the program, from 0
	text    string
}

// Error tells how to show it again.
func (f *modelFault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the store is not like the model (%s=%d); shrunk to %d steps:\n", modelSeedEnv, f.seed, len(f.program))
	for i, op := range f.program {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, op)
	}
	fmt.Fprintf(&b, "at step %d: %s", f.step+1, f.text)
	return b.String()
}

// findFault runs the program of a seed, and shrinks it if it shows a difference.
func findFault(ctx context.Context, store journal.Store, seed uint64, steps int) *modelFault {
	p := newProgram(seed, steps)
	f := p.run(ctx, store, stateEvery)
	if f == nil {
		return nil
	}
	f = shrink(ctx, store, f)
	f.seed = seed
	return f
}
