package sim

import (
	"slices"
	"testing"
)

// shrinkRunsMax bounds the work: a smaller plan is nicer, not needed.
const shrinkRunsMax = 500

// shrinker looks for a smaller plan that breaks the same property.
type shrinker struct {
	t      *testing.T
	mutate mutation
	best   *plan
	broken broken
	runs   int
}

// shrink returns the smallest broken plan that it finds, and how it breaks.
func shrink(t *testing.T, p *plan, b broken, m mutation) (*plan, broken) {
	s := &shrinker{t: t, mutate: m, best: p, broken: b}
	for size := p.size() + 1; s.best.size() < size; {
		size = s.best.size()
		s.pass()
	}
	return s.best, s.broken
}

// pass tries every kind of change once.
func (s *shrinker) pass() {
	each(func() int { return len(s.best.Runs) }, func(i int) bool {
		return s.try(func(p *plan) { p.Runs = slices.Delete(p.Runs, i, i+1) })
	})
	each(func() int { return len(s.best.Faults) }, func(i int) bool {
		return s.try(func(p *plan) { p.Faults = slices.Delete(p.Faults, i, i+1) })
	})
	each(func() int { return len(s.best.Jobs) }, func(i int) bool {
		return s.try(func(p *plan) { p.Jobs = slices.Delete(p.Jobs, i, i+1) })
	})
	s.tryIf(len(s.best.Bounds) > 0, func(p *plan) { p.Bounds = nil })
	if n := len(s.best.Nodes); n > 1 && !s.best.uses(n) {
		s.try(func(p *plan) { p.Nodes = p.Nodes[:n-1] })
	}
	for r := range s.best.Runs {
		each(func() int { return len(s.best.Runs[r].Sends) }, func(i int) bool {
			return s.try(func(p *plan) { p.Runs[r].Sends = slices.Delete(p.Runs[r].Sends, i, i+1) })
		})
		each(func() int { return count(s.best.Runs[r].Program) }, func(i int) bool {
			return s.try(func(p *plan) { p.Runs[r].Program = without(p.Runs[r].Program, &i) })
		})
	}
	s.plain()
}

// plain replaces what is special by what is not.
func (s *shrinker) plain() {
	s.tryIf(s.best.Clock != clockPlan{}, func(p *plan) { p.Clock = clockPlan{} })
	for i := range s.best.Nodes {
		s.tryIf(s.best.Nodes[i] != nodePlan{Lanes: 1}, func(p *plan) { p.Nodes[i] = nodePlan{Lanes: 1} })
	}
	for r := range s.best.Runs {
		for i := range s.best.Runs[r].Sends {
			s.tryIf(s.best.Runs[r].Sends[i].Twice, func(p *plan) { p.Runs[r].Sends[i].Twice = false })
		}
	}
}

func (s *shrinker) tryIf(worth bool, change func(*plan)) {
	if worth {
		s.try(change)
	}
}

// each tries every place of a list from its end. try tells whether the place is gone.
func each(n func() int, try func(i int) bool) {
	for i := n() - 1; i >= 0; i-- {
		try(i)
		i = min(i, n())
	}
}

// try takes a changed plan over if it breaks the same property.
func (s *shrinker) try(change func(*plan)) bool {
	if s.runs++; s.runs > shrinkRunsMax {
		return false
	}
	p := s.best.clone()
	change(p)
	w := simulate(s.t, p, s.mutate)
	i := slices.IndexFunc(w.broken, func(b broken) bool { return b.check == s.broken.check })
	if i < 0 {
		return false
	}
	s.best, s.broken = p, w.broken[i]
	return true
}

// uses tells whether anything in the plan names a node.
func (p *plan) uses(node int) bool {
	return slices.ContainsFunc(p.Faults, func(f fault) bool { return f.Node == node }) ||
		slices.ContainsFunc(p.Runs, func(r runPlan) bool { return r.Via == node })
}

// without returns a program without its n-th instruction, in the order in which they are written,
// whose body takes its place.
func without(body []instr, n *int) []instr {
	var list []instr
	for i := range body {
		in := body[i]
		if *n--; *n == -1 {
			list = append(list, in.Body...)
			continue
		}
		in.Body = without(in.Body, n)
		list = append(list, in)
	}
	return list
}
