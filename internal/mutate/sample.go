package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// candidate is a mutant with the tests that claim to notice it.
type candidate struct {
	mutant
	tiers []tier
}

// sample is the work of one process: candidates are handed out in their order until as many as
// wanted count. Those that do not compile do not, so how many are tried is not known before.
type sample struct {
	out     string // the file of answers
	known   map[string]answer
	allowed func(tier) time.Duration

	mu      sync.Mutex
	waiting []candidate
	open    int // how many may still be handed out, if all that are being tried will count
	answers []answer
	err     error
}

func newSample(order []candidate, n int, out string) (*sample, error) {
	known, err := readAnswers(out)
	return &sample{out: out, known: known, waiting: order, open: n}, err
}

// take hands out the next candidate without an answer. Those that have one are counted on the way.
func (s *sample) take() (candidate, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.open > 0 && s.err == nil && len(s.waiting) > 0 {
		c := s.waiting[0]
		s.waiting = s.waiting[1:]
		a, ok := s.known[c.name()]
		if !ok {
			s.open--
			return c, true
		}
		s.answers = append(s.answers, a)
		if a.Verdict != invalid {
			s.open--
		}
	}
	return candidate{}, false
}

// put keeps and prints the answer to a candidate that was handed out.
func (s *sample) put(a answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		err = a.keep(s.out)
	}
	if err != nil {
		s.err = err
		return
	}
	if a.Verdict == invalid {
		s.open++
	}
	s.answers = append(s.answers, a)
	fmt.Printf("%4d  %s\n", len(s.answers), a)
}

// work tries candidates in a copy of the tree until there are enough answers or ctx ends. A trial
// that was interrupted has no answer.
func (s *sample) work(ctx context.Context, t *tree) {
	for ctx.Err() == nil {
		c, ok := s.take()
		if !ok {
			return
		}
		var a answer
		err := t.with(&c.mutant, func() { a = t.try(ctx, &c.mutant, c.tiers, s.allowed) })
		if ctx.Err() == nil {
			s.put(a, err)
		}
	}
}

// tryAll lets as many workers as wanted try the sample, each in a copy of the tree.
func (s *sample) tryAll(ctx context.Context, all []guarded, o options) error {
	var trees []*tree
	defer func() {
		for _, t := range trees {
			t.remove()
		}
	}()
	for range o.workers {
		t, err := copyTree(".")
		if err != nil {
			return err
		}
		trees = append(trees, t)
	}
	s.allowed = func(tier) time.Duration { return o.limit }
	if o.limit == 0 {
		known, err := trees[0].baseline(ctx, all)
		if err != nil {
			return err
		}
		s.allowed = func(t tier) time.Duration { return known[t.String()] }
	}
	var working sync.WaitGroup
	for _, t := range trees {
		working.Go(func() { s.work(ctx, t) })
	}
	working.Wait()
	return s.err
}

// report prints the survivors, each with the tests that did not notice it, and the numbers.
func (s *sample) report() {
	fmt.Println()
	for _, a := range s.answers {
		if a.Verdict == survived {
			fmt.Printf("survived  %s\n          %s\n", a.Mutant, strings.Join(a.Tests, "; "))
		}
	}
	fmt.Println(summary(s.answers))
}
