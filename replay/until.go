package replay

// Until parks the running strand until test returns true. It returns false if late resolves before
// (late may be nil), and sc's error if that is cancelled before; what is true at that moment wins.
// test is called in read-only mode. Of several strands whose tests hold the one that has waited
// longest goes on, alone: its test is still true then.
func (sc *Scope) Until(test func() bool, late *Command) (bool, error) {
	e := sc.env
	s, err := e.current()
	if err != nil {
		return false, err
	}
	e.spend()
	p := &predicate{strand: s, test: test, cond: Cond{What: "condition"}}
	if e.test(p) {
		return true, nil
	}
	e.predicates.waiting.PushBack(&p.node, p)
	for err == nil && !p.met && (late == nil || late.outcome == Unresolved) {
		if err = sc.err; err != nil {
			break
		}
		s.waiters = append(s.waiters[:0], waiter{strand: s, cond: &p.cond})
		if late != nil {
			s.waiters = append(s.waiters, waiter{strand: s, cond: &late.cond})
		}
		if err = e.park(s, sc); err != nil {
			break
		}
		if e.predicates.lent {
			e.testAll(s)
		} else if !p.met {
			p.met = e.test(p)
		}
	}
	e.predicates.waiting.Remove(&p.node)
	if p.met || late == nil || late.outcome != Cancelled {
		return p.met, err
	}
	return false, late.err
}

// testAll tests the predicates in order until one holds, and lets its strand go on. running is the
// strand that was lent for it.
func (d *sched) testAll(running *strand) {
	d.predicates.lent = false
	d.reading(func() { d.testEach(running) })
}

func (d *sched) testEach(running *strand) {
	for p := d.predicates.waiting.First(); p != nil; p = p.node.Next() {
		if p.strand == running {
			p.met = d.test(p)
		} else {
			p.met = d.testContained(p)
		}
		if d.err != nil {
			d.Abort(d.err)
		}
		if p.met {
			if p.strand != running {
				d.strands.wake(p.strand)
			}
			return
		}
	}
	d.predicates.settled = true
}

// test tells whether a predicate holds, and notes whether that can change without a strand's doing.
func (d *sched) test(p *predicate) (holds bool) {
	d.readsExternal = false
	holds = d.Test(p.test)
	p.cond.Internal = !d.readsExternal
	return holds
}

// Test evaluates a condition of workflow code in read-only mode. One that asked for something, and
// did not see the refusal, stops the machine; the call does not return then.
func (d *sched) Test(test func() bool) (holds bool) {
	if refused := d.ReadOnly(func() { holds = test() }); refused != nil {
		d.Abort(refused)
	}
	return holds
}

// testContained is test for another strand's predicate: its panic must not run the deferred calls
// of the strand that tests, which has nothing to do with it.
func (d *sched) testContained(p *predicate) (holds bool) {
	defer func() {
		if v := recover(); v != nil {
			if d.err != nil {
				panic(v) // the machine is dead, this strand is being unwound
			}
			d.fail(panicked("", v))
		}
	}()
	return d.test(p)
}
