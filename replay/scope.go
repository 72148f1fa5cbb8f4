package replay

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// Scope is what can be cancelled together: commands and waits belong to one. Scopes form a tree,
// and a shielded one does not inherit its parent's cancellation.
//
// A scope ends once. In the order of its commands it asks each to end, then wakes the strands
// that wait in it, then ends its children in the order in which they were made. The order is part
// of what replay repeats, since each cancel is a command of its own. A cancelled scope is taken
// out of its parent, and a scope that is no longer needed must be cancelled for that reason:
// until then its parent holds it.
type Scope struct {
	env    *Env
	parent *Scope // nil for the root and for shielded ones
	err    error  // why it is cancelled; nil while it is not
	cond   Cond   // of strands that wait in this scope

	commands list.List[Command] // open ones, in Cmd order
	children list.List[Scope]   // in order of creation
	sibling  list.Node[Scope]   // in the parent's children
	deadline *Command           // timer of WithTimeout
}

// scopeError is ErrCancelled or ErrTimeout with the reason: what the sender of a cancel request
// wrote, or the time that is up.
type scopeError struct {
	kind   error
	reason string
}

func (e *scopeError) Error() string { return e.kind.Error() + ": " + e.reason }
func (e *scopeError) Unwrap() error { return e.kind }

func (e *scopeError) failureType() string {
	if e.kind == ErrTimeout {
		return journal.FailureTimeout
	}
	return journal.FailureCancelled
}

// Env returns what the scope belongs to.
func (sc *Scope) Env() *Env { return sc.env }

// Err returns why the scope is cancelled, nil while it is not.
func (sc *Scope) Err() error { return sc.err }

// Child returns a scope that is cancelled with sc, or alone.
func (sc *Scope) Child() *Scope {
	c := &Scope{env: sc.env, err: sc.err}
	if sc.err != nil {
		return c
	}
	c.parent = sc
	sc.children.PushBack(&c.sibling, c)
	return c
}

// Shield returns a scope that is not cancelled with sc.
func (sc *Scope) Shield() *Scope { return &Scope{env: sc.env} }

// Timeout returns a child that is cancelled with ErrTimeout after d. It issues a timer, which a
// cancellation of the child stops, as it stops every timer of the scope.
func (sc *Scope) Timeout(d time.Duration) *Scope {
	c := sc.Child()
	if c.err != nil {
		return c
	}
	if d <= 0 {
		c.end(timedOut(d))
		return c
	}
	c.deadline = c.Timer("", d)
	c.deadline.fired = func() { c.end(timedOut(d)) }
	return c
}

func timedOut(d time.Duration) error {
	return &scopeError{kind: ErrTimeout, reason: fmt.Sprintf("the scope's time of %s is up", d)}
}

// Cancel cancels the scope and those below it. A second call does nothing.
//
// Open timers resolve at once. Open steps are asked to stop, and resolve with the outcome that
// the executor always delivers: a saga must know whether the step took effect.
func (sc *Scope) Cancel() {
	if sc.env.unwinding {
		return
	}
	sc.end(ErrCancelled)
}

func (sc *Scope) end(err error) {
	if sc.err != nil {
		return
	}
	sc.err = err
	sc.detach()
	for c := sc.commands.First(); c != nil; {
		next := c.node.Next() // Cancel takes a timer out of the list
		c.Cancel()
		c = next
	}
	sc.env.Broadcast(&sc.cond)
	for c := sc.children.First(); c != nil; {
		next := c.sibling.Next() // end takes the child out of the list
		c.end(err)
		c = next
	}
}

// detach takes the scope out of its parent, which may live much longer.
func (sc *Scope) detach() {
	if sc.parent != nil {
		sc.parent.children.Remove(&sc.sibling)
		sc.parent = nil
	}
}

// Await parks the running strand until ready returns true, asking again each time one of the conds
// is broadcast. What is ready wins over a cancelled scope, whose error it returns otherwise.
func (sc *Scope) Await(ready func() bool, conds ...*Cond) error {
	e := sc.env
	s, err := e.current()
	if err != nil {
		return err
	}
	for !ready() {
		if sc.err != nil {
			return sc.err
		}
		s.waiters = s.waiters[:0]
		for _, c := range conds {
			s.waiters = append(s.waiters, waiter{strand: s, cond: c})
		}
		if err := e.park(s, sc); err != nil {
			return err
		}
	}
	return nil
}
