package actor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// queueOf is slots whose attempts only note that they have begun, and that they know it.
type queueOf struct {
	*slots
	began []string
	over  []string
	names map[*attempt]string
}

func newQueue(size int) *queueOf {
	q := &queueOf{names: map[*attempt]string{}}
	q.slots = newSlots(size, func(a *attempt) {
		if q.began = append(q.began, q.names[a]); !a.began.Load() {
			panic("an attempt has a slot and does not know it: " + q.names[a])
		}
	},
		func(a *attempt) { q.over = append(q.over, q.names[a]) })
	return q
}

// add makes an attempt of a run.
func (q *queueOf) add(run *journal.Run, name string) *attempt {
	a := &attempt{run: run}
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	q.names[a] = name
	q.take(a)
	return a
}

// drain gives the slot of first back, and then those of all who began by that, n times.
func (q *queueOf) drain(first *attempt, n int) {
	byName := map[string]*attempt{}
	for a, name := range q.names {
		byName[name] = a
	}
	q.put(first)
	for range n {
		q.put(byName[q.began[len(q.began)-1]])
	}
}

func runOf(priority int16) *journal.Run {
	return &journal.Run{ID: journal.NewRunID(), Priority: priority}
}

// A slot goes to the most urgent priority; the runs of a priority take turns, however many attempts
// each has; the attempts of a run are in order.
func TestSlotsGoByPriorityAndInTurns(t *testing.T) {
	q := newQueue(1)
	holder := q.add(runOf(3), "holder")
	low, wide, small := runOf(5), runOf(2), runOf(2)
	q.add(low, "low")
	for i := range 4 {
		q.add(wide, fmt.Sprint("wide", i))
	}
	q.add(small, "small0")
	q.add(small, "small1")
	q.drain(holder, 6)
	want := []string{"holder", "wide0", "small0", "wide1", "small1", "wide2", "wide3", "low"}
	if !slices.Equal(q.began, want) {
		t.Errorf("began %v, want %v", q.began, want)
	}
}

// Every eighth slot goes to the priority that has waited for longest, so none starves.
func TestNoPriorityStarvesOfSlots(t *testing.T) {
	q := newQueue(1)
	holder := q.add(runOf(3), "holder")
	for _, priority := range []int16{4, 5} {
		run := runOf(priority)
		for i := range 2 {
			q.add(run, fmt.Sprint("low", priority, ".", i))
		}
	}
	for i := range 40 {
		q.add(runOf(1), fmt.Sprint("high", i))
	}
	q.drain(holder, 31)
	var low []string
	for i, name := range q.began {
		if name[:3] == "low" {
			low = append(low, fmt.Sprint(i, " ", name))
		}
	}
	want := []string{"8 low4.0", "16 low5.0", "24 low4.1", "32 low5.1"}
	if !slices.Equal(low, want) {
		t.Errorf("less urgent attempts began at %q, want %q", low, want)
	}
}

// Who comes while a slot is free that the queue has yet to hand out does not pass those who wait.
func TestNobodyPassesTheQueue(t *testing.T) {
	q := newQueue(1)
	q.add(runOf(3), "holder")
	q.add(runOf(3), "first")
	q.free.Add(1) // as put does before it looks at the queue
	q.add(runOf(3), "second")
	if want := []string{"holder", "first"}; !slices.Equal(q.began, want) {
		t.Errorf("began %v, want %v", q.began, want)
	}
}

// The time that a priority has waited is counted from when it came to wait, not from its last slot.
func TestPriorityThatComesLateWaitsItsTime(t *testing.T) {
	q := newQueue(1)
	holder := q.add(runOf(3), "holder")
	urgent := runOf(1)
	for i := range 20 {
		q.add(urgent, fmt.Sprint("high", i))
	}
	q.drain(holder, 1)
	q.add(runOf(5), "first")
	byName := map[string]*attempt{}
	for a, name := range q.names {
		byName[name] = a
	}
	q.put(byName["high1"])
	q.add(runOf(4), "second")
	q.drain(byName["high2"], 14)
	if a, b := slices.Index(q.began, "first"), slices.Index(q.began, "second"); a != 8 || b != 16 {
		t.Errorf("the two began at %d and %d, want 8 and 16: %v", a, b, q.began)
	}
}

// A priority that is not known waits behind all others. A bug that panics in the queue keeps the
// lock from nobody: the slots are those of all runs of the node.
func TestSlotsOutliveARunThatMakesNoSense(t *testing.T) {
	q := newQueue(1)
	holder := q.add(runOf(3), "holder")
	newer, negative, low := q.add(runOf(6), "newer"), q.add(runOf(-1), "negative"), q.add(runOf(journal.PriorityMax), "low")
	q.add(runOf(4), "high")
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an attempt of no run has a line")
			}
		}()
		q.add(nil, "of no run")
	}()
	if !q.mu.TryLock() {
		t.Fatal("the lock was left locked")
	}
	q.mu.Unlock()
	if newer.line.level != low.line.level || negative.line.level != low.line.level {
		t.Error("a priority that is not known has a level of its own")
	}
	q.drain(holder, 4)
	if want := []string{"holder", "high", "newer", "negative", "low"}; !slices.Equal(q.began, want) {
		t.Errorf("began %v, want %v", q.began, want)
	}
}

// An attempt that waits can be taken back, or ends with its context; it does not begin then, and
// those behind it do.
func TestAttemptsLeaveTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1)
		run := runOf(3)
		holder := q.add(run, "holder")
		taken, ended, last := q.add(run, "taken"), q.add(run, "ended"), q.add(run, "last")
		if !q.withdraw(taken) || q.withdraw(taken) || q.withdraw(holder) {
			t.Error("only an attempt that waits is withdrawn, and once")
		}
		if only := q.add(runOf(3), "the only one of its run"); !q.withdraw(only) || len(q.lines) != 1 {
			t.Errorf("%d lines, want that of the run that waits", len(q.lines))
		}
		ended.cancel(errors.New("no more"))
		synctest.Wait()
		q.put(holder)
		q.put(last)
		if !slices.Equal(q.began, []string{"holder", "last"}) || !slices.Equal(q.over, []string{"ended"}) {
			t.Errorf("began %v, ended in the queue %v", q.began, q.over)
		}
		if q.free.Load() != 1 || q.queued.Load() != 0 || q.stalled.Load() != 0 || len(q.lines) != 0 {
			t.Errorf("left over: %d slots, %d waiting, %d stalled, %d lines", q.free.Load(), q.queued.Load(), q.stalled.Load(), len(q.lines))
		}
	})
}

// stalled counts the runs that wait and have no slot.
func TestStalledRunsAreCounted(t *testing.T) {
	q := newQueue(1)
	holder := q.add(runOf(3), "holder")
	wide, small := runOf(3), runOf(3)
	first := q.add(wide, "wide0")
	q.add(wide, "wide1")
	q.add(small, "small")
	if n := q.stalled.Load(); n != 2 {
		t.Errorf("%d runs are stalled, want 2", n)
	}
	q.put(holder) // wide has the slot
	if n := q.stalled.Load(); n != 1 {
		t.Errorf("%d runs are stalled, want 1", n)
	}
	q.put(first)
	if n := q.stalled.Load(); n != 1 || q.began[2] != "small" {
		t.Errorf("%d runs are stalled, want 1; began %v", n, q.began)
	}
}

// Whatever happens at once, no more bodies run than there are slots, and no attempt is forgotten
// or runs twice.
func TestSlotsUnderLoad(t *testing.T) {
	const size, attempts = 3, 20_000
	var running, most atomic.Int64
	var work sync.WaitGroup
	var s *slots
	begun := make([]atomic.Int32, attempts)
	index := sync.Map{}
	s = newSlots(size, func(a *attempt) {
		go func() {
			defer work.Done()
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			i, _ := index.Load(a)
			begun[i.(int)].Add(1)
			running.Add(-1)
			s.put(a)
		}()
	}, func(*attempt) { work.Done() })
	runs := []*journal.Run{runOf(1), runOf(3), runOf(3), runOf(5)}
	withdrawn := atomic.Int32{}
	var submitters sync.WaitGroup
	work.Add(attempts)
	for w := range 4 {
		submitters.Go(func() {
			for i := w; i < attempts; i += 4 {
				a := &attempt{run: runs[i/4%4]}
				a.ctx, a.cancel = context.WithCancelCause(context.Background())
				index.Store(a, i)
				s.take(a)
				switch i % 16 {
				case 1:
					a.cancel(errors.New("no more"))
				case 2:
					if s.withdraw(a) {
						withdrawn.Add(1)
						work.Done()
					}
				}
			}
		})
	}
	submitters.Wait()
	work.Wait()
	for i := range begun {
		if n := begun[i].Load(); n > 1 {
			t.Fatalf("attempt %d began %d times", i, n)
		}
	}
	if most.Load() > size || s.free.Load() != size || s.queued.Load() != 0 || s.stalled.Load() != 0 {
		t.Errorf("%d ran at once; %d slots are free, %d wait, %d are stalled", most.Load(), s.free.Load(), s.queued.Load(), s.stalled.Load())
	}
}

// A step whose scope is cancelled while it waits for a slot has its outcome at once: the code that
// waits for it does not wait for the slot.
func TestCancelledStepsInTheLineAreAnswered(t *testing.T) {
	bubble(t, func(o *Options) { o.StepsMax = 1 }, func(g *rig) {
		first, second := newGate(), newGate()
		g.define("full", func(ctx workflow.Context) (string, error) { return workflow.Step(ctx, "first", first.stubborn, nil) })
		g.define("waits", func(ctx workflow.Context) (string, error) {
			inner, cancel := workflow.WithCancel(ctx)
			step := workflow.StepAsync(inner, "second", second.heedful, nil)
			if _, err := knock.Receive(ctx); err != nil {
				return "", err
			}
			cancel()
			_, err := step.Get(ctx)
			return "", err
		})
		g.start("full")
		<-first.began
		id := g.start("waits")
		g.signal(id, "knock", 1)
		g.wantHistory(id, "RunStarted SignalReceived(knock) StepFailed(second) RunFailed")
		first.open <- nil
		wait()
		if len(second.began) > 0 {
			t.Error("the step was executed although it was cancelled before it had a slot")
		}
	})
}
