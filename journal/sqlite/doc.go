// Package sqlite keeps a journal in a SQLite file, with a driver in pure Go. [Store] implements
// [journal.Store] and [journal.TxStore] with all their guarantees. It is for one process: the file
// is locked while a store is open, and a second process is told who has it.
//
// # One writer
//
// Every write of the process goes through one goroutine. The calls that gathered while a
// transaction was on its way to the disk are the next transaction, so one sync of the disk serves
// many. A member of a batch that is at fault has the batch repeated with a savepoint around each
// member. Loads and lists use connections of their own and wait for nobody (the file is in WAL
// mode).
//
// # Durability
//
// A call returns when its transaction is on disk (synchronous=FULL), unless [Options].SyncNormal
// says that the operating system's word is enough.
//
// # Nodes
//
// All nodes are in the process that has the file, so their leases are in its memory. The lock on
// the file beside the database ends with the process. Whoever gets it next knows that all earlier
// nodes are dead, and frees their runs when it opens the file.
//
// # Transactions of steps
//
// A step in a transaction gets a *sql.Tx. It takes the only writing connection with its first
// statement and keeps it until the step's turn is committed; everybody who writes waits for it. So:
//
//   - do slow work (a call to a bank) before the first statement; [Options].TxMax ends a transaction that takes too long,
//     and the attempt fails;
//   - start runs and send messages in it through [InTx]: a call outside of the transaction would wait for its end;
//   - write to the file on no other connection while it is open, for the same reason. Reading is fine, and sees what is committed.
//
// Calling Commit or Rollback of the *sql.Tx has no effect but an error and the end of the user's
// part of it.
//
// # Statements
//
// A statement is planned once for each connection. SQLite plans again, at every execution, a
// statement whose plan may depend on an argument: on a LIMIT, on a number that an index may not
// need, on a bound that the WHERE clause of an index compares. A plus sign before the parameter
// keeps it from looking: +? is the same value to an index.
//
// # Several journals
//
// Hints travel inside a [journal.Journal]. Two journals on one store hear of each other's work by
// polling.
package sqlite
