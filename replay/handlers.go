package replay

import (
	"errors"
	"fmt"
	"maps"
	goruntime "runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/internal/coro"
)

// ErrNoHandler says that the run answers no query or update of that name.
var ErrNoHandler = errors.New("no handler")

// Query answers a question about the run. It only reads.
type Query func(arg journal.Payload) (journal.Payload, error)

// HandleQuery sets the handler of a query. A later one of the same name takes its place.
func (m *Machine) HandleQuery(name string, q Query) {
	if m.queries == nil {
		m.queries = make(map[string]Query)
	}
	m.queries[name] = q
}

// Query answers a question while the machine is at rest, also after the code has returned. It changes nothing. A panic of
// the handler is an error. A dead machine returns why it is dead.
func (m *Machine) Query(name string, arg journal.Payload) (answer journal.Payload, err error) {
	if m.err != nil {
		return journal.Payload{}, m.err
	}
	q := m.queries[name]
	if q == nil {
		return journal.Payload{}, unhandled("query", name, m.queries)
	}
	m.ReadOnly(func() {
		defer func() {
			if p := recover(); p != nil {
				err = panicked("query "+strconv.Quote(name), p)
			}
		}()
		answer, err = q(arg)
	})
	return answer, err
}

func unhandled[H any](what, name string, known map[string]H) error {
	if len(known) == 0 {
		return fmt.Errorf("%s %q: %w: the run has none", what, name, ErrNoHandler)
	}
	names := slices.Sorted(maps.Keys(known))
	return fmt.Errorf("%s %q: %w: the run has %s", what, name, ErrNoHandler, strings.Join(names, ", "))
}

// panicked is for the deferred function that recovered from a panic of user code.
func panicked(what string, value any) *PanicError {
	var pcs [256]uintptr
	return crashed(what, value, pcs[:goruntime.Callers(2, pcs[:])], debug.Stack())
}

// Update is a handler of calls from outside.
type Update struct {
	// Validate may refuse the argument before anything is stored. It only reads. Nil accepts everything.
	Validate func(arg journal.Payload) error
	// Run answers, in a strand of its own.
	Run func(arg journal.Payload) (journal.Payload, error)
}

type updates struct {
	handlers map[string]Update
	running  []journal.InboxSeq // without a reply, in order
	gate     Gate               // opens when one ends
}

// HandleUpdate sets the handler of an update. A later one of the same name takes its place.
func (m *Machine) HandleUpdate(name string, u Update) {
	if m.updates.handlers == nil {
		m.updates.handlers = make(map[string]Update)
	}
	m.updates.handlers[name] = u
}

// CheckUpdate returns why an update cannot be accepted now, nil if it can: what its validator returned, or that it panicked or
// ended its goroutine. It changes nothing.
func (m *Machine) CheckUpdate(name string, arg journal.Payload) (err error) {
	u, ok := m.updates.handlers[name]
	switch {
	case m.err != nil:
		return m.err
	case m.Finished():
		return ErrFinished
	case !ok:
		return unhandled("update", name, m.updates.handlers)
	case u.Validate == nil:
		return nil
	}
	m.ReadOnly(func() { // in a coroutine: it must not end the goroutine of the run
		if _, crash := coro.New(func() { err = u.Validate(arg) }).Resume(); crash != nil {
			err = crashed("validator of update "+strconv.Quote(name), crash.Value, crash.PCs, crash.Stack)
		}
	})
	return err
}

// UpdatesRunning is the number of updates without a reply.
func (m *Machine) UpdatesRunning() int { return len(m.updates.running) }

// UpdatesGate opens when an update gets its reply.
func (m *Machine) UpdatesGate() *Gate { return &m.updates.gate }

// update runs the handler of an accepted update.
func (m *Machine) update(ev *journal.Event) {
	u, ok := m.updates.handlers[ev.Name]
	if !ok {
		m.diverge(describe(ev), "no handler of it")
		return
	}
	number, arg := ev.Inbox, ev.Payload
	m.updates.running = append(m.updates.running, number)
	s := m.strands.spawn(func() {
		out, err := u.Run(arg)
		m.reply(number, out, err)
	})
	s.answers = true
}

// Answering tells whether the running strand is that of an update's handler.
func (m *Machine) Answering() bool {
	s := m.running.Load()
	return s != nil && s.answers
}

// reply answers an update.
func (m *Machine) reply(number journal.InboxSeq, out journal.Payload, err error) {
	if m.unwinding {
		return
	}
	if err != nil {
		out = journal.EncodeFailure(FailureOf(err))
	}
	m.issue(journal.Issued{Kind: journal.CommandReply, Detail: strconv.FormatInt(int64(number), 10)})
	m.open.add(nil)
	m.onlySteps = false
	if !m.replaying {
		m.replies = append(m.replies, journal.Reply{Number: number, Payload: out})
	}
	m.updates.running = slices.DeleteFunc(m.updates.running, func(n journal.InboxSeq) bool { return n == number })
	m.Open(&m.updates.gate)
}
