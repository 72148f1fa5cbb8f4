package model

import (
	"context"
	"slices"

	"github.com/reprise-run/reprise/journal/driver"
)

// shrinkRunsMax bounds the work: a smaller program is nicer, not needed.
const shrinkRunsMax = 400

// shrinker looks for a smaller program that still shows a difference.
type shrinker struct {
	ctx   context.Context
	store driver.Store
	best  *Difference
	runs  int
}

// shrink returns the smallest faulty program that it finds by leaving out steps, and members of
// steps.
func shrink(ctx context.Context, store driver.Store, f *Difference) *Difference {
	s := &shrinker{ctx: ctx, store: store, best: f}
	s.try(slices.Clone(f.program[:f.step+1])) // the state was compared late: find the step that matters
	for size := len(s.best.program) / 2; size > 0; size /= 2 {
		for s.withoutSteps(size) && size == 1 {
		}
	}
	s.withoutMembers()
	for s.withoutSteps(1) {
	}
	return s.best
}

// try takes a program over if it is faulty, up to its faulty step.
func (s *shrinker) try(p program) bool {
	if s.runs++; s.runs > shrinkRunsMax {
		return false
	}
	f := p.run(s.ctx, s.store, 1)
	if f == nil {
		return false
	}
	f.program = f.program[:f.step+1]
	s.best = f
	return true
}

// withoutSteps leaves out pieces of some steps, from the end, and tells whether it could.
func (s *shrinker) withoutSteps(size int) (smaller bool) {
	for to := len(s.best.program); to > 0; to -= size {
		to = min(to, len(s.best.program))
		p := slices.Delete(slices.Clone(s.best.program), max(0, to-size), to)
		smaller = s.try(p) || smaller
	}
	return smaller
}

// withoutMembers leaves out members of batches, and their flags.
func (s *shrinker) withoutMembers() {
	for i := len(s.best.program) - 1; i >= 0; i-- {
		for k := 0; i < len(s.best.program) && k < len(s.best.program[i].members); {
			if len(s.best.program[i].members) == 1 || !s.try(s.with(i, func(st *step) { st.members = slices.Delete(st.members, k, k+1) })) {
				k++
			}
		}
		for k := 0; i < len(s.best.program) && k < len(s.best.program[i].members); k++ {
			for bit := range commitFlags {
				if s.best.program[i].members[k].has(1 << bit) {
					s.try(s.with(i, func(st *step) { st.members[k].flags &^= 1 << bit }))
				}
			}
		}
	}
}

// with returns a copy of the best program with one step changed.
func (s *shrinker) with(i int, change func(*step)) program {
	p := slices.Clone(s.best.program)
	p[i].members = slices.Clone(p[i].members)
	change(&p[i])
	return p
}
