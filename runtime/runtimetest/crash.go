package runtimetest

import (
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
)

// point is where a test is to crash: at the commit that the node sends as its nth. The zero point
// is nowhere. Up to the point the test with a crash makes the same commits as the one without,
// since the bubble's clock makes both the same, as long as nothing in the test depends on what
// happens at the same moment.
type point struct {
	commit int // from 1
	when   moment
}

// moment is what happens when the node sends a commit. These are all the cases there are: between
// two commits a node changes nothing that is durable, so a crash there is one before the next
// commit.
type moment int

const (
	goOn        moment = iota
	beforeWrite        // the turns are lost, though their steps have run
	afterWrite         // the turns are written, but their node never gets the answer
)

func (m moment) String() string {
	return map[moment]string{goOn: "never", beforeWrite: "before", afterWrite: "after"}[m]
}

// arrive counts a commit and tells what is to happen at it. What the end of the test commits is not
// counted.
func (e *Env) arrive(commits []driver.Commit) moment {
	at := goOn
	e.mu.Lock()
	if !e.closing { // else the test is over
		e.commits++
		if e.commits == e.point.commit {
			at = e.point.when
		}
	}
	e.mu.Unlock()
	if at != goOn {
		for i := range commits {
			e.Logf("the node crashes %s this turn of run %s is written: %s", at, commits[i].Run, turn(&commits[i]))
		}
	}
	return at
}

// turn prints what a commit would write, for the log of a failed test.
func turn(c *driver.Commit) string {
	s := ""
	for i := range c.Events {
		s += c.Events[i].Kind.String()
		if c.Events[i].Name != "" {
			s += " " + c.Events[i].Name
		}
		s += ", "
	}
	if c.Next.Kind == driver.NextPark {
		s += "park, "
	}
	return s + fmt.Sprintf("turn %d", c.Turn+1)
}

// EveryCrash runs fn as Test does, once without a crash and then once for each moment at which the
// node can crash: just before a turn is written and just after, for every turn of the first time. A
// new node takes over each time.
//
// The asserts in fn must hold in every case. That includes what the world has seen: a step whose
// turn was lost is executed again, with the same idempotency key, so an effect that must happen
// once needs the key, or a StepTx. [Env.Effects] and [Env.Calls] count executions.
//
// fn is called anew each time, so whatever it uses should be made in it. A test of more than 500
// turns fails: split it.
func EveryCrash(t *testing.T, fn func(e *Env)) {
	t.Helper()
	turns := 0
	if !t.Run("no crash", func(t *testing.T) { turns = test(t, point{}, fn) }) {
		return // it would only fail again
	}
	if turns > crashesMax {
		t.Fatalf("the test has %d turns, at most %d can be crashed one at a time: split it", turns, crashesMax)
	}
	for turn := 1; turn <= turns; turn++ {
		for _, when := range []moment{beforeWrite, afterWrite} {
			t.Run(fmt.Sprintf("crash %s turn %d", when, turn), func(t *testing.T) { test(t, point{turn, when}, fn) })
		}
	}
}
