// Package replica answers queries with machines that follow stored histories without owning the
// runs.
package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reprise-run/reprise/internal/watchdog"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

const (
	// replicasMax is how many replicas are kept for further queries: a few kilobytes each, or as
	// much as a long history leaves in memory.
	replicasMax = 64
	// replicaIdle is how long a replica is kept after its last query.
	replicaIdle = 10 * time.Second
	// codeFrame is part of the name of a function that is below all workflow code, that of handlers
	// of queries too.
	codeFrame = "reprise/replay"
)

// Options of a Cache. Every field but StuckAfter is required.
type Options struct {
	Journal    *driver.Journal
	Find       func(workflow string, version int32) (*replay.Definition, error) // the code of a version
	Load       func(context.Context, driver.LoadRequest) (*driver.History, error)
	Thresholds replay.Thresholds // as the owners of runs have them
	StuckAfter time.Duration     // workflow code that has not returned for so long is reported; 0: 2 s
	// Stuck reports it: code says what of the workflow it is, stacks what it does.
	Stuck func(run journal.RunID, workflow, code string, after time.Duration, stacks string)
}

// Cache holds the replicas that answer queries. While it is open, some are kept for a while after
// their last query: a dashboard asks the same runs again and again, and then only the events that
// are new need to be read and replayed. While it is closed, a replica lives only as long as queries
// use it.
//
// Queries of one run at the same time share one replica and one replay. A replica is in byRun from
// its first query until it is removed under mu, and it is removed only while it has no users. So
// whoever has acquired a replica may use it without fear that its machine is closed, and there is
// never a second one of the run whose memory would add up. Which of its users may touch the machine
// is decided by the replica itself: see [replica].
//
// The exception is a replica whose code does not return: it is taken out of byRun while it has a
// user, and those who wait for it go on with a fresh one. See [execution].
//
// Closing a machine runs deferred calls of workflow code, which may take long. It happens after mu
// has been released, on replicas that nobody can find any more, and no caller waits for it.
type Cache struct {
	o        Options
	watchdog watchdog.Watchdog[*execution]

	mu      sync.Mutex
	open    bool
	byRun   map[journal.RunID]*replica
	givenUp map[*execution]bool // workflow code that has not returned
	clock   uint64              // counts releases; tells which replica was used longest ago
	timer   *time.Timer         // of the next sweep; nil while nothing is kept
	swept   uint64              // clock at the last sweep
}

// New returns a closed cache without replicas.
func New(o Options) *Cache {
	if o.StuckAfter <= 0 {
		o.StuckAfter = stuckAfterDefault
	}
	c := &Cache{o: o, byRun: map[journal.RunID]*replica{}, givenUp: map[*execution]bool{}}
	c.watchdog = watchdog.Watchdog[*execution]{After: o.StuckAfter, Report: c.stuck, Frame: codeFrame}
	return c
}

// Open begins to keep replicas.
func (c *Cache) Open() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = true
}

// Close drops what is kept. Queries in flight go on, and nobody waits for workflow code.
func (c *Cache) Close() {
	c.mu.Lock()
	c.open = false
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	list := c.removeIdle(c.clock)
	c.mu.Unlock()
	go closeAll(list)
}

// Query asks a run, as of what is stored now. If ctx ends first, or workflow code does not return
// for codeMax, the error says so; that code then goes on in the background.
//
// Errors: those of Options.Find and Options.Load, replay.ErrNoHandler, the handler's own, what
// makes the code unfit for the history, and [ErrStuck].
func (c *Cache) Query(
	ctx context.Context, run journal.RunID, name string, arg journal.Payload,
) (journal.Payload, error) {
	r, err := c.take(ctx, run)
	if err != nil {
		return journal.Payload{}, err
	}
	// Workflow code cannot be interrupted, so it gets a goroutine that may outlive the caller. That
	// goroutine gives the replica back, and takes it out of the cache first if the machine is not
	// good for another query.
	type reply struct {
		answer journal.Payload
		err    error
	}
	replies, e := make(chan reply, 1), &execution{replica: r, late: make(chan struct{})}
	go func() {
		rep := reply{err: errors.New("the handler ended its goroutine")}
		defer func() {
			if rep.err != nil && !r.reusable {
				c.mu.Lock()
				c.detach(r)
				c.mu.Unlock()
			}
			<-r.inUse
			c.release(r)
			replies <- rep
		}()
		rep.answer, rep.err = r.query(ctx, c, e, name, arg)
	}()
	select {
	case rep := <-replies:
		return rep.answer, rep.err
	case <-ctx.Done():
		err = c.explain(e, ctx.Err())
	case <-e.late:
		err = c.explain(e, context.DeadlineExceeded)
	}
	c.leave(e)
	return journal.Payload{}, err
}

// take returns the replica of a run for the caller alone.
func (c *Cache) take(ctx context.Context, run journal.RunID) (*replica, error) {
	for {
		r := c.acquire(run)
		if r.hold(ctx) {
			return r, nil
		}
		c.release(r)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// acquire returns the replica of a run, a new one if there is none. release must follow.
func (c *Cache) acquire(run journal.RunID) *replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.byRun[run]
	if r == nil {
		r = &replica{run: run, inUse: make(chan struct{}, 1), gone: make(chan struct{})}
		c.byRun[run] = r
	}
	r.users++
	return r
}

func (c *Cache) release(r *replica) {
	if list := c.released(r); len(list) > 0 {
		go closeAll(list)
	}
}

// released ends a use and returns the replicas that are to be closed.
func (c *Cache) released(r *replica) []*replica {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	r.usedAt = c.clock
	if r.users--; r.users > 0 {
		return nil
	}
	if c.byRun[r.run] != r { // it was given up
		return []*replica{r}
	}
	if !c.open || !r.reusable {
		delete(c.byRun, r.run)
		return []*replica{r}
	}
	if c.timer == nil {
		c.swept = c.clock - 1 // so that the first sweep spares this one
		c.timer = time.AfterFunc(replicaIdle, c.sweep)
	}
	return c.removeExcess()
}

// closeAll closes the machines of replicas that were removed.
func closeAll(list []*replica) {
	for _, r := range list {
		r.reset()
	}
}

// removeExcess removes the unused replicas that were used longest ago, as long as there are too
// many. The caller holds the lock.
func (c *Cache) removeExcess() (list []*replica) {
	for len(c.byRun) > replicasMax {
		var oldest *replica
		for _, r := range c.byRun {
			if r.users == 0 && (oldest == nil || r.usedAt < oldest.usedAt) {
				oldest = r
			}
		}
		if oldest == nil {
			break
		}
		delete(c.byRun, oldest.run)
		list = append(list, oldest)
	}
	return list
}

// removeIdle removes the replicas that nobody uses and that were last used at the given clock or
// before. The caller holds the lock.
func (c *Cache) removeIdle(at uint64) (list []*replica) {
	for _, r := range c.byRun {
		if r.users == 0 && r.usedAt <= at {
			delete(c.byRun, r.run)
			list = append(list, r)
		}
	}
	return list
}

// sweep drops the replicas that were not used since the last sweep.
func (c *Cache) sweep() {
	c.mu.Lock()
	list := c.removeIdle(c.swept)
	c.swept, c.timer = c.clock, nil
	if c.open && len(c.byRun) > 0 {
		c.timer = time.AfterFunc(replicaIdle, c.sweep)
	}
	c.mu.Unlock()
	closeAll(list)
}
