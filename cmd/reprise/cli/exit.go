package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/migrations"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/flows"
	"github.com/reprise-run/reprise/ui/record"
)

// The exit codes. Scripts may branch on them.
const (
	ExitDone     = 0
	ExitFailed   = 1 // for another reason than those below
	ExitUsage    = 2 // the command line is wrong, or what it names cannot be stored; nothing was done
	ExitNotFound = 3 // no such run, node, value
	ExitRefused  = 4 // the run's state does not allow it: it is closed, open, blocked, or rejects an update
	ExitTimeout  = 5 // --timeout was over; what was sent may take effect
	ExitWarnings = 6 // doctor has found something that is no error yet
)

// ExitCode is the exit code for the error of a verb, ExitDone for nil.
func ExitCode(err error) int {
	coded := new(codedError)
	conflict, full := new(journal.KeyConflictError), new(journal.LimitFullError)
	is := func(targets ...error) bool {
		for _, t := range targets {
			if errors.Is(err, t) {
				return true
			}
		}
		return false
	}
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &coded):
		return coded.code
	case is(journal.ErrNotFound, journal.ErrNoNode, journal.ErrNoView, journal.ErrNoLimit, journal.ErrNoClaim, runtime.ErrNotPublished, flows.ErrNoShape):
		return ExitNotFound
	case is(journal.ErrClosed, journal.ErrOpen, runtime.ErrRejected, runtime.ErrAborted, runtime.ErrBlocked, runtime.ErrPaused), errors.As(err, &conflict), errors.As(err, &full):
		return ExitRefused
	case is(context.DeadlineExceeded):
		return ExitTimeout
	case is(journal.ErrInvalid):
		return ExitUsage
	}
	return ExitFailed
}

// codedError is an error with an exit code of its own, and what to do about it.
type codedError struct {
	code  int
	text  string
	how   string // to go on; may be empty
	cause error  // that the text does not show; may be nil
}

func (e *codedError) Error() string { return e.text }

func (e *codedError) Unwrap() error { return e.cause }

// usage is a wrong command line.
func usage(c *cobra.Command, format string, args ...any) error {
	return &codedError{code: ExitUsage, text: fmt.Sprintf(format, args...), how: fmt.Sprintf("see %s --help", c.CommandPath())}
}

// failed is an error that says what to do.
func failed(code int, how, format string, args ...any) error {
	return &codedError{code: code, text: fmt.Sprintf(format, args...), how: how}
}

// explain is an error for people: what went wrong, and in a second line how to go on.
func explain(err error) string {
	text := record.NamedOnce(strings.TrimSpace(clean(err.Error())))
	if how := remedy(err); how != "" {
		text += "\n  " + how
	}
	return text
}

// remedy is how to go on after an error, empty if nobody can say.
func remedy(err error) string {
	coded, locked := new(codedError), new(sqlite.LockedError)
	newer, changed := new(migrations.NewerError), new(migrations.ChecksumError)
	other := new(bulk.KeyError)
	switch {
	case errors.As(err, &coded):
		return coded.how
	case errors.As(err, &other):
		return fmt.Sprintf("nothing was done; choose another --key, or leave it out. bulk watch %s shows the job that has it", other.Run)
	case errors.As(err, &locked):
		return "a SQLite file has one writer: do this through that program, or stop it first; verbs that read work meanwhile"
	case errors.As(err, &newer):
		return "install the release of reprise that the programs of this database have"
	case errors.As(err, &changed):
		return "the tables are those of another build; see \"A store does not open\" in docs/when-it-is-slow.md"
	case errors.Is(err, os.ErrNotExist):
		return "look at --store; migrate up makes a new file"
	case errors.Is(err, runtime.ErrNotPublished):
		return "run published RUN lists what the run has published"
	case errors.Is(err, journal.ErrNoNode):
		return "node list shows the nodes there are"
	case errors.Is(err, journal.ErrNoView):
		return "view list shows the views there are"
	case errors.Is(err, journal.ErrNoLimit):
		return "limit list shows the limits there are"
	case errors.Is(err, journal.ErrNoClaim):
		return "limit show LIMIT shows who holds a limit, and who waits"
	case errors.Is(err, journal.ErrNotFound):
		return "run list shows the runs there are"
	case errors.Is(err, runtime.ErrBlocked):
		return "run why RUN says what blocks it; what was sent waits in its inbox"
	case errors.Is(err, runtime.ErrPaused):
		return "nothing was sent; run resume, queue resume or workflow resume lets it go on, and without --refuse-paused it waits for that"
	case errors.Is(err, journal.ErrOpen):
		return "terminate the run first, or let it end"
	case errors.Is(err, journal.ErrClosed):
		return "run show RUN says how it ended"
	case errors.Is(err, context.DeadlineExceeded):
		return "raise --timeout; what was sent may have taken effect: the same --key finds out"
	case errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, driver.ErrLasting): // which says what to do
		return "is the server up, and --store right?"
	}
	return ""
}
