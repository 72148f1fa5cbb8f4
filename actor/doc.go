// Package actor keeps live runs: one protoactor actor per run, children of a few shard actors.
//
// # Life of a run actor
//
// A claimed task arrives as an activation. The actor loads the history (unless it is warm: it still
// stands where the journal does, which the turn number proves), replays it, and then goes round one
// loop:
//
//  1. Occurrences arrive: a step ended, a timer is due, the inbox has messages.
//  2. The actor turns them into events and steps the machine with each.
//  3. It submits one commit. Meanwhile further occurrences wait for the next turn.
//  4. Only when the commit is durable does the outside see the turn: steps start, contexts are
//     cancelled. If the commit is refused the actor throws its state away; nothing of the turn
//     happened.
//
// A run whose steps all wait is parked by the same commit: its task becomes free, visible at the
// earliest timer or retry, and whoever claims it next goes on. The actor stays in memory for a
// while, so that the next claim by the same node needs no load.
//
// # What protoactor is used for, and what not
//
// Mailboxes and lifecycle only. Mailboxes, step bodies and batches of the store share a few
// goroutines (a pool.Pool), which themselves continue with what they have caused. The actor of a
// run that is gone takes another run, under a higher epoch. Actors are never addressed by name,
// ReceiveTimeout and futures stay unused, no panic reaches the library, and single activation is
// never trusted: the journal's fence decides (J3). Handlers do no I/O: loads, commits and steps run
// elsewhere and answer by message. Every such answer carries the epoch of the activation that
// asked, because an actor's address does not tell incarnations apart.
package actor
