package replay

import "github.com/reprise-run/reprise/internal/list"

// condition is what a strand waits for in terms of the workflow's own variables. Nobody tells when it comes true, so
// it is tested each time all strands are blocked.
type condition struct {
	strand *strand
	test   func() bool
	met    bool
	gate   Gate // it names the condition; nobody opens it
	node   list.Node[condition]
}

// conditions holds those that strands wait for, in the order they began to.
type conditions struct {
	waiting list.List[condition]
	settled bool // none held after the current event
	lent    bool // the strand that is resumed is to test them
}

// unsettle is called for each event: it may have changed anything.
func (l *conditions) unsettle() {
	if l != nil {
		l.settled = false
	}
}

// checker returns the strand that is to test the conditions, now that all are blocked; nil if there is nothing to test. A
// strand does it, because conditions are user code: they may panic or end their goroutine.
func (l *conditions) checker() *strand {
	if l == nil || l.waiting.Empty() || l.settled {
		return nil
	}
	l.lent = true
	return l.waiting.First().strand
}

// Until parks the running strand until test returns true. It returns false if late fires before (late may be nil), and sc's
// error if that is cancelled before; what is true at that moment wins. test is called in read-only mode. Of several
// strands whose conditions hold the one that has waited longest goes on, alone: test is still true then.
func (sc *Scope) Until(test func() bool, late *Command) (bool, error) {
	m := sc.m
	s, err := m.enter()
	if err != nil {
		return false, err
	}
	m.spend()
	c := &condition{strand: s, test: test, gate: Gate{What: "condition"}}
	if m.test(c) {
		return true, nil
	}
	if m.conditions == nil {
		m.conditions = new(conditions)
	}
	m.conditions.waiting.PushBack(&c.node, c)
	for err == nil && !c.met && (late == nil || late.outcome == Unresolved) {
		if err = sc.err; err != nil {
			break
		}
		s.waiters = append(s.waiters[:0], waiter{strand: s, gate: &c.gate})
		if late != nil {
			s.waiters = append(s.waiters, waiter{strand: s, gate: &late.gate})
		}
		if err = m.park(s, sc); err != nil {
			break
		}
		if m.conditions.lent {
			m.check(s)
		} else if !c.met {
			c.met = m.test(c)
		}
	}
	m.conditions.waiting.Remove(&c.node)
	if c.met || late == nil || late.outcome != Cancelled {
		return c.met, err
	}
	return false, late.err
}

// check tests the conditions in order until one holds, and lets its strand go on. s is the strand that runs.
func (m *Machine) check(s *strand) {
	l := m.conditions
	l.lent = false
	for c := l.waiting.First(); c != nil; c = c.node.Next() {
		if c.strand == s {
			c.met = m.test(c)
		} else {
			c.met = m.testContained(c)
		}
		if m.err != nil {
			m.Abort(m.err)
		}
		if c.met {
			if c.strand != s {
				m.strands.wake(c.strand)
			}
			return
		}
	}
	l.settled = true
}

// test tells whether a condition holds, and notes whether that can change without a strand's doing.
func (m *Machine) test(c *condition) (holds bool) {
	m.looked = false
	m.ReadOnly(func() { holds = c.test() })
	c.gate.Internal = !m.looked
	return holds
}

// testContained is test for another strand's condition: the running strand's deferred calls must not get its panic.
func (m *Machine) testContained(c *condition) (holds bool) {
	defer func() {
		if v := recover(); v != nil {
			if m.err != nil {
				panic(v) // the machine is dead, this strand is being unwound
			}
			m.fail(panicked("", v))
		}
	}()
	return m.test(c)
}

// Look notes that code looked at something that comes from outside: a condition that does can come true without another
// strand's doing.
func (m *Machine) Look() {
	if m.readOnly {
		m.looked = true
	}
}
