// Package journal is the truth of Reprise: an append-only history of events
// per run, and everything that must be committed together with it.
//
// # Words
//
//   - run: one execution of a workflow. [RunID] is a UUIDv7 and never changes.
//   - key: the caller's own name for a run, for idempotent starts.
//   - event: a fact in a run's history, numbered by [Seq] from 1 without gaps
//     within a generation.
//   - command: something workflow code asked for, numbered by [Cmd] from 1 in
//     the order asked. The events' Issued lists name every command.
//   - commit: the atomic write of one turn, see driver.Commit.
//   - task: the run's single row in the queue, see [Task]. It exists exactly
//     while the run is open.
//   - inbox: messages to a run, numbered by [InboxSeq] from 1 without gaps.
//   - node: one process incarnation with a lease. It is told apart by chance
//     beside its small number, because numbers repeat if a store goes back.
//   - fence: the ownership number of a task; it grows at every claim, and has
//     chance in it, see [Fence.Next].
//   - turn: here also the number of commits that have changed a run's task.
//   - link: a hash that chains an event to all before it, see [Link].
//   - head: the newest event's number and link: the identity of a run's state.
//   - generation: grows at continue-as-new and at reset.
//
// # Guarantees
//
// Every back end (driver.Store) keeps these, and the tests quote the numbers.
//
//   - J1: A history is gapless and append-only. Nothing rewrites an event, and
//     each is chained to the one before: a commit is accepted only onto the very
//     history that it was built on, and a load that finds another one stops.
//   - J2: A commit is all or nothing, with the children it starts, the messages
//     it sends and the replies it gives; and a batch of commits never fails
//     because of one member: each gets its own outcome. Nor does a claim, a
//     listing or a load fail because of one run that cannot be read: that one
//     has an [UnreadableError], and nothing writes over what could not be read.
//   - J3: Only the current owner commits. Owner, fence and turn of the task
//     must match, or, for a commit that only adds events, the node must be a
//     member from whom nothing was taken; else the commit is refused with
//     [ErrFenced], whatever it contains.
//   - J4: A commit whose outcome is unknown may be submitted again as it is:
//     an own write is recognised by the link of its last event, never written
//     twice and never reported as lost. Starts are recognised by run id,
//     messages by key.
//   - J5: The inbox of a run is FIFO and gapless: a number that becomes visible
//     later is never smaller. A message is consumed by the event of the current
//     generation that names it, by the end of a generation that had seen it and
//     did not carry it over ([Continue]), or by the reply that rejects it.
//     Keys deduplicate for the life of the run, across generations; only the key
//     of an update that was rejected is free again. A commit consumes a message
//     by its number and by a hash of what was in it, see [Message.Digest].
//   - J6: No wake-up is lost: a message that arrives while its run is being
//     parked makes the task visible.
//   - J7: A closed run has one terminal event, a terminal status and no task,
//     all from one commit. Nothing opens it again but an operator who goes
//     back, as another generation (J13).
//   - J8: Start is idempotent by key: concurrent starts with one key create
//     one run and all callers get its id. Reuse of a closed run's key follows
//     an explicit [Reuse] policy.
//   - J9: The store's clock decides leases, visibility and due timers. A local
//     clock may only give up earlier.
//   - J10: What was acknowledged survives kill -9 of every node and of the
//     database, and a fail-over to a synchronous standby where the database has
//     one. A call that recognises what an earlier one wrote (J4) acknowledges no
//     more than a call that writes. A store that goes back in time all the same
//     (an asynchronous standby takes over, a copy is restored) loses exactly its
//     own tail: no run goes on from what the store does not have, and no run is
//     left without an owner that runs it.
//   - J11: No step of a run starts between the transaction that makes its task
//     [Paused] and the one that resumes it, but for one of a branch that a reset
//     has just left, whose node has not heard of that (J13). An owner that hears of a
//     pause starts none either; what claims, frees, reaps or sends keeps the pause. A run whose
//     step is exhausted is paused by the commit that says so (driver.Commit.Pause).
//     A pause may also freeze the timers of its run until the resume: the row of the
//     run keeps when they stood still ([Freezes]), from the same transactions.
//     Nor does a step of a run in a paused [Scope] start once no node is left in
//     [Pause].Unheeded, until the transaction that resumes the scope.
//   - J12: Every change to a run that an operator makes has one row of the audit,
//     from the same transaction, which outlives the run; that of new labels or a
//     new priority says what has changed. So has every pause of a run by itself.
//     What is done to a scope or to a node has one row too, without a run.
//     An action that is refused or finds nothing to change has none; a resume of an
//     open run always has one, also if nothing held the run. A child that its close
//     policy closes when its parent is terminated has none. What code decides over
//     is no such change: a signal, an update and a cancel request are rows of the
//     inbox. Of several callers that try one action on a run, and say by which words
//     its row is known, one carries it out, whatever others do in between.
//   - J13: A retry, reset, skip, edit or fork replays clean. It begins the run's next
//     generation with the first events of the present one, as they are, and code
//     sees in the copy what it saw in the original, see [Rewound]. What is behind
//     them stays as a branch. From the transaction of it the run is open and free, a pause of it
//     stays, its owner commits nothing more (J3), and its inbox is where the kept
//     events have left it. The commands that these wait for are answered once:
//     children that ended while the run was closed answer now, and what a child has
//     answered that has gone on since gives way to its new answer. A fork does the same
//     with a copy of the run: that stays as it is, its children are its own, and
//     the fork has copies of the answers that it has got. Only results that an
//     operator gives to steps differ, and a message that is left out comes again
//     only if the run begins anew; the audit says which.
//   - J14: No moment has more holders of a limit than it allows: of a key no more
//     than its Concurrency, of all keys no more than its Total, and in any time of
//     length Per no more begins than its Rate says ([Limit]). A step holds all limits
//     that it names from before its body begins until the body has returned, or its
//     node is declared dead or leaves, which frees what it held in the same
//     transaction. A holder is a claim in the store, and not the code that runs: a
//     node cancels its bodies before that, but a body that does not heed its context,
//     or whose process was stopped (SIGSTOP, a frozen machine) and goes on, may run
//     for a while beside the next holder. The store's clock decides over rates. A
//     limit that is lowered holds for grants that come later. A rate that changes
//     counts what was spent before as an amount; one that is removed forgets it. More
//     hold it only where an operator has released a holder that goes on, and until
//     their bodies return, where a store that went back in time has forgotten them.
//     Limits are no part of histories.
//     A run that names limits ([Start].Limits), or whose first owner does before it
//     has begun (driver.Commit.Limits), holds them from before its first turn
//     until the commit that closes it, over all generations, whichever nodes own it or
//     die, and is [Limited] before. It is passed over while it is paused or its [Scope] is,
//     and while no live node serves it. No run comes
//     to wait for a key if as many do as its MaxBacklog says, beyond those for which
//     there are places at that moment, but one of which Start.BeyondBacklog says that
//     it does. A run that is opened again waits for its limits again, and a fork for its
//     own. No backlog refuses any of these, and no run that comes cancels them.
//
// # States of a run and its task
//
//	             Start                 claim
//	(nothing) ─────────▶ free, due ─────────────▶ owned (fence+1)
//	                        ▲  ▲                   │  │  │
//	     time, message      │  └── release, reap ──┘  │  │ close
//	                        │                         │  ▼
//	                     free, parked ◀──── park ─────┘ closed (no task)
//
// A retry or reset makes any of these free and due.
//
// A task may also wait for limits of its run before anybody claims it (limited). A free task may
// also be blocked (its code diverged from its history; retried
// with back-off), quarantined (it kept killing its node; waits for an operator)
// or paused (by an operator or by itself; waits for an operator). An owned task
// is pausing until its owner has answered, see [Task].
package journal
