package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

var (
	errUserCommit = errors.New("the transaction of a step is committed and rolled back by the engine; return nil, or an error, from its body")
)

// translate maps what the driver says of a call to the journal's errors, by SQLSTATE and the state
// of the connection, never by text. lost says that the connection is gone: nothing is known about
// the call then, it may have happened or not, which is what ErrUnavailable means. The original
// error stays in the chain for logs.
//
// Only an error about what the caller has sent is the caller's, see aboutData: it would come back
// with every repetition. Everything else is about the database, and passes when somebody has mended
// it: rights that are missing for a moment, a schema that is being restored, a limit of the server.
// A run that was blocked for it, or a step that was executed again, would pay for what it has no
// part in. So codes that nobody has thought of are unavailable too, and the outage is logged.
//
// A caller whose context has ended gets the cause of that: what the server said last is only how
// the end came about.
func translate(ctx context.Context, err error, lost bool) error {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || ctx.Err() != nil || !lost && aboutData(pe) {
		return translateAtOnce(ctx, err, lost)
	}
	if what := remedy(pe.Code); what != "" && !lost {
		return fmt.Errorf("%w %w: %w%s", journal.ErrUnavailable, driver.ErrLasting, err, what)
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}

// translateAtOnce is translate for callers who can mend what lasts and must hear of it at once: the
// program that opens a store, and a transaction of the caller's, which has failed as a whole
// whatever it was.
func translateAtOnce(ctx context.Context, err error, lost bool) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if lost {
			return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
		}
		return err // of the journal, or the driver refused to send something
	}
	switch {
	case passes(pe.Code):
		return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
	case pe.Code[:2] == "22" || pe.Code[:2] == "54": // data exceptions, program limits
		return fmt.Errorf("%w: %w", journal.ErrInvalid, err)
	case pe.Code == damagedData:
		return fmt.Errorf("%w: %w%s", journal.ErrDamaged, err, remedy(pe.Code))
	}
	return fmt.Errorf("%w%s", err, remedy(pe.Code))
}

// aboutData tells errors that the server may have raised over what a call has sent, or over the
// rows that it names: data (22), constraints (23), limits of a statement (54), a trigger of
// somebody's (P0), and damage of a row or a page (XX). One that ends the session is about more than
// that.
func aboutData(pe *pgconn.PgError) bool {
	if pe.Severity == "FATAL" || pe.Severity == "PANIC" {
		return false
	}
	switch pe.Code[:2] {
	case "22", "23", "54", "P0", "XX":
		return true
	}
	return false
}

// remedy is what to do about a state that lasts until somebody does something, behind the server's
// own words.
func remedy(code string) string {
	switch code {
	case noRight:
		return "; grant it to the role of this program, see Grants in docs/operating-postgres.md"
	case undefinedTable, "3F000", "42703", "42704", "42883":
		return "; the schema was renamed, dropped or is being restored, or lacks a migration of this release: bring it back, or run reprise migrate"
	case "3D000":
		return "; the database was dropped or renamed, or is being restored: bring it back"
	case damagedData:
		return "; see Damaged data in docs/operating-postgres.md"
	}
	return ""
}

// unsent is translate for what failed before a statement was sent: a connection that could not be
// had, or whose session could not begin. Nothing has happened, and the refusal is of this
// connection, not of what the caller wanted: a password is being changed, a database restored, a
// server full. So the caller may ask again, whatever the server says, unless the store is closed.
func unsent(ctx context.Context, s *Store, err error) error {
	switch {
	case s.hints.ctx.Err() != nil:
		return fmt.Errorf("%w: %w", journal.ErrStoreClosed, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}

// spent tells errors after which a session is of no use, although it may be open: the server
// became a standby, or it is being shut down, or the session is ended by an administrator, or its
// prepared statements are gone (DEALLOCATE in the body of a step), or are about tables that have
// changed since, which the driver does not know.
func spent(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (readOnly(err) || pe.Code[:2] == "08" || pe.Code[:2] == "57" && pe.Code != "57014" ||
		pe.Code == noStatement || pe.Code == staleStatement)
}

// noStatement is the code for a prepared statement that the session does not have.
const noStatement = "26000"

// staleStatement is the code for a prepared statement whose tables have other columns by now, and
// for features that the server has not.
const staleStatement = "0A000"

// damagedData is the code for a page or a value that cannot be read back. It is about the rows that
// are there, and about nobody else's.
const damagedData = "XX001"

// noRight is the code for a right that the role does not have.
const noRight = "42501"

// undefinedTable is the code for a table, or its schema, that is not there.
const undefinedTable = "42P01"

// readOnly tells whether the session is one of a server or a database that only reads.
func readOnly(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "25006"
}

// passes lists the states that a server leaves by itself, or another server in its place is not in.
// All others last until somebody mends something.
func passes(code string) bool {
	switch code[:2] {
	case "08", "53", "58": // connection, resources, system
		return true
	}
	switch code {
	case "57P01", "57P02", "57P03", "57P05", // the server or the session is ended, or starting up
		"57014",          // cancelled: by an administrator or a statement timeout, since ctx is alive
		"25006",          // read-only: a standby
		noStatement,      // others have it
		"40001", "40P01", // after the tries inside
		"40003",          // completion unknown
		"55P03", "25P03": // lock timeout, idle in transaction
		return true
	}
	return false
}

// lasts tells whether a server has answered and will give the same answer again, unless somebody
// mends something: for calls that nobody waits for, and that are not worth more tries then.
func lasts(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && !passes(pe.Code)
}

// conflict tells the errors after which the same statements may be repeated at once: a deadlock or
// a serialization failure whose victim was this transaction, or a task that appeared. It is rolled
// back as a whole, so repeating it is safe.
func conflict(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pe.Code == "40001" || pe.Code == "40P01" || appeared(err))
}

// appeared tells whether the start of a message's run was committed between the statement that
// locks tasks and the one that sends: the first saw no task, so nothing was locked, and the second
// gave out a number, or a key, that another sender had taken meanwhile (J5). The next try locks it.
func appeared(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "23505" && (pe.ConstraintName == "inbox_pkey" || pe.ConstraintName == "inbox_key_idx")
}

// duplicateEvent tells whether an event's primary key exists already (J1): the turn was built on a
// history that is not the stored one.
func duplicateEvent(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "23505" && pe.ConstraintName == "events_pkey"
}
