// Package worker is one membership of a node: what happens between joining and leaving, or losing
// the lease.
//
//	joined ──Begin──▶ running ──Drain──▶ acquires nothing, steps end ──▶ runs handed back ──▶ left
//	                     │                          │
//	                     └──── the lease is lost ───┴──▶ Abort: nothing is written any more ──▶ left
//
// A node that lost its lease joins again under another id, with another [Worker]. No state passes
// from one to the other but through the journal.
//
// Parts, from top to bottom:
//
//   - [Worker] holds the actors of the runs it owns and starts the loops.
//   - claimer acquires due tasks. claimTimer decides when that is worth a call, room how many may
//     be acquired. crowd knows who waits while there is no room. unconfirmed remembers that the
//     answer to an acquisition was lost.
//   - localStarts makes the node the owner of runs that it starts itself, a client's as well as
//     the children of its runs. startGate holds the end of the membership back meanwhile.
//   - writer is what the actors see of the journal: batched commits and loads.
//   - lease renews; contact interrupts steps while the store does not answer; reaper looks for dead
//     nodes and frees their runs.
//
// # Ownership, and what the end of it must not leave behind
//
// Owning a run means that a row in the store says so. Two kinds of calls make this node an owner: a
// claim, and a start with Owner set. For each of them the node must come to know what it owns, or
// nobody executes the run while the node lives. Three rules cover every case:
//
//  1. An answer that arrives activates what it names.
//  2. An answer that is lost is noted as unconfirmed. Claims then ask for everything the node owns,
//     at once and for some time after, because the lost call may take effect late.
//  3. The node leaves only when no such call is in flight, or when it has waited long enough for
//     them. Leave frees in one statement what the node owns at that moment.
//
// What slips through all three, a call that takes effect after Leave, is found by the sweep of any
// node: its owner exists no more.
package worker
