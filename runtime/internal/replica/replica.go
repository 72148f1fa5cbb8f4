package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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
// What becomes of a message is decided by [replay.Machine.Offer], as the owner decides it, so the
// answer is what the owner's machine would say after consuming the inbox.
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
	workflow   string
	generation journal.Generation
	head       journal.Head // the last event that was replayed

	ahead bool            // the machine has seen more than the history
	inbox driver.Consumed // newest message seen
	turn  journal.Turn    // the run's turn as of then: see delta.turn
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

// query brings the replica up to what is stored now and asks the handler.
func (r *replica) query(
	ctx context.Context, c *Cache, e *execution, name string, arg journal.Payload,
) (journal.Payload, error) {
	if err := r.advance(ctx, c, e); err != nil {
		return journal.Payload{}, err
	}
	if ctx.Err() != nil {
		return journal.Payload{}, ctx.Err() // nobody waits for the answer
	}
	var answer journal.Payload
	err := c.execute(e, code{r.workflow, name}, func() (err error) {
		r.reusable = false // a handler that panics, or ends its goroutine, may leave anything behind
		answer, err = r.machine.Query(name, arg)
		r.reusable = err == nil || errors.Is(err, replay.ErrNoHandler)
		return err
	})
	return answer, err
}

// advance reads what is new and shows it to the machine.
func (r *replica) advance(ctx context.Context, c *Cache, e *execution) error {
	o := &c.o
	r.reusable = r.machine != nil                                            // if the store cannot be read, nothing is lost
	d := delta{after: max(r.head.Seq-1, 0), inbox: max(r.inbox.Number-1, 0)} // the last ones again
	if err := d.read(ctx, o, r.run); err != nil {
		return err
	}
	if r.machine != nil && (!d.follows(r) || r.stale(&d)) {
		if err := c.execute(e, code{workflow: r.workflow}, func() error { r.reset(); return nil }); err != nil {
			return err
		}
		d = delta{}
		if err := d.read(ctx, o, r.run); err != nil {
			return err
		}
	}
	if r.machine == nil {
		if err := r.begin(o, &d.run); err != nil {
			return err
		}
	}
	return c.execute(e, code{workflow: r.workflow}, func() error {
		r.reusable, r.turn = false, d.turn()
		err := r.replay(&d, o.Journal.Now())
		if err == nil || errors.Is(err, replay.ErrNoHandler) {
			r.reusable = err == nil
			return err
		}
		return fmt.Errorf("the code does not fit the run: %w", err)
	})
}

// stale tells whether the machine has seen what is not, or not any more, the run's past.
// If it is ahead, any new event makes it stale, even one that a message of the inbox became: the
// owner may have given it another time or another place, and comparing would cost a replay anyway.
func (r *replica) stale(d *delta) bool {
	return d.run.Generation != r.generation || r.ahead && (d.turn() != r.turn || len(d.events) > 0)
}

func (r *replica) begin(o *Options, run *journal.Run) error {
	def, err := o.Find(run.Workflow, run.Version)
	if err != nil {
		return err
	}
	r.machine = replay.New(def, replay.InfoOf(run), o.Journal)
	r.machine.SetThresholds(o.Thresholds)
	r.generation, r.workflow = run.Generation, run.Workflow
	return nil
}

// replay shows the machine the events that are new to it, and then the messages, as the run's owner
// would now.
func (r *replica) replay(d *delta, now time.Time) error {
	m := r.machine
	if len(d.events) > 0 && d.events[0].Seq == 1 && d.events[0].Kind == journal.RunTerminated {
		return fmt.Errorf("%w: the run was terminated before its code began", replay.ErrNoHandler)
	}
	for i := range d.events {
		if err := m.Replay(&d.events[i]); err != nil {
			return err
		}
		r.head = journal.Head{Seq: d.events[i].Seq, Link: d.events[i].Link}
	}
	if d.run.Task == nil {
		return nil // a closed run consumes nothing more
	}
	if len(d.events) > 0 {
		if err := m.CheckOpen(); err != nil {
			return err
		}
	}
	if m.LastSeq() == 0 {
		if err := r.step(m.First(&d.run, now)); err != nil {
			return err
		}
	}
	cancel := slices.IndexFunc(d.messages, func(m journal.Message) bool { return m.Kind == journal.MessageCancel }) // at most one
	for i := range d.messages {
		msg := &d.messages[i]
		r.ahead, r.inbox = true, driver.Consumed{Number: msg.Number, Digest: msg.Digest()}
		if m.Finished() {
			continue
		}
		m.CancelFollows(i < cancel)
		ev, refusal := m.Offer(msg, msg.Time)
		if refusal != nil {
			continue
		}
		if err := r.step(ev); err != nil {
			return err
		}
	}
	return nil
}

// step shows the machine an event that is not stored. What the code asks for in return is dropped.
func (r *replica) step(ev journal.Event) error {
	r.ahead = true
	err := r.machine.Step(&ev)
	r.machine.Take()
	return err
}
