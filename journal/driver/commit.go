package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Commit is what one turn of one run writes, all or nothing (J2).
//
// It is accepted only from the present owner (J3) and only onto the state that it was built on: the
// newest event of the stored history is Head. There are two ways to prove ownership.
//
//   - A commit that changes the task compares owner, fence and turn of the task's row, under the
//     row's lock.
//   - A commit with AppendOnly does not touch the row. It proves, under a lock that a Reap takes
//     exclusively, that its node is a member and that nothing of the node's was taken away. That is
//     enough because a run leaves its owner in three ways only: by the owner's own commit, which
//     the owner knows of; by a Reap, which declares the node lost; and by a termination, which
//     raises the node's recall number and, besides, adds an event that is not Head. If the store
//     went back to before the claim, Head is gone with it: an event that no other owner writes was
//     added under this fence.
//
// The comparison with Head is what a store needs that may go back in time, to a moment before
// commits that it has acknowledged. Owner, fence and turn may be those of that moment again, while
// the events that this commit follows are gone, or others stand in their place. A link repeats only
// with all that is before it, see [journal.Link].
//
// A commit may be submitted again unchanged after an unknown outcome (J4); [Commit.WrittenAs] tells
// an own write. The race that all of this excludes is the late first try: it arrives after the
// owner gave up, another node claimed the task and committed. Head is not the newest event then,
// and if nothing was committed yet, the owner's node is lost or the fence has moved on.
type Commit struct {
	Run        journal.RunID
	Node       journal.NodeID
	Fence      journal.Fence
	Turn       journal.Turn // commits before this one that have changed the task
	Generation journal.Generation
	// Head is the newest event of the generation before this commit. Its Link may be 0 for a commit
	// without events whose owner could not load the history; then the state is not compared.
	Head   journal.Head
	Events []journal.Event // contiguous Seqs behind Head, each linked to the one before; may be empty
	// AppendOnly says that the commit does nothing but add events: its owner has added an event of
	// its own to this generation under this Fence before, Next keeps the run, Attempts are those of
	// the task, and neither a message is consumed nor anything done to others. A store may then
	// leave the task's row alone, and Turn does not grow.
	AppendOnly bool
	// Consumed names the messages that the events and the rejecting replies consume, in order. A
	// store refuses the commit with [journal.ErrFenced] unless it holds these very messages.
	Consumed []Consumed
	// InboxSeen is the number of the newest message consumed so far. A park with
	// a newer message in the inbox leaves the task visible (J6).
	InboxSeen journal.InboxSeq
	// Attempts and Waiting replace the task's; empty for none. With NextBlock the row keeps what it
	// has: its owner could go on from nothing, and perhaps could not even read the row. What a
	// newer release has written must be there when that one claims the run.
	Attempts []journal.Attempt
	Waiting  []string // of a parked run, for readers
	Next     Next
	// Hold says that the owner has heard of a pause and starts no step: a task that stays owned and
	// was Pausing or Interrupting is Paused from here on (J11). It changes no other task, so a
	// commit that a resume has overtaken does no harm.
	Hold bool
	// Interrupted says, with Hold, that the owner has interrupted what it executes. Without it a
	// task that is Interrupting stays so: the owner had not heard of that yet, and the outcome
	// tells.
	Interrupted bool
	// Pause, with Hold, pauses the run by itself, whatever state its task is in, and says why: a
	// step may not be tried again, and its options say that the run waits for an operator then. It
	// has a row in the audit of [journal.ActorRuntime] (J12), see [Commit.PauseAction].
	Pause string

	// What the turn does to others, in this order, if and when the commit is accepted. A commit
	// that turns out to be written already (J4) does none of it again.
	Replies []journal.Reply // to updates in the own inbox
	// Starts are children; one whose key belongs to another run is answered by MessageChildFailed
	// instead. With a Tx there may be starts without a Parent, from an [Outbox]: the commit is
	// ErrTxLost if one does not get its key, see [Commit.LostKey].
	Starts []journal.Start
	// Published replaces what the run has published, in whichever generation; nil leaves it.
	Published []journal.Published
	// Labels sets labels of the run, and removes those without a value; nil leaves all as they are.
	Labels map[string]*string
	// Messages go to other runs. One with a Cmd is answered by MessageSent or MessageRefused; one
	// without is dropped if its run is closed or unknown.
	Messages []journal.Message
	// Children says that the run may have open children. At NextClose each meets its
	// journal.ClosePolicy, after all starts of the batch.
	Children bool
	// Limited says that the run holds limits: they end with it, at NextClose (J14).
	Limited bool
	// Limits makes the run wait for all of these from now on, and for nothing else, before anybody
	// claims it again: its first owner has found that it needs more than its start says. It gives
	// back what it holds. Next parks the run, which has no event yet.
	Limits   []journal.LimitNeed
	Continue *journal.Continue // the last event is RunContinued: the run goes on as its next generation
	Tx       journal.Tx        // write and commit inside this transaction instead of the batch's; see [TxStore]

	prepared OutboxMark // how many of the last Starts and Messages came from the outbox of Tx
}

// HasEffects tells whether the commit does anything beyond its own run's events and task. A store
// can write commits without effects by one statement, which locks one task each; a commit with
// effects locks the tasks of other runs too and takes a transaction.
func (c *Commit) HasEffects() bool {
	return c.Pause != "" || len(c.Replies) > 0 || c.Published != nil || c.Labels != nil || len(c.Starts) > 0 || len(c.Messages) > 0 || (c.Children || c.Limited) && c.Next.Kind == NextClose || len(c.Limits) > 0 || c.Continue != nil
}

// PauseAction is what the audit says of a commit with a Pause.
func (c *Commit) PauseAction() AdminAction {
	return AdminAction{Run: c.Run, Kind: AdminPause, Reason: c.Pause, Actor: journal.ActorRuntime}
}

// Terminal returns the event that closes the run, or nil.
func (c *Commit) Terminal() *journal.Event {
	if c.Next.Kind != NextClose || len(c.Events) == 0 {
		return nil
	}
	return &c.Events[len(c.Events)-1]
}

// Consumed is a message that a commit consumes: its number, and what was in it.
type Consumed struct {
	Number journal.InboxSeq
	Digest journal.Link
}

// TellsState tells whether the commit leaves the task with its owner, and has seen it.
func (c *Commit) TellsState() bool { return c.Next.Kind == NextKeep && !c.AppendOnly }

// NewHead is the newest event of the generation after the commit.
func (c *Commit) NewHead() journal.Head {
	if n := len(c.Events); n > 0 {
		return journal.Head{Seq: c.Events[n-1].Seq, Link: c.Events[n-1].Link}
	}
	return c.Head
}

// Found is what a store finds of a commit that it has refused: the link of the stored event that
// has the number of the commit's last one, and owner, fence, turn and generation of the task. All
// are 0 where there is nothing.
type Found struct {
	Link       journal.Link
	Owner      journal.NodeID
	Fence      journal.Fence
	Turn       journal.Turn
	Generation journal.Generation
}

// WrittenAs tells whether this very commit is what a store finds written (J4). A commit with events
// is written exactly if its last event is, whatever has happened to the run since: the link proves
// that, and with it all of the commit, because a commit is all or nothing. The exception is
// harmless: a commit that ends with RunStarted, which follows from the start alone, is also told to
// be written if another owner wrote that event; the history is the same then. A commit without
// events leaves only the task behind: it is one turn further under the commit's own fence, which no
// other claim has, and the owner commits one turn at a time. What makes another turn under that
// fence and is no commit is a [Rewind], which makes another generation too.
func (c *Commit) WrittenAs(f Found) bool {
	if n := len(c.Events); n > 0 && c.Events[n-1].Link != 0 {
		return f.Link == c.Events[n-1].Link
	}
	owner := c.Node
	if c.Next.Kind != NextKeep {
		owner = 0
	}
	return f.Fence == c.Fence && f.Turn == c.Turn+1 && f.Owner == owner && f.Generation == c.Generation
}

// check refuses a commit that breaks the shape every store relies on. It is our own bug, never a
// user's. What it cannot see is whether the first event follows the newest one that is stored: the
// primary key of events refuses that (J1).
func (c *Commit) check() error {
	for i := range c.Events {
		ev := &c.Events[i]
		if ev.Seq != c.Head.Seq+journal.Seq(i)+1 {
			return fmt.Errorf("commit %s: event %d after seq %d has seq %d (J1): %w", c.Run, i, c.Head.Seq, ev.Seq, journal.ErrInvalid)
		}
		if c.Head.Link == 0 || ev.Link == 0 {
			return fmt.Errorf("commit %s: %s at seq %d has no link (J1): %w", c.Run, ev.Kind, ev.Seq, journal.ErrInvalid)
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
	if (c.Interrupted || c.Pause != "") && !c.Hold || c.Hold && (c.Next.Kind != NextKeep || c.AppendOnly) {
		return fmt.Errorf("commit %s: it holds a run that it does not keep, or not by its task (J11): %w", c.Run, journal.ErrInvalid)
	}
	if c.AppendOnly && (c.Next.Kind != NextKeep || c.HasEffects() || c.Tx != nil || len(c.Events) == 0 || len(c.Consumed) > 0) {
		return fmt.Errorf("commit %s: it does more than add events: %w", c.Run, journal.ErrInvalid)
	}
	if len(c.Limits) > 0 {
		if c.Next.Kind != NextPark || len(c.Events) > 0 || c.Head.Seq > 0 || c.Generation != 1 {
			return fmt.Errorf("commit %s: limits of a run that has begun (J14): %w", c.Run, journal.ErrInvalid)
		}
		if err := journal.CheckLimitNeeds(c.Limits); err != nil {
			return fmt.Errorf("commit %s: %w", c.Run, err)
		}
	}
	if len(c.Events) > journal.CommitEventsMax {
		return &journal.LimitError{What: "events in a commit", Size: len(c.Events), Max: journal.CommitEventsMax}
	}
	if n := len(c.Starts) + len(c.Messages) + len(c.Replies); n > journal.CommitEffectsMax {
		return &journal.LimitError{What: "children and messages in a commit", Size: n, Max: journal.CommitEffectsMax}
	}
	return nil
}
