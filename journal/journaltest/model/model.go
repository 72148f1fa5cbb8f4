package model

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Options of [Run]. Zero fields mean the defaults.
type Options struct {
	Sequences int    // how many programs; default 150, or what REPRISE_MODEL_SEQUENCES says
	Seed      uint64 // of the first program, default 1; the next has the next seed
	Steps     int    // of a program, default 60
}

// Environment variables of [Run].
const (
	sequencesEnv = "REPRISE_MODEL_SEQUENCES" // more programs, or fewer
	seedEnv      = "REPRISE_MODEL_SEED"      // only the program with this seed
)

// rusher and expirer are what a store under test may be able to do to itself: make a waiting task
// due at once, and let a node's lease run out, by ageing a row.
type (
	rusher interface {
		Rush(ctx context.Context, run journal.RunID) error
	}
	expirer interface {
		Expire(ctx context.Context, node journal.NodeID) error
	}
)

func (o *Options) withDefaults(t *testing.T) Options {
	var c Options
	if o != nil {
		c = *o
	}
	c.Steps = orElse(c.Steps, 60)
	c.Seed = orElse(c.Seed, 1)
	c.Sequences = orElse(c.Sequences, orElse(envNumber(t, sequencesEnv), 150))
	if seed := envNumber(t, seedEnv); seed > 0 {
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

// storePrograms is how many programs share a store: enough that each lives among the rows of many
// others, and few enough that listings, which look at those rows, stay quick.
const storePrograms = 200

// Run runs random programs against the store under test and against a [memory.Store], and compares
// every outcome, and the whole state every few steps. A program that shows a difference is shrunk
// to a few steps and printed with its seed. Many programs share one store, each with runs, keys and
// workflows of its own. When there are more of them, open is called again, and the stores are at
// work in parallel.
//
// Times are compared by what they mean: whether a task is due, waits for a time or for a message
// only. A store that is also has the methods Rush and Expire (see journaltest) goes through times
// that come and nodes that die.
func Run(t *testing.T, open func(t *testing.T) driver.Store, o *Options) {
	opts := o.withDefaults(t)
	for first := 0; first < opts.Sequences; first += storePrograms {
		from := opts.Seed + uint64(first)
		to := from + uint64(min(storePrograms, opts.Sequences-first)) - 1
		t.Run(fmt.Sprintf("Seeds_%d_to_%d", from, to), func(t *testing.T) {
			t.Parallel()
			store := open(t)
			for seed := from; seed <= to; seed++ {
				if f := Find(t.Context(), store, seed, opts.Steps); f != nil {
					t.Fatal(f)
				}
			}
		})
	}
}

// Difference is what a program showed: the store under test does not do what the reference does.
type Difference struct {
	seed    uint64
	program program
	step    int // of the program, from 0
	text    string
}

// Steps returns how many steps the program has that shows it.
func (d *Difference) Steps() int { return len(d.program) }

// Error tells how to show it again.
func (d *Difference) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the store is not like the model (%s=%d); shrunk to %d steps:\n", seedEnv, d.seed, len(d.program))
	for i, op := range d.program {
		fmt.Fprintf(&b, "%4d  %s\n", i+1, op)
	}
	fmt.Fprintf(&b, "at step %d: %s", d.step+1, d.text)
	return b.String()
}

// Find runs the program of a seed, and shrinks it if it shows a difference.
func Find(ctx context.Context, store driver.Store, seed uint64, steps int) *Difference {
	p := newProgram(seed, steps)
	f := p.run(ctx, store, stateEvery)
	if f == nil {
		return nil
	}
	f = shrink(ctx, store, f)
	f.seed = seed
	return f
}
