package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Store keeps a journal in a SQLite file. Its methods may be called from many goroutines.
//
// It owns the file: the lock beside it from Open to Close, the one connection that writes, and a
// fixed number of connections that read. A read waits for a free reader, a write for its turn in
// the writer, and neither for the other. One that is for reading alone (Options.ReadOnly) has the
// readers and nothing else.
type Store struct {
	o       Options
	path    string
	file    os.FileInfo // of the file that is open, see inPlace
	lock    *fileLock
	writer  *writer
	readers chan *conn    // those that nobody uses
	lists   chan struct{} // the listings that have a reader, or are about to
	nodes   *nodes
	life    context.Context // until Close
	end     context.CancelCauseFunc
	closed  sync.Once
	endings endings
}

var (
	_ driver.Store   = (*Store)(nil)
	_ driver.TxStore = (*Store)(nil)

	_ driver.CommitWatcher = hints{}
)

// Open opens a file, or makes it, and brings its tables up to date. The folder must exist. While
// the store is open no other one may have the file, except for reading alone; it is told who has it
// by a [LockedError]. A file that belongs to another application is a [ForeignError], unless
// Options.Shared allows for it. ctx is for opening alone. o may be nil. The caller closes the
// store.
func Open(ctx context.Context, path string, o *Options) (*Store, error) {
	s := &Store{o: o.withDefaults(), nodes: newNodes()}
	s.life, s.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := s.open(ctx, path); err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	return s, nil
}

// open takes the lock before it touches the file, and gives it back if the file is not in order.
func (s *Store) open(ctx context.Context, path string) (err error) {
	if s.path, err = resolvePath(path); err != nil {
		return err
	}
	if s.o.ReadOnly {
		return openReading(s)
	}
	if s.lock, err = lockFile(ctx, s.path); err != nil {
		return err
	}
	w, err := s.prepare(ctx)
	if err != nil {
		s.lock.release()
		return translateAtOnce(s.path, err)
	}
	s.writer = newWriter(s, w)
	return nil
}

// openReading opens the file for reading alone. Such a store has readers and nothing else: no lock,
// no writer, no nodes of its own. So it stands beside the process that has the file, and neither
// waits for the other: a read is a snapshot of the log. It does none of what the lock allows that
// process to do: it takes no tasks from nodes that are dead, and makes and changes no table. On an
// error everything that was opened is closed.
func openReading(s *Store) (err error) {
	if _, err = os.Stat(s.path); err != nil {
		return fmt.Errorf("%w; a store for reading alone makes no file", err)
	}
	if err = dialReaders(s, "ro"); err == nil {
		r := <-s.readers
		err = s.identify(r)
		s.readers <- r
	}
	if err != nil {
		closeReaders(s)
	}
	return translateAtOnce(s.path, err)
}

// prepare returns the writer's connection to a file that is in order, with readers beside it and
// nobody's tasks owned. On an error everything that was opened is closed.
func (s *Store) prepare(ctx context.Context) (*conn, error) {
	if err := writable(s.path); err != nil {
		return nil, err
	}
	w, err := dial(s.path, "rwc", fmt.Sprintf("busy_timeout = %d", busyMillis))
	if err != nil {
		return nil, err
	}
	err = s.prepareFile(ctx, w)
	if err == nil {
		s.file, err = os.Stat(s.path)
	}
	if err == nil {
		err = dialReaders(s, "rw")
	}
	if err != nil {
		closeReaders(s)
		w.close()
		return nil, err
	}
	return w, nil
}

// prepareFile brings the file in order, before any reader is open: first whose it is, since nothing
// may be changed in a file of somebody else's, then its mode, its tables and its name in the
// folder, and last the tasks of the process before.
func (s *Store) prepareFile(ctx context.Context, w *conn) error {
	if err := s.identify(w); err != nil {
		return err
	}
	if err := s.configure(w); err != nil {
		return err
	}
	if err := migrate(w, !s.o.Shared); err != nil {
		return err
	}
	if err := syncFolder(s.path); err != nil {
		return err
	}
	return s.takeOver(ctx, w)
}

// dialReaders opens the readers. query_only guards against a statement that ends up on the wrong
// connection. access is "rw" beside a writer, so that the last one to close the file empties its
// log, else "ro".
func dialReaders(s *Store, access string) error {
	s.readers = make(chan *conn, s.o.Readers)
	s.lists = make(chan struct{}, max(1, s.o.Readers/2))
	for range s.o.Readers {
		r, err := dial(s.path, access, fmt.Sprintf("busy_timeout = %d", busyMillis), "query_only = on",
			fmt.Sprintf("cache_size = -%d", readerCacheKiB))
		if err != nil {
			return err
		}
		s.readers <- r
	}
	return nil
}

// configure sets what the writer's connection needs, and the log mode, which the file keeps.
// Foreign keys are off because there are none; temporary tables in memory keep sorting off the
// disk. The file system must have shared memory for the log, and one that has not, such as most
// network file systems, is refused here rather than found to lose writes later.
func (s *Store) configure(w *conn) error {
	mode := ""
	if err := w.query("PRAGMA journal_mode = wal", func(r row) error { mode = r.text(0); return nil }); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("%s: the file system has no shared memory for a write-ahead log, the journal mode is %s", s.path, mode)
	}
	sync := "full"
	if s.o.SyncNormal {
		sync = "normal"
	}
	for _, pragma := range []string{
		"synchronous = " + sync, "fullfsync = on", "checkpoint_fullfsync = on", // on a Mac only these reach the disk
		"temp_store = memory", "foreign_keys = off",
		fmt.Sprintf("cache_size = -%d", writerCacheKiB), fmt.Sprintf("wal_autocheckpoint = %d", checkpointPages),
		fmt.Sprintf("journal_size_limit = %d", logBytesMax),
	} {
		if err := w.script("PRAGMA " + pragma); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the store. Calls that are being written end first, those that wait for their turn fail
// with ErrStoreClosed, and the transaction of a step is rolled back. Further calls of Close do
// nothing.
func (s *Store) Close() {
	s.closed.Do(func() {
		s.end(journal.ErrStoreClosed)
		if s.o.ReadOnly {
			closeReaders(s)
			return
		}
		s.writer.close()
		s.endings.loops.Wait()
		closeReaders(s)
		s.writer.c.close()
		s.lock.release()
	})
}

// closeReaders closes every reader. Those at work are waited for: they come back to the channel
// when their call ends, and no new call gets one, because the store's life is over.
func closeReaders(s *Store) {
	for range cap(s.readers) {
		select {
		case r := <-s.readers:
			r.close()
		case <-s.life.Done(): // of a store that was open: readers at work come back
			(<-s.readers).close()
		default: // of one that is only half open
		}
	}
}

// read runs fn on a reader, as of one moment: in a transaction, so that all its statements see one
// snapshot. The WAL is not copied back past the snapshot while it is open, so fn must not wait for
// anybody.
func (s *Store) read(ctx context.Context, fn func(c *conn) error) error {
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.life.Done():
		return journal.ErrStoreClosed
	}
	defer func() { s.readers <- c }()
	if _, err := c.exec(readBeginSQL); err != nil {
		return s.translate(err)
	}
	err := fn(c)
	if _, e := c.exec(readEndSQL); err == nil {
		err = e
	}
	return s.translate(err)
}

// readList is Store.read for a listing, or what else may look at all runs. Such reads have half of
// the readers and wait for each other: however many people ask, a load finds a reader.
func readList(ctx context.Context, s *Store, fn func(c *conn) error) error {
	select {
	case s.lists <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.life.Done():
		return journal.ErrStoreClosed
	}
	defer func() { <-s.lists }()
	return s.read(ctx, fn)
}

// A read is a transaction of its own: its first statement takes the snapshot that all see.
const (
	readBeginSQL = `BEGIN`
	readEndSQL   = `ROLLBACK`
)

// now is the store's clock: that of the one process that has the file (J9). It counts whole
// microseconds, as what is stored, and has no monotonic part, so that times compare as they do
// after a load.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond).Round(0) }

// resolvePath returns the one name of a file, whatever links lead to it: the lock is on a file of
// that name, so two names must not lead to two locks. The file itself need not exist yet, its
// folder must.
func resolvePath(path string) (string, error) {
	if path == "" || strings.HasPrefix(path, ":") || strings.HasPrefix(path, "file:") {
		return "", fmt.Errorf("path %q: %w: it must name a file", path, journal.ErrInvalid)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(folder, filepath.Base(path))
	} else {
		return "", fmt.Errorf("%s: its folder cannot be used: %w", path, err)
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("path %s: %w: it is not a regular file", path, journal.ErrInvalid)
	}
	return path, nil
}

// writable finds out early, and with the system's own words, whether an existing file may be
// written. SQLite would open it for reading alone and fail at the first write.
func writable(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: the file may not be written: %w", journal.ErrUnavailable, err)
	}
	return f.Close()
}
