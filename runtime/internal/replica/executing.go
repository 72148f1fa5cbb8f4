package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/internal/watchdog"
)

// ErrStuck says that workflow code that a query executes does not return.
var ErrStuck = errors.New("workflow code does not return")

const (
	// codeMax is how long a query without an earlier deadline waits for workflow code. A handler
	// takes microseconds, and the replay of the longest history a fraction of a second.
	codeMax = 30 * time.Second
	// stuckPerRun and stuckPerHandler bound the goroutines and machines that code which does not
	// return keeps: those of one run's handler, and those of one workflow's handler.
	stuckPerRun     = 4
	stuckPerHandler = 32
	// stuckAfterDefault is as package actor has it for turns.
	stuckAfterDefault = 2 * time.Second
)

// code is what of a workflow a query executes: the handler of a query, or, with no name, the
// workflow itself, which is replayed for it.
type code struct {
	workflow string
	query    string
}

func (c code) String() string {
	if c.query == "" {
		return "the replay of its history"
	}
	return fmt.Sprintf("the handler of query %q", c.query)
}

// execution is the workflow code that one query executes. Nothing can interrupt it. If it does not
// return in time, it is given up: the replica that it belongs to is taken out of the cache, so that
// the next question gets a fresh one at once, and the goroutine that executes it holds nothing that
// another query waits for. When it does return, after all, the replica is closed.
//
// A handler is given up when its caller has gone or the watchdog reports it. A replay may just be
// long, and those who wait for it would each begin another one, so it has codeMax.
//
// The fields behind watch are guarded by Cache.mu.
type execution struct {
	replica *replica
	late    chan struct{} // closed when the code has been executed for codeMax
	watch   watchdog.Watch[*execution]

	code    code
	began   time.Time // zero while no workflow code is executed
	limit   *time.Timer
	givenUp bool
}

// execute calls fn, which executes workflow code. Errors: fn's, and that nobody waits for it any
// more, or that too much of that code has not returned.
func (c *Cache) execute(e *execution, what code, fn func() error) error {
	if err := c.begin(e, what); err != nil {
		return err
	}
	defer c.end(e)
	return fn()
}

func (c *Cache) begin(e *execution, what code) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.givenUp {
		return ErrStuck
	}
	ofRun, all, oldest := 0, 0, time.Time{}
	for other := range c.givenUp {
		if other.code != what {
			continue
		}
		if all++; other.replica.run == e.replica.run {
			ofRun++
		}
		if oldest.IsZero() || other.began.Before(oldest) {
			oldest = other.began
		}
	}
	if ofRun >= stuckPerRun || all >= stuckPerHandler {
		return fmt.Errorf("%w: %s is not called again before a call returns, because %d calls for this run and %d of all runs of workflow %q "+
			"have not returned, the first of them for %s", ErrStuck, what, ofRun, all, what.workflow, time.Since(oldest).Round(time.Millisecond))
	}
	e.code, e.began = what, time.Now()
	e.limit = time.AfterFunc(codeMax, func() { c.expire(e) })
	c.watchdog.Begin(&e.watch, e)
	return nil
}

func (c *Cache) end(e *execution) {
	c.watchdog.End(&e.watch)
	c.mu.Lock()
	defer c.mu.Unlock()
	e.limit.Stop()
	e.began = time.Time{}
	delete(c.givenUp, e)
}

// leave is called when the caller of an execution goes.
func (c *Cache) leave(e *execution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.began.IsZero() && e.code.query != "" {
		c.takeOut(e)
	}
}

// expire is called codeMax after a begin, perhaps when the execution has just ended.
func (c *Cache) expire(e *execution) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !e.began.IsZero() && time.Since(e.began) >= codeMax {
		c.takeOut(e)
		close(e.late)
	}
}

// takeOut gives an execution up. The caller holds the lock.
func (c *Cache) takeOut(e *execution) {
	e.givenUp, c.givenUp[e] = true, true
	c.detach(e.replica)
}

// detach takes a replica out of the cache, with those who wait for it. The caller holds the lock.
func (c *Cache) detach(r *replica) {
	if c.byRun[r.run] == r {
		delete(c.byRun, r.run)
		close(r.gone)
	}
}

// stuck is called by the watchdog, perhaps after the execution has ended.
func (c *Cache) stuck(e *execution, after time.Duration, stacks string) {
	c.mu.Lock()
	late, what := !e.began.IsZero() && time.Since(e.began) >= after, e.code
	if late && what.query != "" {
		c.takeOut(e)
	}
	c.mu.Unlock()
	if late {
		c.o.Stuck(e.replica.run, what.workflow, what.String(), after, stacks)
	}
}

// explain returns the error of a query that has not waited any longer. cause is why.
func (c *Cache) explain(e *execution, cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.began.IsZero() {
		return cause
	}
	return fmt.Errorf("%s has not returned for %s: %w: %w", e.code, time.Since(e.began).Round(time.Millisecond), ErrStuck, cause)
}
