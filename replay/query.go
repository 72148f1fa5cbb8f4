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
)

// ErrNoHandler says that the run answers no query or update of that name.
var ErrNoHandler = errors.New("no handler")

// Query answers a question about the run. It only reads.
type Query func(arg journal.Payload) (journal.Payload, error)

// HandleQuery sets the handler of a query. A later one of the same name takes its place.
func (e *Env) HandleQuery(name string, q Query) {
	if e.queries == nil {
		e.queries = make(map[string]Query)
	}
	e.queries[name] = q
}

// Query answers a question while the machine is at rest, also after the code has returned. It
// changes nothing. A panic of the handler is an error, and so is what it asked for, even if it
// drops the refusal. A dead machine returns why it is dead; one that has run ahead of the history
// returns an [UndecidedError] for what depends on what nobody knows yet, see [Foresee].
//
// The handler runs on the caller's goroutine, so one that calls runtime.Goexit ends it.
func (m *Machine) Query(name string, arg journal.Payload) (answer journal.Payload, err error) {
	if m.env.err != nil {
		return journal.Payload{}, m.env.err
	}
	q := m.env.queries[name]
	if q == nil {
		return journal.Payload{}, unhandled("query", name, m.env.queries)
	}
	m.env.foresight.puzzle = nil
	refused := m.env.ReadOnly(func() {
		defer func() {
			if p := recover(); p != nil {
				err = panicked("query "+strconv.Quote(name), p)
			}
		}()
		answer, err = q(arg)
	})
	if err = orRefused(err, refused); m.env.foresight.puzzle != nil {
		err = m.env.foresight.puzzle
	}
	return answer, err
}

// unhandled is ErrNoHandler with the names that the run has.
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
