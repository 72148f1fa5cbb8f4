package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Commit is what one turn of one run writes, all or nothing (J2).
//
// It is accepted only if the task's owner, fence and turn are the commit's (J3). A commit may be
// submitted again unchanged after an unknown outcome: the fence is this owner's alone and the owner
// has one commit of a run in flight at a time, so a task at (Fence, Turn+1), or a run closed
// under Fence, proves that the first try was written (J4).
//
// Why that is a proof. Two facts hold for every task:
//
//   - The fence grows by one with every claim and with nothing else. So no two owners, and no two
//     terms of one owner, have the same fence.
//   - The turn grows by one with every commit that is accepted and with nothing else. An owner
//     submits the commit of turn n+1 only when it knows that the one of turn n was accepted.
//
// A task that is found at (Fence, Turn+1) was therefore moved there by somebody with this commit's
// fence, that is by this owner, from this commit's turn, for which the owner has built one commit
// only: this one. A closed run has no task, so it keeps the fence that closed it. Nobody commits
// after a close, so that fence is proof enough.
//
// The owner keeps the first fact true by dropping its state as soon as it hears
// [journal.ErrFenced], and the second by never building a turn on an outcome that it does not know.
// The race that the pair excludes is the late first try: it arrives after the owner gave up,
// another node claimed the task and committed. Fence or turn have moved on by then, and the store
// refuses it.
type Commit struct {
	Run        journal.RunID
	Node       journal.NodeID
	Fence      journal.Fence
	Turn       journal.Turn // commits the run has had before this one
	Generation journal.Generation
	Events     []journal.Event // contiguous Seqs; may be empty
	// InboxSeen is the number of the newest message consumed so far. A park with
	// a newer message in the inbox leaves the task visible (J6).
	InboxSeen journal.InboxSeq
	Attempts  []journal.Attempt // replaces the task's; empty for none
	Waiting   []string          // of a parked run, for readers
	Next      Next

	// What the turn does to others, in this order, if and when the commit is accepted. A commit
	// that turns out to be written already (J4) does none of it again.
	Replies []journal.Reply // to updates in the own inbox
	Starts  []journal.Start // children; one whose key belongs to another run is answered by MessageChildFailed instead
	// Messages go to other runs. One with a Cmd is answered by MessageSent or MessageRefused; one
	// without is dropped if its run is closed or unknown.
	Messages []journal.Message
	// Children says that the run may have open children. At NextClose each meets its
	// journal.ClosePolicy, after all starts of the batch.
	Children bool
	Continue *journal.Continue // the last event is RunContinued: the run goes on as its next generation
	Tx       journal.Tx        // write and commit inside this transaction instead of the batch's; see [TxStore]
}

// HasEffects tells whether the commit does anything beyond its own run's history and task. A store
// can write commits without effects by one statement, which locks one task each; a commit with
// effects locks the tasks of other runs too and takes a transaction.
func (c *Commit) HasEffects() bool {
	return len(c.Replies) > 0 || len(c.Starts) > 0 || len(c.Messages) > 0 || c.Children && c.Next.Kind == NextClose || c.Continue != nil
}

// Terminal returns the event that closes the run, or nil.
func (c *Commit) Terminal() *journal.Event {
	if c.Next.Kind != NextClose || len(c.Events) == 0 {
		return nil
	}
	return &c.Events[len(c.Events)-1]
}

// WrittenAs tells whether this very commit is what a store finds written: the task is one turn
// further under the commit's own fence, or the run was closed under it (J4). fence and turn are
// those of the task, 0 without one; closed is the fence that closed the run, 0 if none did. A newer
// owner has another fence, and an owner commits one turn at a time, so nobody else can have written
// it.
func (c *Commit) WrittenAs(fence journal.Fence, turn journal.Turn, closed journal.Fence) bool {
	return fence == c.Fence && turn == c.Turn+1 || closed == c.Fence && c.Fence > 0
}

// check refuses a commit that breaks the shape every store relies on. It is our own bug, never a
// user's. What it cannot see is whether the first event follows the newest one that is stored: the
// primary key of events refuses that (J1).
func (c *Commit) check() error {
	for i := range c.Events {
		ev := &c.Events[i]
		if i > 0 && ev.Seq != c.Events[i-1].Seq+1 || ev.Seq < 1 {
			return fmt.Errorf("commit %s: event %d has seq %d (J1): %w", c.Run, i, ev.Seq, journal.ErrInvalid)
		}
		last := i == len(c.Events)-1
		if ev.Kind.Terminal() != (last && c.Next.Kind == NextClose) || (ev.Kind == journal.RunContinued) != (last && c.Continue != nil) {
			return fmt.Errorf("commit %s: %s at seq %d (J7): %w", c.Run, ev.Kind, ev.Seq, journal.ErrInvalid)
		}
	}
	if c.Continue != nil && (len(c.Events) == 0 || c.Next.Kind != NextKeep && c.Next.Kind != NextRelease) {
		return fmt.Errorf("commit %s: the next generation of a run that ends: %w", c.Run, journal.ErrInvalid)
	}
	if c.Next.Kind == NextClose && len(c.Events) == 0 {
		return fmt.Errorf("commit %s: close without a terminal event (J7): %w", c.Run, journal.ErrInvalid)
	}
	if len(c.Events) > journal.CommitEventsMax {
		return &journal.LimitError{What: "events in a commit", Size: len(c.Events), Max: journal.CommitEventsMax}
	}
	if n := len(c.Starts) + len(c.Messages) + len(c.Replies); n > journal.CommitEffectsMax {
		return &journal.LimitError{What: "children and messages in a commit", Size: n, Max: journal.CommitEffectsMax}
	}
	return nil
}
