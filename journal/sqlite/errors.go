package sqlite

import (
	"errors"
	"fmt"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/reprise-run/reprise/journal"
)

// Errors that tell what is wrong with a file.
var (
	// ErrNotDatabase says that a file is not a SQLite database.
	ErrNotDatabase = errors.New("file is not a SQLite database")
	// ErrDamaged says that a part of a file cannot be read any more.
	ErrDamaged = errors.New("database file is damaged")
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

// translate maps what the driver says to the journal's errors, by result code, never by text, and
// names the file. A call that came back as unavailable may have happened or not: a COMMIT can fail
// after the log has reached the disk.
func (s *Store) translate(err error) error { return translate(s.path, err) }

func translate(path string, err error) error {
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
		return unavailable("the file may not be written")
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return unavailable("another program works on the file")
	case lib.SQLITE_IOERR:
		return unavailable("the file cannot be read or written")
	case lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return unavailable("the file cannot be opened")
	case lib.SQLITE_NOMEM, lib.SQLITE_INTERRUPT, lib.SQLITE_ABORT:
		return unavailable("the call was given up")
	case lib.SQLITE_NOTADB:
		return fmt.Errorf("%s: %w: %w", path, ErrNotDatabase, err)
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	case lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH, lib.SQLITE_RANGE:
		return fmt.Errorf("%w: %s: %w", journal.ErrInvalid, path, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// memberFault tells errors of the driver over the content of one member of a batch: data,
// constraints, limits, a trigger of somebody's, and damage of a page. The transaction goes on after
// them, so the members can be told apart.
func memberFault(err error) bool {
	switch codeOf(err) & 0xff {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_CORRUPT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH, lib.SQLITE_ERROR:
		return true
	}
	return false
}

// batchFault tells all other errors of the driver: they are about the file, such as a full disk,
// and nothing of the transaction is left.
func batchFault(err error) bool { return codeOf(err) != 0 && !memberFault(err) }
