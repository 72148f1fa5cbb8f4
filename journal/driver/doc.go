// Package driver is the journal as the engine and the back ends see it: what one implements to add
// a database, and what actors, nodes and clients call.
//
//	actor, runtime
//	     │  Journal   checks input, divides batches, keeps the clock, spreads hints: once for all stores
//	     ▼
//	   Store          one implementation for each database: Start, Send, Claim, Commit, Load, …
//	     │
//	  database
//
// Package journal below it holds the facts that are stored and nothing else. Programs import that
// one; they meet driver only if they write a back end or a tool that reads histories.
//
// # Writing a back end
//
// Implement [Store], and [TxStore] if steps can share its transactions. Keep the guarantees J1 to
// J10 of package journal; journaltest.All checks them, and journaltest/model compares random
// programs with the store in memory, which is the shortest example. Three rules are easy to miss:
//
//   - A method's own error is about the whole call, an error in an outcome about one member. A
//     failed connection is journal.ErrUnavailable, and nothing else is: the engine repeats such a
//     call for as long as it lasts, so an error that would come back each time must be of another
//     kind. One such is journal.ErrStoreClosed: the program itself has closed the store.
//   - Every method may be called again with the same arguments after a failure (J4). Commits are
//     recognised by their events ([Commit.WrittenAs]), starts by id, messages by key.
//   - All task rows that one transaction locks are locked in one order, that of the run ids. Runs
//     write to each other's inboxes, and two transactions that lock in different orders deadlock.
//
// What every back end needs besides is here too: sizes of members, to divide batches
// ([CommitBytes]), codecs of columns that hold lists ([EncodeAttempts], [EncodeLabels],
// [EncodeRoutes]), and the rule for runs whose owners keep dying ([StrikeDelay]).
package driver
