package runtime

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Query asks a run a question. The node replays the run's history, and what waits in its inbox, with its own code and calls the
// handler: it need not run, nor own the run. The answer is as new as the last message that was acknowledged before. The run
// may be open, parked, blocked on something else, or closed; it is not touched, and nothing is written.
//
// Errors: journal.ErrNotFound; [ErrNotRegistered], with the workflow and version that it takes; replay.ErrNoHandler, with
// the names that the run has; what the handler returned, or that it panicked; that the code does not fit the history
// (*replay.DivergenceError) or failed on it (*replay.PanicError).
func Query[Arg, Res any](ctx context.Context, n *Node, run journal.RunID, q workflow.Query[Arg, Res], arg Arg) (Res, error) {
	var res Res
	p, err := n.j.Encode("argument", arg)
	if err == nil {
		p, err = n.query(ctx, run, string(q), p)
	}
	if err == nil {
		err = n.j.Codec().Decode(p, &res)
	}
	if err != nil {
		return res, fmt.Errorf("query %s of run %s: %w", q, run, err)
	}
	return res, nil
}

// query answers with the view of the run, which one query at a time uses.
func (n *Node) query(ctx context.Context, run journal.RunID, name string, arg journal.Payload) (journal.Payload, error) {
	v := n.views.take(run)
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		n.views.give(v)
		return journal.Payload{}, ctx.Err()
	}
	type reply struct {
		answer journal.Payload
		err    error
	}
	replies := make(chan reply, 1)
	go func() { // workflow code may go on for longer than ctx
		r := reply{err: errors.New("the handler ended its goroutine")}
		defer func() {
			if r.err != nil && !v.fits {
				v.reset()
			}
			<-v.turn
			n.views.give(v)
			replies <- r
		}()
		if err := v.advance(ctx, n); err != nil {
			r.err = err
			return
		}
		v.fits = false // a handler that panics may leave anything behind
		r.answer, r.err = v.machine.Query(name, arg)
		v.fits = r.err == nil || errors.Is(r.err, replay.ErrNoHandler)
	}()
	select {
	case r := <-replies:
		return r.answer, r.err
	case <-ctx.Done():
		return journal.Payload{}, ctx.Err()
	}
}

// view is a machine that has seen the history of a run and, after it, the messages that wait. It is kept for a while, because
// what comes next is mostly another query or a few events more.
type view struct {
	run   journal.RunID
	turn  chan struct{} // held by the query that uses the view
	users int           // guarded by the mutex of views
	age   uint64        // guarded by the mutex of views: when it was last used

	machine    *replay.Machine // nil before the first query
	fits       bool            // the machine is good for another query
	generation journal.Generation
	seq        journal.Seq // of the last event of the history
	// What the machine has seen beyond the history: it must be given up when the run has moved on.
	ahead bool
	inbox journal.InboxSeq // newest message seen
	moved journal.Turn     // turns of the run when it was seen; -1 for a closed one
}

func (v *view) reset() {
	if v.machine != nil {
		v.machine.Close()
	}
	v.machine, v.fits, v.ahead, v.generation, v.seq, v.inbox, v.moved = nil, false, false, 0, 0, 0, 0
}

// advance brings the view up to what is stored now.
func (v *view) advance(ctx context.Context, n *Node) error {
	v.fits = v.machine != nil
	p := past{after: v.seq, inbox: v.inbox}
	if err := p.read(ctx, n.client, v.run); err != nil {
		return err
	}
	if v.machine != nil && v.stale(&p) {
		v.reset()
		p = past{}
		if err := p.read(ctx, n.client, v.run); err != nil {
			return err
		}
	}
	v.fits = false
	if v.machine == nil {
		if err := v.begin(n, &p.run); err != nil {
			return err
		}
	}
	v.moved = p.turn()
	err := v.replay(&p, n.j.Now())
	if err == nil || errors.Is(err, replay.ErrNoHandler) {
		v.fits = err == nil
		return err
	}
	return fmt.Errorf("the code does not fit the run: %w", err)
}

// stale tells whether the machine has seen what is not, or no longer, the run's past.
func (v *view) stale(p *past) bool {
	return p.run.Generation != v.generation || v.ahead && (p.turn() != v.moved || len(p.events) > 0)
}

func (v *view) begin(n *Node, run *journal.Run) error {
	def, err := n.registry.find(run.Workflow, run.Version)
	if err != nil {
		return err
	}
	v.machine = replay.New(def, replay.InfoOf(run), n.j)
	v.machine.SetThresholds(n.o.thresholds())
	v.generation = run.Generation
	return nil
}

// replay shows the machine events that are new to it, and then, as the owner of the run would now, what waits for it.
func (v *view) replay(p *past, now time.Time) error {
	m := v.machine
	if len(p.events) > 0 && p.events[0].Seq == 1 && p.events[0].Kind == journal.RunTerminated {
		return fmt.Errorf("%w: the run was terminated before its code began", replay.ErrNoHandler)
	}
	for i := range p.events {
		if err := m.Replay(&p.events[i]); err != nil {
			return err
		}
		v.seq = p.events[i].Seq
	}
	if p.run.Task == nil {
		return nil
	}
	if m.LastSeq() == 0 {
		if err := v.step(m.First(&p.run, now)); err != nil {
			return err
		}
	}
	for i := range p.messages {
		msg := p.messages[i]
		v.ahead, v.inbox = true, msg.Number
		if m.Finished() {
			continue
		}
		ev, refusal := m.Offer(&msg, msg.Time)
		if refusal != nil {
			continue // so will its owner
		}
		if err := v.step(ev); err != nil {
			return err
		}
	}
	return nil
}

// step shows the machine an event that is not stored. What the code asks for in return is dropped.
func (v *view) step(ev journal.Event) error {
	v.ahead = true
	err := v.machine.Step(&ev)
	v.machine.Take()
	return err
}

// past is what is stored of a run behind an event and a message, as of one moment.
type past struct {
	after journal.Seq
	inbox journal.InboxSeq

	run      journal.Run
	events   []journal.Event
	messages []journal.Message
}

// turn tells states of the run apart; -1 is the closed one.
func (p *past) turn() journal.Turn {
	if p.run.Task == nil {
		return -1
	}
	return p.run.Task.Turn
}

// read fills p. A run that goes on meanwhile is read again from where it stands.
func (p *past) read(ctx context.Context, c *Client, run journal.RunID) error {
	after, inbox := p.after, p.inbox
	for first := true; ; first = false {
		h, err := c.load(ctx, journal.LoadRequest{Run: run, AfterSeq: after, AfterInbox: inbox, Limit: historyPage})
		if err != nil {
			return err
		}
		if !first && h.Run.Generation != p.run.Generation {
			after, inbox, p.after, p.events, p.messages = 0, 0, 0, nil, nil
			p.run = h.Run
			continue
		}
		p.run = h.Run
		if len(h.Events) > 0 {
			p.events = append(p.events, h.Events...)
			after = h.Events[len(h.Events)-1].Seq
			if len(p.messages) > 0 || len(h.Events) == historyPage {
				p.messages, inbox = nil, p.inbox // those events may have consumed some
				continue
			}
		}
		p.messages = append(p.messages, h.Inbox...)
		if h.Run.Task == nil || len(h.Inbox) == 0 {
			return nil
		}
		if inbox = h.Inbox[len(h.Inbox)-1].Number; inbox >= h.Run.Task.InboxLast {
			return nil
		}
	}
}
