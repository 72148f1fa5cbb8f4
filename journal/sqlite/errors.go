package sqlite

import (
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Errors that tell what is wrong with a file.
var (
	// ErrNotDatabase says that a file is not a SQLite database.
	ErrNotDatabase = errors.New("file is not a SQLite database")
	// ErrDamaged says that a part of a file cannot be read any more. It is [journal.ErrDamaged].
	ErrDamaged = journal.ErrDamaged
	// ErrReadOnly refuses what would write to a store that was opened with Options.ReadOnly.
	ErrReadOnly = errors.New("the store was opened for reading alone")
)

var (
	errUserEnd = errors.New("the transaction of a step is committed and rolled back by the engine; return nil, or an error, from its body")
	errTxDone  = errors.New("transaction is over")
)

// LockedError says that another process has the file, or another store of this process. It says
// who, as far as the holder has written that down.
type LockedError struct {
	Path  string
	PID   int // 0 if the holder has not said
	Host  string
	Since time.Time
}

func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s is open in another process: one process at a time may have it", e.Path)
	}
	return fmt.Sprintf("%s is open in process %d on %s since %s: one process at a time may have it",
		e.Path, e.PID, e.Host, e.Since.Local().Format(time.DateTime))
}

// ForeignError says that a file is a database of another application, and by what it shows. Nothing
// was changed in it.
type ForeignError struct {
	Path          string
	ApplicationID int32  // 0 if it has none
	Table         string // one of its tables, if it has no id
}

func (e *ForeignError) Error() string {
	if e.ApplicationID != 0 {
		return fmt.Sprintf("%s belongs to another application: its application_id is %#x", e.Path, uint32(e.ApplicationID))
	}
	return fmt.Sprintf("%s holds tables of another application, such as %q: Options.Shared adds the journal's tables to them",
		e.Path, e.Table)
}

// codeOf returns the driver's extended result code, or 0 for another error.
func codeOf(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// unpreparedError is the error of a statement of this package that the file's tables do not fit, so
// that it cannot even be prepared. It is about no member, whatever it was called for.
type unpreparedError struct{ error }

// Unwrap returns what the driver said.
func (e unpreparedError) Unwrap() error { return e.error }

// translate maps what the driver says to the journal's errors, by result code, never by text, and
// names the file. A call that came back as unavailable may have happened or not: a COMMIT can fail
// after the log has reached the disk.
//
// Only an error about what the caller has sent, or about the rows that it names, is the caller's,
// see memberFault. Everything else is about the file, and passes when somebody has mended it. A run
// that was blocked for it would pay for what it has no part in. So codes that nobody has thought of
// are unavailable too.
func (s *Store) translate(err error) error {
	if tablesOff(err) {
		return lasting(s.path, "its tables were renamed, dropped or replaced, or lack a migration of this release: bring them back", err)
	}
	switch code := codeOf(err); {
	case code == 0, memberFault(err):
	case code&0xff == lib.SQLITE_NOTADB:
		return lasting(s.path, "it was overwritten: end this process, restore a backup and start it again", fmt.Errorf("%w: %w", ErrNotDatabase, err))
	case code&0xff == lib.SQLITE_CORRUPT:
		return lasting(s.path, "restore a backup", fmt.Errorf("%w: %w", ErrDamaged, err))
	}
	if err = translateAtOnce(s.path, err); codeOf(err) == 0 || memberFault(err) || errors.Is(err, journal.ErrUnavailable) {
		return err
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}

// lasting is the error about a file that will be the same with every repetition until somebody
// mends it.
func lasting(path, what string, err error) error {
	return fmt.Errorf("%w %w: %s: %w; %s", journal.ErrUnavailable, driver.ErrLasting, path, err, what)
}

// translateAtOnce is translate for callers who can mend what lasts and must hear of it at once: the
// program that opens a store.
func translateAtOnce(path string, err error) error {
	code := codeOf(err)
	if code == 0 {
		return err // of the journal
	}
	unavailable := func(what string) error {
		return fmt.Errorf("%w: %s: %s: %w", journal.ErrUnavailable, path, what, err)
	}
	if code == lib.SQLITE_IOERR_SHMSIZE { // what a full disk looks like to a file that is being opened
		return unavailable("the file beside it that ends with -shm cannot grow: perhaps the disk is full")
	}
	switch code & 0xff {
	case lib.SQLITE_FULL:
		return unavailable("the disk is full")
	case lib.SQLITE_READONLY:
		return lasting(path, "give this program the right to write the file, those beside it and its folder",
			fmt.Errorf("the file may not be written: %w", err))
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return unavailable("another program works on the file")
	case lib.SQLITE_IOERR:
		return unavailable("the file cannot be read or written")
	case lib.SQLITE_CANTOPEN, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		return unavailable("the file cannot be opened")
	case lib.SQLITE_NOMEM, lib.SQLITE_INTERRUPT, lib.SQLITE_ABORT:
		return unavailable("the call was given up")
	case lib.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w: %w", path, ErrNotDatabase, err)
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	case lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH:
		return fmt.Errorf("%w: %s: %w", journal.ErrInvalid, path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// memberFault tells errors of the driver over the content of one member of a batch: data,
// constraints, limits, a trigger of somebody's, and damage of a page. The transaction goes on after
// them, so the members can be told apart.
func memberFault(err error) bool {
	if _, off := errors.AsType[unpreparedError](err); off {
		return false
	}
	switch codeOf(err) & 0xff {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_CORRUPT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH, lib.SQLITE_ERROR:
		return true
	}
	return false
}

// tablesOff tells whether the file's tables are not those of this package.
func tablesOff(err error) bool {
	_, off := errors.AsType[unpreparedError](err)
	switch codeOf(err) & 0xff {
	case lib.SQLITE_ERROR:
		return off
	case lib.SQLITE_SCHEMA:
		return true
	}
	return false
}

// damaged tells whether a page cannot be read that a statement needs.
func damaged(err error) bool { return codeOf(err)&0xff == lib.SQLITE_CORRUPT && memberFault(err) }

// batchFault tells all other errors of the driver: they are about the file, such as a full disk,
// and nothing of the transaction is left.
func batchFault(err error) bool { return codeOf(err) != 0 && !memberFault(err) }
