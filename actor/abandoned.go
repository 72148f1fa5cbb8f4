package actor

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
)

// abandoned are the bodies of steps that go on although their attempt is over: it ran out of time,
// or its run is not here any more, and they do not look at their context. Nothing can end a
// goroutine from outside, so such a body is there until it returns.
//
// It must not take the place of others. When a body has gone on for abandonedAfter, its slot is
// given to others, so a step that hangs does not stop the node. That has two bounds, or each
// attempt of such a step would leave one more body behind, without end:
//
//   - A step, which is a name in a workflow, has at most each bodies that are abandoned when it
//     begins an attempt. Beyond that its attempts fail before they begin: whoever hangs fails
//     alone, and by its own retry policy.
//   - No more than max slots are given away. What is abandoned beyond that keeps its slot.
//
// Attempts that have begun before their step reached its bound may be abandoned after it, but no
// more of them than there are slots. So max of twice the slots is enough for four steps that hang
// at the same time, whatever they do.
//
// A body goes from running to returned, or from running to over to returned. Both ways begin with
// one compare-and-swap, so exactly one of the two that may give the slot back does: the body when
// it returns, or the timer here. mu is held from that swap until kept is set, and the body takes it
// before it reads kept. Bodies that return in time touch nothing of this but their own state.
type abandoned struct {
	each, max int
	release   func(*attempt)
	hooks     *Hooks

	live atomic.Int64 // bodies

	mu     sync.Mutex
	given  int // slots
	steps  map[hungStep]*hung
	dumped time.Time // when a stack was taken last
}

// hungStep is a step as the code names it.
type hungStep struct{ workflow, step string }

// hung is a step that has abandoned bodies, or had some not long ago.
type hung struct {
	bodies int
	said   time.Time // when it was reported last
}

// States of a body.
const (
	bodyRunning = iota
	bodyReturned
	bodyOver // and running
)

func newAbandoned(o *Options, release func(*attempt)) *abandoned {
	return &abandoned{each: max(o.StepsMax/abandonedShare, 1), max: 2 * o.StepsMax, release: release, hooks: &o.Hooks, steps: map[hungStep]*hung{}}
}

// watch looks at an attempt that is over after a while. It may be called more than once.
func (b *abandoned) watch(a *attempt) {
	if !a.watched.Swap(true) {
		b.lookLater(a)
	}
}

func (b *abandoned) lookLater(a *attempt) { time.AfterFunc(abandonedAfter, func() { b.look(a) }) }

// look gives the slot of a body that goes on to others, and reports it. An attempt that has not
// begun has no body, and one that nobody waits for may go on as long as its context does: see
// replay.Abandon. It is looked at again when that has ended. The end of the context says when, and
// not the next call of watch, because that call may come at this very moment.
func (b *abandoned) look(a *attempt) {
	if a.ctx.Err() == nil {
		context.AfterFunc(a.ctx, func() { b.lookLater(a) })
		return
	}
	key := hungStep{a.run.Workflow, a.sc.Step}
	b.mu.Lock()
	if a.goroutine.Load() == 0 || !a.state.CompareAndSwap(bodyRunning, bodyOver) {
		b.mu.Unlock()
		return
	}
	b.live.Add(1)
	h := b.of(key)
	h.bodies++
	if a.kept = b.given == b.max; !a.kept {
		b.given++
	}
	kept, bodies, say := a.kept, h.bodies, time.Since(h.said) >= abandonedEvery
	if say {
		h.said = time.Now()
	}
	dump := say && time.Since(b.dumped) >= abandonedDump
	if dump {
		b.dumped = time.Now()
	}
	b.mu.Unlock()
	if !kept {
		b.release(a)
	}
	if b.hooks.BodyAbandoned != nil {
		b.hooks.BodyAbandoned(a.run, a.sc.Step, 1)
	}
	if say && b.hooks.BodyHangs != nil {
		h := &Hang{Run: a.run, Step: a.sc.Step, Attempt: a.sc.Attempt, Bodies: bodies, Kept: kept}
		if dump {
			h.Stack = watchdog.StackOf(a.goroutine.Load())
			h.At = callsite.OfStack(h.Stack).Where
		}
		b.hooks.BodyHangs(h)
	}
}

// of returns what is known of a step. What was kept of others only because they were reported a
// moment ago is forgotten when that is over: code may make names without end. The caller holds the
// lock.
func (b *abandoned) of(key hungStep) *hung {
	h := b.steps[key]
	if h == nil {
		maps.DeleteFunc(b.steps, func(_ hungStep, h *hung) bool { return h.bodies == 0 && time.Since(h.said) >= abandonedEvery })
		h = &hung{}
		b.steps[key] = h
	}
	return h
}

// returned notes that a body has ended, and tells whether it still has its slot.
func (b *abandoned) returned(a *attempt) (has bool) {
	if a.state.CompareAndSwap(bodyRunning, bodyReturned) {
		return true
	}
	key := hungStep{a.run.Workflow, a.sc.Step}
	b.mu.Lock()
	b.live.Add(-1)
	if h := b.steps[key]; h.bodies > 1 || time.Since(h.said) < abandonedEvery {
		h.bodies--
	} else {
		delete(b.steps, key)
	}
	if has = a.kept; !has {
		b.given--
	}
	b.mu.Unlock()
	if b.hooks.BodyAbandoned != nil {
		b.hooks.BodyAbandoned(a.run, a.sc.Step, -1)
	}
	return has
}

// refuse returns why an attempt must not begin, nil if it may.
func (b *abandoned) refuse(a *attempt) *journal.Failure {
	if b.live.Load() == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	h := b.steps[hungStep{a.run.Workflow, a.sc.Step}]
	if h == nil || h.bodies < b.each {
		return nil
	}
	return &journal.Failure{Type: journal.FailureTimeout, Message: fmt.Sprintf(
		"the attempt has not begun: %d bodies of step %s of workflow %s ignore their context and still run on this node; "+
			"let the body end when its context does", h.bodies, a.sc.Step, a.run.Workflow)}
}
