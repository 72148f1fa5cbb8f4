package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/reprise-run/reprise/journal"
)

// The writer's transactions. IMMEDIATE takes the file's write lock at once, so that no statement
// meets another program's write half-way. The savepoint keeps the members of a batch apart when one
// of them is at fault.
const (
	writeBeginSQL    = `BEGIN IMMEDIATE`
	writeCommitSQL   = `COMMIT`
	writeRollbackSQL = `ROLLBACK`
	memberBeginSQL   = `SAVEPOINT reprise_member`
	memberUndoSQL    = `ROLLBACK TO reprise_member`
	memberEndSQL     = `RELEASE reprise_member`
)

// writer is the one that writes: group commit for a file that has a single write lock.
//
// A transaction costs one sync of the disk, however much is in it, and a disk does a few hundred to
// a few thousand of them a second. So the writer never writes a call alone if more are waiting: it
// takes all jobs that gathered while the last transaction was on its way to the disk, and makes
// them the next one. Under load the batches grow by themselves, up to a limit, and without load a
// call is written at once. No timer waits for more calls to come.
//
// The invariants:
//
//   - Only the writer's goroutine uses c, except between granted and returned of a loan, when only
//     the step does. Between the two there is no transaction of the writer's. So no statement in
//     the process ever waits for a lock of the file.
//   - A job is in jobs, or taken by the goroutine, or done. It is withdrawn only while it is in
//     jobs, under mu; so a call whose context ends either has not happened or is waited for, and
//     its error tells which.
//   - done is closed after err is set, and exactly once: by commit, or by failAll when the store
//     closes.
//   - run of a job may be called again after a rollback. Whatever it has told its caller until
//     then, it must tell anew.
//
// The members of a batch are independent (J2). Nearly always none is at fault, and a savepoint
// around each would cost two statements a member, so the batch is tried without. If a member is at
// fault, everything is rolled back, and the same jobs run again with savepoints: the member at
// fault loses its part, and the others are committed. An error that is about the file, such as a
// full disk, is an error of all.
//
// Fairness between calls and steps: after each batch at most one loan is granted, and after each
// loan at most one batch is written, so neither starves the other.
type writer struct {
	s    *Store
	c    *conn // of the goroutine, or of the step that it is lent to
	wake chan struct{}
	done sync.WaitGroup

	mu     sync.Mutex // guards what follows
	closed bool
	jobs   []*job
	loans  []*loan
}

// job is a call that waits for its turn.
type job struct {
	bytes int // of its payloads
	// run does the writing. It may be called again after a rollback, so it starts afresh.
	run  func(b *batch) error
	err  error
	done chan struct{}
}

// loan is the wish of a step to have the connection. granted is closed by the writer, returned by
// the step or by whoever ends its transaction.
type loan struct {
	granted  chan struct{}
	returned chan struct{}
}

// batch is a transaction of several calls.
type batch struct {
	*conn
	savepoints bool // each member has a savepoint
	// spoilt is the error of a member that has met a damaged page: SQLite writes nothing more in
	// the transaction then, whatever is undone, so the others are written without that call.
	spoilt error
}

// errNeedsSavepoints ends a batch without savepoints in which a member is at fault.
var errNeedsSavepoints = errors.New("a member is at fault: once more, with savepoints")

// newWriter starts the goroutine, which owns the connection from here on.
func newWriter(s *Store, c *conn) *writer {
	w := &writer{s: s, c: c, wake: make(chan struct{}, 1)}
	w.done.Go(w.loop)
	return w
}

// close returns when the goroutine has ended. What waits fails; what is being written ends first.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wakeUp()
	w.done.Wait()
}

// wakeUp makes the goroutine look again. One token is enough: it looks at everything.
func (w *writer) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// write runs fn in a transaction that it shares with others, and returns when that is on disk. A
// call whose context ends before its turn has not happened; once its turn has come, its end is
// waited for, so that the caller always knows which of the two it was. bytes is the size of its
// payloads, by which batches are limited. fn may be called twice, after a rollback, and must start
// afresh.
func (s *Store) write(ctx context.Context, bytes int, fn func(b *batch) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if err := s.o.refuseWrite(s.path); err != nil {
		return err
	}
	w, j := s.writer, &job{bytes: bytes, run: fn, done: make(chan struct{})}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return journal.ErrStoreClosed
	}
	w.jobs = append(w.jobs, j)
	w.mu.Unlock()
	w.wakeUp()
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	w.mu.Lock()
	at := slices.Index(w.jobs, j)
	if at >= 0 {
		w.jobs = slices.Delete(w.jobs, at, at+1)
	}
	w.mu.Unlock()
	if at >= 0 {
		return context.Cause(ctx)
	}
	<-j.done
	return j.err
}

// withdraw tells whether a wish for a loan was taken back before it was granted.
func (w *writer) withdraw(l *loan) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.Index(w.loans, l)
	if at >= 0 {
		w.loans = slices.Delete(w.loans, at, at+1)
	}
	return at >= 0
}

// loop is the goroutine: a batch, then a loan, then the next, and asleep while there is neither.
func (w *writer) loop() {
	for {
		jobs, loan, closed := w.next()
		switch {
		case closed:
			w.failAll(jobs)
			return
		case len(jobs) == 0 && loan == nil:
			<-w.wake
		}
		if len(jobs) > 0 {
			w.commit(jobs)
		}
		if loan != nil {
			close(loan.granted)
			<-loan.returned
		}
	}
}

// next returns what is to be done next: as many calls as fit into a batch, and one step.
func (w *writer) next() (jobs []*job, next *loan, closed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return w.jobs, nil, true
	}
	n, bytes := 0, 0
	for n < min(len(w.jobs), batchJobsMax) && bytes < batchBytes {
		bytes += w.jobs[n].bytes
		n++
	}
	jobs, w.jobs = w.jobs[:n:n], w.jobs[n:]
	if len(w.loans) > 0 {
		next, w.loans = w.loans[0], w.loans[1:]
	}
	return jobs, next, false
}

// failAll fails the jobs that wait when the store closes. They have not happened.
func (w *writer) failAll(jobs []*job) {
	for _, j := range jobs {
		j.err = journal.ErrStoreClosed
		close(j.done)
	}
}

// commit writes a batch and hands out the outcomes.
func (w *writer) commit(jobs []*job) {
	err := w.try(jobs, false)
	if errors.Is(err, errNeedsSavepoints) {
		err = w.try(jobs, true)
	}
	if len(jobs) > 1 && damaged(err) { // whose page it is shows when each is alone
		for i := range jobs {
			w.commit(jobs[i : i+1])
		}
		return
	}
	err = w.s.translate(err)
	for _, j := range jobs {
		if err != nil {
			j.err = err
		}
		close(j.done)
	}
}

// try writes a batch, with a savepoint around each member or without. Its error is about all of it:
// nothing is written then, or after a failed COMMIT perhaps all, which is why such a failure is
// ErrUnavailable and callers ask again (J4). An error of a member alone is in its job.
func (w *writer) try(jobs []*job, savepoints bool) error {
	if err := inPlace(w.s.path, w.s.file); err != nil {
		return err
	}
	if _, err := w.c.exec(writeBeginSQL); err != nil {
		return err
	}
	b := &batch{conn: w.c, savepoints: savepoints}
	for _, j := range jobs {
		err := b.member(func() error { return j.run(b) })
		if b.spoilt != nil {
			err = b.spoilt
		}
		if errors.Is(err, errNeedsSavepoints) || batchFault(err) || b.spoilt != nil {
			w.rollback()
			return err
		}
		j.err = w.s.translate(err)
	}
	if _, err := w.c.exec(writeCommitSQL); err != nil {
		w.rollback()
		return err
	}
	return nil
}

// rollback fails if the failure that led to it has ended the transaction already.
func (w *writer) rollback() { _, _ = w.c.exec(writeRollbackSQL) }

// member runs a part of a batch that may fail alone (J2). An error that is about this part's
// content leaves nothing of it behind: with savepoints by undoing to the one before it, without by
// having the whole batch repeated with them. Parts may be nested in a job, as the members of a
// commit are; each has the savepoint to itself, because one ends before the next begins.
func (b *batch) member(fn func() error) error {
	if !b.savepoints {
		err := fn()
		if memberFault(err) {
			return errNeedsSavepoints
		}
		return err
	}
	if _, err := b.exec(memberBeginSQL); err != nil {
		return err
	}
	err := fn()
	if batchFault(err) || damaged(err) {
		if damaged(err) {
			b.spoilt = err
		}
		return err
	}
	if memberFault(err) {
		if _, err := b.exec(memberUndoSQL); err != nil {
			return err
		}
	}
	if _, err := b.exec(memberEndSQL); err != nil {
		return err
	}
	return err
}
