package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"time"
)

// options are the flags.
type options struct {
	seed    uint64
	n       int
	workers int
	part    int // of parts: this process tries every parts-th mutant
	parts   int
	out     string
	limit   time.Duration
	list    bool
	folders []string
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "draws the sample: the same seed draws the same mutants of the same code")
	flag.IntVar(&o.n, "n", 200, "how many mutants that compile are tried")
	flag.IntVar(&o.workers, "workers", 1, "how many mutants are tried at once, each in a copy of the tree")
	flag.IntVar(&o.part, "part", 0, "which part of the sample this process tries, from 0 on")
	flag.IntVar(&o.parts, "parts", 1, "how many parts the sample has")
	flag.StringVar(&o.out, "out", "", "the file that keeps the answers (default: one for the seed in the temporary folder)")
	flag.DurationVar(&o.limit, "limit", 0, "how long each run of tests may take; 0 runs them without a mutant first, to see that they pass and how long that takes")
	flag.BoolVar(&o.list, "list", false, "print the sample and try nothing")
	flag.Parse()
	o.folders = flag.Args()
	if o.out == "" {
		o.out = filepath.Join(os.TempDir(), fmt.Sprintf("reprise-mutate-%d.jsonl", o.seed))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run draws the sample of the module in the working folder, tries it and prints the survivors.
func run(ctx context.Context, o options) error {
	if o.n < 1 || o.workers < 1 || o.parts < 1 || o.part < 0 || o.part >= o.parts {
		return fmt.Errorf("-n %d -workers %d -part %d -parts %d: sizes begin at 1, and a part is less than the number of parts", o.n, o.workers, o.part, o.parts)
	}
	all, err := guardedFolders(".", o.folders)
	if err != nil {
		return err
	}
	order, err := candidates(".", all, o.seed)
	if err != nil {
		return err
	}
	var mine []candidate
	for i := o.part; i < len(order); i += o.parts {
		mine = append(mine, order[i])
	}
	n := o.n/o.parts + min(1, max(0, o.n%o.parts-o.part))
	if o.list {
		for _, c := range mine[:min(n, len(mine))] {
			fmt.Println(c.name())
		}
		return nil
	}
	s, err := newSample(mine, n, o.out)
	if err != nil {
		return err
	}
	fmt.Printf("seed %d: %d of %d mutants, answers in %s\n", o.seed, n, len(order), o.out)
	if err := s.tryAll(ctx, all, o); err != nil {
		return err
	}
	s.report()
	return ctx.Err()
}

// candidates returns the mutants of all folders in the order of the seed.
func candidates(root string, all []guarded, seed uint64) ([]candidate, error) {
	var mutants []mutant
	tiers := map[string][]tier{}
	for _, g := range all {
		found, err := mutantsOf(root, g.folder)
		if err != nil {
			return nil, err
		}
		mutants = append(mutants, found...)
		tiers[g.folder] = g.tiers
	}
	var order []candidate
	for _, m := range shuffled(mutants, seed) {
		order = append(order, candidate{m, tiers[path.Dir(m.file)]})
	}
	return order, nil
}
