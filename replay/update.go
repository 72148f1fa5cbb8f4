package replay

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/internal/coro"
)

// Update is a handler of calls from outside.
type Update struct {
	// Validate may refuse the argument before anything is stored. It only reads. Nil accepts
	// everything.
	Validate func(arg journal.Payload) error
	// Run answers, in a strand of its own.
	Run func(arg journal.Payload) (journal.Payload, error)
}

// updates has the handlers, and the updates that were accepted and have no reply.
type updates struct {
	handlers map[string]Update
	running  []journal.InboxSeq // in the order in which they came
	cond     Cond               // broadcast when one gets its reply
}

// HandleUpdate sets the handler of an update. A later one of the same name takes its place.
func (e *Env) HandleUpdate(name string, u Update) {
	if e.updates.handlers == nil {
		e.updates.handlers = make(map[string]Update)
	}
	e.updates.handlers[name] = u
}

// CheckUpdate returns why an update cannot be accepted now, nil if it can: what its validator
// returned, or that it panicked or ended its goroutine. It changes nothing.
//
// It is asked once, before the update's event. Replay does not ask again, because the event says
// that the update was accepted; so a validator may be changed, and may look at what only this node
// knows.
func (m *Machine) CheckUpdate(name string, arg journal.Payload) (err error) {
	e := &m.env
	u, ok := e.updates.handlers[name]
	switch {
	case e.err != nil:
		return e.err
	case m.Finished():
		return ErrFinished
	case !ok:
		return unhandled("update", name, e.updates.handlers)
	case len(e.updates.running) >= updatesMax:
		return fmt.Errorf("%d updates of the run were accepted and have no answer yet, which is the limit", updatesMax)
	case u.Validate == nil:
		return nil
	}
	// In a coroutine: the validator must not end the goroutine of the run.
	validate := coro.New(func() {
		refused := e.ReadOnly(func() { err = u.Validate(arg) })
		err = orRefused(err, refused)
	})
	if _, crash := validate.Resume(); crash != nil {
		err = crashed("validator of update "+strconv.Quote(name), crash.Value, crash.PCs, crash.Stack)
	}
	return err
}

// UpdatesRunning is the number of updates without a reply.
func (e *Env) UpdatesRunning() int { return len(e.updates.running) }

// UpdatesCond is broadcast when an update gets its reply.
func (e *Env) UpdatesCond() *Cond { return &e.updates.cond }

// update runs the handler of an accepted update. A handler that is missing now was there when the
// update was accepted, so the code has changed in a way that does not fit.
func (e *Env) update(ev *journal.Event) {
	u, ok := e.updates.handlers[ev.Name]
	if !ok {
		e.diverge(describe(ev), "no handler of it")
		return
	}
	number, arg := ev.Inbox, ev.Payload
	e.updates.running = append(e.updates.running, number)
	s := e.strands.spawn(func() {
		out, err := u.Run(arg)
		e.reply(number, out, err)
	})
	s.answers = true
}

// Answering tells whether the running strand is that of an update's handler.
func (e *Env) Answering() bool {
	s := e.running.Load()
	return s != nil && s.answers
}

// reply answers an update. Its result is not compared on replay: the caller has had it since the
// first time.
func (e *Env) reply(number journal.InboxSeq, out journal.Payload, err error) {
	if e.unwinding {
		return
	}
	if err != nil {
		out = journal.EncodeFailure(FailureOf(err))
	}
	e.issueUnanswered(journal.Issued{Kind: journal.CommandReply, Detail: strconv.FormatInt(int64(number), 10)})
	if !e.replaying {
		e.out.replies = append(e.out.replies, journal.Reply{Number: number, Payload: out})
	}
	e.updates.running = slices.DeleteFunc(e.updates.running, func(n journal.InboxSeq) bool { return n == number })
	e.Broadcast(&e.updates.cond)
}
