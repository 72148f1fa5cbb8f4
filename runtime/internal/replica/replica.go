package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// replica is a machine that has replayed the history of a run and then, provisionally, the messages
// that wait in its inbox.
//
// # What it may have seen
//
// The history is append-only (J1), so what is stored of it has to be taken back only if the store
// itself went back in time: the next query replays the events behind the last one. It reads that
// one too, and its link says whether the history still is the one that the machine has; the newest
// message is compared likewise. The inbox is another matter. The owner will consume these
// messages too, but perhaps in another order with what else happens, in turns cut differently, and
// at other times. So a machine that has seen messages is ahead of the history. It stays good only
// as long as the run has made no turn since: the same turn number and no new event. Further
// messages may be appended, because the inbox is FIFO (J5). After a turn, or in another generation,
// the machine is thrown away and the history is replayed from its beginning.
//
// # What it may say
//
// A state that the run is in or will be in. So whoever works on the run is asked first, by waiting
// until its commits have consumed what waits: see patience. If nobody does, the machine foresees
// what the next owner will do, see [replay.Foresee]: it fires the timers that are due
// before a message came, and goes over to the next generation as the owner will. The next owner has
// nothing else to do first, because steps of an owner that is gone have no outcome, and it finds
// all these messages when it claims the run. What only the owner can decide ends that, and so does
// code that fails on a message; then the answer is the state of before, see advance.
//
// # Who may touch it
//
// The query that holds inUse. It gets the slot before it reads and gives it back when workflow code
// has returned, which may be long after its caller has gone. users and usedAt belong to the Cache.
type replica struct {
	run    journal.RunID
	inUse  chan struct{} // holds one element while a query uses the replica
	gone   chan struct{} // closed under Cache.mu when the query that uses it is given up
	users  int           // guarded by Cache.mu: queries that hold or wait for inUse
	usedAt uint64        // guarded by Cache.mu

	machine    *replay.Machine // nil before the first query and after reset
	reusable   bool            // the machine is good for another query
	began      journal.Run     // as the machine's generation began: a later one than is stored, if it is ahead
	workflow   string
	generation journal.Generation
	head       journal.Head // the last event that was replayed

	ahead bool            // the machine has seen more than the history
	inbox driver.Consumed // newest message seen
	turn  journal.Turn    // the run's turn as of then: see delta.turn

	vain *progress // a query has waited for the run to go on from here, and it did not
}

// reset closes the machine, so that the next query begins anew.
func (r *replica) reset() {
	if r.machine != nil {
		r.machine.Close()
	}
	r.machine, r.reusable, r.ahead, r.generation, r.turn = nil, false, false, 0, 0
	r.head, r.inbox = journal.Head{}, driver.Consumed{}
}

// hold waits until the caller is the only user of the replica. It is false if ctx ended, or if the
// replica was taken out of the cache: its machine may be in any state, so nobody else may use it,
// even when its last user has given it back.
func (r *replica) hold(ctx context.Context) bool {
	select {
	case r.inUse <- struct{}{}:
	case <-r.gone:
		return false
	case <-ctx.Done():
		return false
	}
	select {
	case <-r.gone:
		<-r.inUse
		return false
	default:
		return true
	}
}

// begin makes the machine of a generation.
func (r *replica) begin(o *Options, run *journal.Run) error {
	def, err := o.Find(run.Workflow, run.Version)
	if err != nil {
		return err
	}
	if r.machine != nil {
		r.machine.Close()
	}
	r.machine = replay.New(def, replay.InfoOf(run), o.Journal)
	r.machine.SetThresholds(o.Thresholds)
	replay.SetFreezes(r.machine, run.Freezes)
	r.workflow, r.began = run.Workflow, *run
	return nil
}

// renew forgets what the machine has seen.
func (r *replica) renew(c *Cache, e *execution) error {
	return c.execute(e, code{workflow: r.workflow}, func() error { r.reset(); return nil })
}

// explained says whose fault an error of the code is.
func explained(err error) error {
	if err == nil || errors.Is(err, replay.ErrNoHandler) {
		return err
	}
	if _, panicked := errors.AsType[*replay.PanicError](err); panicked {
		return fmt.Errorf("the code fails on the run: %w", err)
	}
	return fmt.Errorf("the code does not fit the run: %w", err)
}
