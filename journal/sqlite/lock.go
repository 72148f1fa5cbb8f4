package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// fileLock keeps a second process away from a database. All that this driver does without locks of
// its own, from the leases in memory to the statements that look before they write, rests on it.
//
// It is a lock of the operating system on a file beside the database, so it ends with the process,
// however that ends: whoever gets it next knows that the earlier holder is dead. The lock file
// itself stays, because removing it would let two processes lock two files of one name. It is not
// the database, because SQLite's own locks on that are released whenever any descriptor of the file
// is closed in the process.
type fileLock struct{ f *os.File }

// lockSuffix names the lock file after the database.
const lockSuffix = "-lock"

// holderNote is what the holder of a lock writes into its file, for the error of the others. Nobody
// decides anything by it.
type holderNote struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

// errLocked is what tryLock returns if somebody else has the lock.
var errLocked = errors.New("lock is taken")

// lockFile takes the lock. It waits a moment for a holder that is just being replaced: a process
// that was killed while it started another one leaves the descriptor to that one until it has
// begun.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	f, err := os.OpenFile(path+lockSuffix, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: its lock file cannot be written: %w", journal.ErrUnavailable, path, err)
	}
	err = tryLock(f)
	for deadline := time.Now().Add(lockPatience); errors.Is(err, errLocked) && time.Now().Before(deadline) && ctx.Err() == nil; {
		time.Sleep(lockPause)
		err = tryLock(f)
	}
	if errors.Is(err, errLocked) {
		err = lockedBy(path, f)
	} else if err != nil {
		err = fmt.Errorf("%w: %s: lock: %w", journal.ErrUnavailable, path, err)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	l := &fileLock{f}
	if err := l.writeHolder(); err != nil {
		l.release()
		return nil, fmt.Errorf("%w: %s: its lock file cannot be written: %w", journal.ErrUnavailable, path, err)
	}
	return l, nil
}

// writeHolder says who holds the lock. A full disk is no reason not to hold it.
func (l *fileLock) writeHolder() error {
	host, _ := os.Hostname()
	note, err := json.Marshal(holderNote{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	if err := l.f.Truncate(0); err != nil {
		return err
	}
	_, _ = l.f.WriteAt(append(note, '\n'), 0)
	return nil
}

// lockHeld tells whether a process has the file. It takes the lock for a moment, shared, so two who
// ask do not see each other; who opens the file meanwhile waits longer than that, see lockPatience.
func lockHeld(path string) (bool, error) {
	f, err := os.Open(path + lockSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // nobody has ever had the file
	}
	if err != nil {
		return false, fmt.Errorf("%w: %s: its lock file cannot be read: %w", journal.ErrUnavailable, path, err)
	}
	defer f.Close()
	err = tryShared(f)
	if errors.Is(err, errLocked) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: %s: lock: %w", journal.ErrUnavailable, path, err)
	}
	return false, unlock(f)
}

// lockedBy returns the error for a taken lock, with what the holder wrote. The holder may be
// writing at this moment, then the error says less.
func lockedBy(path string, f *os.File) error {
	e := &LockedError{Path: path}
	text, err := io.ReadAll(io.LimitReader(f, 4<<10))
	var note holderNote
	if err == nil && json.Unmarshal(text, &note) == nil {
		e.PID, e.Host, e.Since = note.PID, note.Host, note.Since
	}
	return e
}

// release unlocks before it closes: a process that is just being started by this one has the file
// open for a moment, too, and would keep the lock.
func (l *fileLock) release() {
	_ = unlock(l.f) // closing is what counts
	_ = l.f.Close()
}
