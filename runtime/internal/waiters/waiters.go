// Package waiters resolves callers who wait for a run to end or for the answer to an update.
package waiters

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Waiters is everybody in one client who waits for the end of a run or for the answer to an update.
//
// A waiter costs a channel and an entry in a map, never a connection or a goroutine. One loop
// serves them all, and exists only while somebody waits. It learns of an end in three ways. A hint
// from the same process carries the terminal event and resolves the waiter without a read. A hint
// from another process names the run, which is then read. And every poll reads all waiting runs, as
// many in one call as a list allows. The poll alone is correct; the hints only make the answer
// early.
//
// # Why no end is missed
//
// An end that is durable before [Waiters.AwaitEnd] is called can have no hint to come, so the run
// is put into toRead when its waiter registers, under the mutex that also guards the list of
// waiters. An end that becomes durable later finds the waiter in that list: the hint puts the run
// into toRead again, even if a read of it is in flight and will answer "still open". toRead is
// emptied before the read begins, never after it, so a hint during a read causes another read.
//
// # Why no end is told that is over
//
// An operator may retry or reset a closed run, and then ask for its result. A read that began
// before has the end before that. So a read resolves those alone who registered before it began.
//
// A waiter whose run is executed by this client's own node is local. Its end is announced inside
// the process, so it is not read before the first poll. An end that was announced between the start
// and the registration is found in [recent]. If the recent output was too large to keep, its entry
// without an event makes the waiter one that reads at once.
//
// # The loop's end
//
// The last waiter that leaves cancels the loop, under the mutex; the next one starts a new loop.
// The two may overlap, and share toRead and the wake channel: the ending loop may have taken from
// toRead what a new waiter put there, and its read fails because its context has ended. It puts
// such runs back and wakes whoever reads next.
type Waiters struct {
	list   *waitlist
	reader *reader
}

// Options of Waiters.
type Options struct {
	// Poll is the time between two reads of every waiting run.
	Poll time.Duration
	// HintsPushed says that the owner calls Hint with every hint of the journal, see SetPushed.
	// Else the loop watches the journal itself, while it exists.
	HintsPushed bool
	// Unanswered returns why an update of the run has no answer and gets none for now, nil if the
	// answer is still to come. It says also why the end of an open run does not come for now.
	Unanswered func(run *journal.Run) error
}

// New returns Waiters without a goroutine.
func New(j *driver.Journal, o Options) *Waiters {
	list := &waitlist{
		announce: j.AnnounceWaiter, hintsPushed: o.HintsPushed,
		waiting: map[journal.RunID][]*waiter{}, toRead: map[journal.RunID]bool{}, wake: make(chan struct{}, 1),
		recent: newRecent(),
	}
	return &Waiters{list: list, reader: &reader{j: j, poll: o.Poll, unanswered: o.Unanswered, list: list}}
}

// AwaitEnd returns the terminal event of the run, once it is durable. local says that this process
// executes the run, so that its end is announced here. Errors: journal.ErrNotFound; ctx's, and
// behind it what Options.Unanswered says of the run, if ctx has ended by a deadline that was not
// short.
func (w *Waiters) AwaitEnd(ctx context.Context, run journal.RunID, local bool) (*journal.Event, error) {
	wt := &waiter{resolved: make(chan resolution, 1), local: local}
	res, err := w.await(ctx, run, wt)
	return res.terminal, err
}

// AwaitReply returns the answer to an update. The answer may be durable already, so the run is read
// at once. Errors: journal.ErrNotFound, what Options.Unanswered returns, ctx's.
func (w *Waiters) AwaitReply(
	ctx context.Context, run journal.RunID, update journal.InboxSeq,
) (*journal.Answer, error) {
	wt := &waiter{resolved: make(chan resolution, 1), update: update}
	res, err := w.await(ctx, run, wt)
	return res.reply, err
}

// await adds a waiter, starts the loop for the first one, and waits.
func (w *Waiters) await(ctx context.Context, run journal.RunID, wt *waiter) (resolution, error) {
	loop, terminal := w.list.add(run, wt)
	if terminal != nil {
		return resolution{terminal: terminal}, nil
	}
	if loop != nil {
		go w.reader.loop(loop)
	}
	verb := "ends"
	if wt.update != 0 {
		verb = "load"
	}
	look, stop := beforeDeadline(ctx, wt)
	defer stop()
	for {
		select {
		case res := <-wt.resolved:
			return res, res.err
		case <-look:
			w.list.askState(run, wt)
		case <-ctx.Done():
			if held := w.list.forget(run, wt); held != nil {
				return resolution{}, fmt.Errorf("%w: %w", ctx.Err(), held)
			}
			return resolution{}, w.reader.j.Explain(verb, ctx.Err())
		}
	}
}

// beforeDeadline fires shortly before ctx's deadline if wt waits for the end of a run: whoever
// gives up then shall know whether the run could not have ended. One question at the end costs
// less than asking all the time, and the caller need not wait beyond the deadline for it. Short
// waits go without.
func beforeDeadline(ctx context.Context, wt *waiter) (<-chan time.Time, func()) {
	deadline, ok := ctx.Deadline()
	left := time.Until(deadline) - stateBefore
	if !ok || wt.update != 0 || left < stateBefore {
		return nil, func() {}
	}
	t := time.NewTimer(left)
	return t.C, func() { t.Stop() }
}

// GoesOn says that a run goes on behind a generation: what is remembered of its end is void, and so
// is an end of that generation of which a hint is still on its way.
func (w *Waiters) GoesOn(run journal.RunID, behind journal.Generation) { w.list.goesOn(run, behind) }

// SetPushed says whether the owner calls Hint with every hint of the journal from now on.
func (w *Waiters) SetPushed(pushed bool) { w.list.setPushed(pushed) }

// Hint takes a hint of the journal: a run was closed or has answered an update, or hints may have
// been lost. It is quick and ignores hints of other kinds.
func (w *Waiters) Hint(h driver.Hint) { w.list.hint(h) }
