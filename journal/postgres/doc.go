// Package postgres keeps a journal in PostgreSQL 13 or later. [Store] implements [journal.Store] and
// [journal.TxStore].
//
// # Shape
//
// Nearly every public method is one round trip: one statement, or a pipeline of statements which the server runs as one transaction.
// Commits that do something to other runs, terminations and starts with messages take a few: each step is decided by
// the one before, under locks.
// Batches travel as arrays and are unnested by the server. The tables are described in the package
// migrations; "reprise." in the statements stands for the schema's name and is replaced once, when a store opens.
//
// # Order of locks
//
// Rows of tasks are locked before anything else of their run, and in the order of run ids where a statement may wait.
// A commit that does something to others locks the tasks of all of them first, then takes the keys of its children in order.
// Claims and reaps skip rows that are locked. What is left of deadlocks (batches of starts that exchange keys, descendants that
// were made meanwhile) is resolved by the server, and the victim is repeated.
//
// # Plans
//
// Every statement is written for nested loops over its indexes. A plan that was cached while a table was
// small would scan it when it has grown, so a store's connections have the other plans switched off. There is one plan for
// all parameters of a statement: planning a commit for its parameters takes longer than executing it. Only
// listing is planned for what it is asked. The transactions of steps run users' SQL and have everything switched on.
//
// # Behind a transaction pooler
//
// With [Options].Pooler nothing outlives a transaction: no prepared statements, no LISTEN, no session-level
// locks. Wake-ups then come by polling, and dead nodes are noticed when their lease runs out.
package postgres
