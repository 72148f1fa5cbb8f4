package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// query brings the replica up to what is stored now and asks the handler.
//
// What waits is foreseen up to a message, at first all that had been acknowledged. If that ends
// with what nobody knows yet, the run gets time to go on. If it does not, and also after a message
// on which the code fails, the query begins anew and stops before that message. Code that fails on
// an event is asked for the state before that, and the error says so: see [BehindError].
func (r *replica) query(
	ctx context.Context, c *Cache, e *execution, name string, arg journal.Payload,
) (journal.Payload, error) {
	var end journal.InboxSeq // the first message that is not foreseen; 0 before the first look
	p := newPatience(ctx)
	for {
		d, err := r.advance(ctx, c, e, end)
		if err != nil {
			return r.before(ctx, c, e, err, question{name, arg})
		}
		end = d.end
		if r.owed(&d) && p.left(r, &d) {
			if err := p.pause(ctx); err != nil {
				return journal.Payload{}, err
			}
			continue
		}
		answer, stop, err := r.answer(ctx, c, e, &d, question{name, arg})
		if err == nil {
			return answer, nil
		}
		if _, undecided := errors.AsType[*replay.UndecidedError](err); undecided && p.left(r, &d) {
			if err := p.pause(ctx); err != nil {
				return journal.Payload{}, err
			}
		} else if end = stop; stop == 0 {
			return answer, err
		}
		if err := r.renew(c, e); err != nil {
			return journal.Payload{}, err
		}
	}
}

// advance reads what is new, up to the message end, and shows the events to the machine.
func (r *replica) advance(ctx context.Context, c *Cache, e *execution, end journal.InboxSeq) (d delta, err error) {
	o := &c.o
	r.reusable = r.machine != nil                                                     // if the store cannot be read, nothing is lost
	d = delta{after: max(r.head.Seq-1, 0), inbox: max(r.inbox.Number-1, 0), end: end} // the last ones again
	if err := d.read(ctx, o, r.run); err != nil {
		return d, err
	}
	if r.machine != nil && (!d.follows(r) || r.stale(&d)) {
		if err := r.renew(c, e); err != nil {
			return d, err
		}
		d = delta{end: d.end}
		if err := d.read(ctx, o, r.run); err != nil {
			return d, err
		}
	}
	if r.machine == nil {
		if err := r.begin(o, &d.run); err != nil {
			return d, err
		}
		r.generation = d.run.Generation
	}
	return d, c.execute(e, code{workflow: r.workflow}, func() error {
		r.reusable, r.turn = false, d.turn()
		err := r.replay(&d)
		r.reusable = err == nil
		return explained(err)
	})
}

// stale tells whether the machine has seen what is not, or not any more, the run's past, or does
// not know how long the run's timers stood still. If it is ahead, any new event makes it stale,
// even one that a message of the inbox became: the owner may have given it another time or another
// place, and comparing would cost a replay anyway.
func (r *replica) stale(d *delta) bool {
	return d.run.Generation != r.generation || r.ahead && (d.turn() != r.turn || len(d.events) > 0) ||
		!d.run.Freezes.Equal(replay.Freezes(r.machine))
}

// replay shows the machine the events that are new to it.
func (r *replica) replay(d *delta) error {
	m := r.machine
	if len(d.events) > 0 && d.events[0].Seq == 1 && d.events[0].ByStore() {
		return fmt.Errorf("%w: the run was closed before its code began", replay.ErrNoHandler)
	}
	for i := range d.events {
		if err := m.Replay(&d.events[i]); err != nil {
			return unfit(d.events[i].Seq, err)
		}
		r.head = journal.Head{Seq: d.events[i].Seq, Link: d.events[i].Link}
	}
	if d.run.Task != nil && len(d.events) > 0 {
		return unfit(r.head.Seq, m.CheckOpen())
	}
	return nil
}

// question is what a handler is asked.
type question struct {
	name string
	arg  journal.Payload
}

// answer foresees what waits before d.end, and asks the handler. After an error stop is the message
// before which the code must stop to have an answer, 0 for none.
func (r *replica) answer(
	ctx context.Context, c *Cache, e *execution, d *delta, q question,
) (answer journal.Payload, stop journal.InboxSeq, err error) {
	err = c.execute(e, code{workflow: r.workflow}, func() (err error) {
		r.reusable = false
		stop, err = r.foresee(&c.o, d)
		r.reusable = err == nil
		return err
	})
	if err == nil {
		err = ctx.Err() // then nobody waits for the answer
	}
	if err != nil {
		return answer, stop, err
	}
	err = c.execute(e, code{r.workflow, q.name}, func() (err error) {
		r.reusable = false // a handler that panics, or ends its goroutine, may leave anything behind
		answer, err = r.machine.Query(q.name, q.arg)
		r.reusable = err == nil || errors.Is(err, replay.ErrNoHandler)
		return err
	})
	if _, undecided := errors.AsType[*replay.UndecidedError](err); undecided && d.end > 1 {
		stop = 1 // it has asked for the time: that of the newest event is known
	}
	return answer, stop, err
}
