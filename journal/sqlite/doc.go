// Package sqlite keeps a journal in a SQLite file, with a driver in pure Go. [Store] implements
// [driver.Store] and [driver.TxStore] with all their guarantees. It is for one process: the file is
// locked while a store is open, and a second process gets an error that says who has it.
//
// # One writer
//
// Every write of the process goes through one goroutine. The calls that gathered while a
// transaction was on its way to the disk are the next transaction, so one sync of the disk serves
// many. A member of a batch that is at fault has the batch repeated with a savepoint around each
// member. Loads and lists use connections of their own and wait for nobody (the file is in WAL
// mode).
//
// # What decides
//
// The guarantees are those of package postgres, and so are the columns that they rest on: a task's
// owner, fence, turn and newest message, and the link of the newest event. What is missing here is
// everything that keeps concurrent writers apart. A statement may look first and write later,
// because between the two nobody else writes: not another goroutine, since there is one writer; not
// another process, since the file is locked; not the transaction of a step, since it has the
// writer's own connection meanwhile. So there are no row locks, no order of locks and no deadlocks,
// and where package postgres has one statement with many parts, this one has several small ones.
//
// J3 is a condition of every commit all the same: the owner of a run is a node, not a process, and
// a node that was declared dead may still commit. Commits that only append do not write the task,
// and yet compare it.
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
// nodes are dead, and frees their runs when it opens the file. A file can be replaced by an older
// one only while no process has it open, so no node ever meets a file that went back in time, and
// there is no epoch to watch.
//
// # Transactions of steps
//
// A step in a transaction gets a *sql.Tx. It takes the only writing connection with its first
// statement and keeps it until the step's turn is committed; everybody who writes waits for it. So:
//
//   - do slow work (a call to a bank) before the first statement; [Options].TxMax ends a
//     transaction that takes too long, and the attempt fails;
//   - start runs and send messages in it through [InTx]: a call outside of the transaction would
//     wait for its end;
//   - write to the file on no other connection while it is open, for the same reason. Reading is
//     fine, and sees what is committed.
//
// Calling Commit or Rollback of the *sql.Tx has no effect but an error and the end of the user's
// part of it.
//
// # Statements
//
// A statement is planned once for each connection. SQLite plans again, at every execution, a
// statement whose plan may depend on an argument: on a LIMIT, on a number that an index may not
// need, on a bound that the WHERE clause of an index compares. A plus sign before the parameter
// keeps it from looking: +? is the same value to an index. An idle claim takes 30 instead of 75
// microseconds for it.
//
// SQLite plans without looking at the size of tables, unless somebody has analysed them, so the
// plans that TestPlans and TestHotPlans see on an empty file are those of a large one.
//
// # For operators
//
// The file has views that show rows as text, for the sqlite3 shell: reprise_v_runs (runs with input
// and outcome), reprise_v_tasks (what an open run waits for, who owns it, why it is blocked),
// reprise_v_events (histories) and reprise_v_inbox (messages). For example, the history of a run:
//
//	SELECT seq, at, kind, name, payload FROM reprise_v_events
//	WHERE run_id = '…' ORDER BY generation, seq;
//
// Nothing in the engine reads them. Package migrations tells more.
//
// # Several journals
//
// Hints travel inside a [journal.Journal]. Two journals on one store hear of each other's work by
// polling.
//
// # Compared with package postgres
//
// A file of one driver has the name that the same noun has in the other, so that a diff of the two
// folders is a diff of two designs. Only here are lock.go (other processes must not exist) and
// writer.go (one connection writes). Only there are columns.go, commit_batch.go, commit_one.go and
// start_one.go (forms of statements that save work on a server), append.go (a turn that only adds
// events touches no task), listener.go (other processes exist), epoch.go (a server may go back in
// time) and statements.go (the schema's name is an option).
package sqlite
