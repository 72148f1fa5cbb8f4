// Package postgres keeps a journal in PostgreSQL. [Store] implements [driver.Store] and
// [driver.TxStore] with all guarantees of package journal, for any number of processes on one
// database. It is tested on PostgreSQL 15 and 18; no statement needs anything that 13 does not
// have.
//
// # Shape
//
// Nearly every public method is one round trip: one statement, or a pipeline of statements which
// the server runs as one transaction. A client that dies, or a connection that breaks, therefore
// leaves all of a call or nothing of it, and no call holds a lock while it waits for its client.
// Three things take several round trips, because each step is decided by the one before, under
// locks: commits that do something to other runs, terminations, and starts with messages.
//
// Batches travel as arrays and are unnested by the server. The tables are described in package
// migrations; "reprise." in a statement stands for the schema's name and is replaced once, when a
// store opens.
//
// # What decides
//
// The row of a task is what nearly every decision about a run is made on, and its row lock is what
// puts decisions in an order. It holds the owner, the fence (how often the run has been claimed,
// and chance), the turn (how often a commit has changed the row) and the number of the newest
// message.
//
//   - A claim raises the fence, a commit must name owner, fence and turn of the row (J3). So of two
//     nodes that both believe to own a run, the later claim wins and the other one's commit finds
//     no row.
//   - A message takes its number from the row under the lock (J5), and the commit that parks a run
//     compares the number with what the turn has seen under the same lock (J6). So a message is
//     either seen by the turn or makes the task visible.
//   - A run that closes loses its task (J7), so every later commit, message and termination finds
//     no row, whatever its sender believes.
//
// A statement that waited for a row lock in READ COMMITTED evaluates its condition again on the
// newest version of the row. This is why no statement reads a task first and writes it later: the
// condition of the write decides.
//
// These numbers repeat in a database that goes back in time, by a fail-over to an asynchronous
// standby or by a restored copy. So each commit also names the newest event that it follows, by its
// link, and what was in the messages that it consumes, and the statement compares them.
//
// Most turns of a long run do nothing but add events. They leave the row of the task alone and are
// decided by the membership of their node and by their newest event; appendSQL has the argument.
// The row of the membership changes only when the node joins, is recalled or is lost, each of which
// excludes the node's appends. The lease, which changes all the time, is a row of its own.
//
// # What an answer is worth
//
// A call is answered when its commit is on disk, and on the disk of a synchronous standby if the
// server has one: sessions of the store have synchronous_commit at least at "on" (behind a pooler,
// where settings do not hold, the role or the database has to say so). A call that only recognises
// what an earlier call wrote ends with a record in the log of the server and waits for it. With an
// asynchronous standby a fail-over loses the last moments, acknowledged or not.
//
// # Order of locks
//
// Two transactions deadlock when each waits for a lock that the other has. The store's statements
// are safe from each other by five rules:
//
//   - The row of a task is locked before anything else of its run, and in the order of run ids
//     where a statement may wait for more than one.
//   - A commit that does something to others locks the tasks of all of them first, then takes the
//     keys of its children, in the order of keys. Starts take keys in the same order.
//   - The gates of limits that have a MaxBacklog come ahead of all rows: a start takes those of its
//     runs, and a commit those of its children, in the order of the hashes of their names.
//   - The lock of a node, which its appends share, comes after all rows of tasks, and in the order
//     of node ids where a transaction takes more than one. Whoever takes it alone waits two seconds
//     at most; see excludeSQL.
//   - Claims and reaps skip rows that are locked (SKIP LOCKED) and so wait for nobody.
//
// What is left of deadlocks is resolved by the server, and the victim is repeated by Store.call:
// batches of starts that exchange keys, descendants that were made between two looks, runs that are
// cancelled because a limit is full, and transactions of users, whose order is theirs.
//
// # Plans
//
// Every statement is written for nested loops over its indexes, whatever the tables hold. The
// planner has to be held to that, because plans are cached by connection and outlive the moment for
// which they were good: a plan made while a table was small would scan it when it has grown. One
// such plan made every commit read all that its node owned, and cost nine tenths of the throughput.
//
//   - Sessions have sequential scans, hash joins, merge joins and just-in-time compilation
//     switched off.
//   - Connections force one generic plan for all parameters. Planning a commit for its parameters
//     took 130 of the 286 microseconds that the server spent on it. Only listing is planned for
//     what it asks; see listPlanSQL.
//   - A key is compared as = ANY (ARRAY[x]) where it comes from a row of the batch. An equality
//     would make the planner consider a full scan of the index as an ordered path for a join, even
//     while sequential scans are off, and after a vacuum of a nearly empty table that looked cheap.
//     The array finds the same row by the same index and leaves no such path.
//   - Where a second index could look as good to the planner while the table is empty, the key is
//     compared as BETWEEN x AND x with ORDER BY and LIMIT. The order forces the index of the key;
//     for an equality the planner would know the order to be void and drop it.
//   - Conditions such as t.owner > 0 beside t.owner = $1 repeat the predicate of a partial index,
//     because the planner does not know that the parameter is above zero. They also keep node 0,
//     which is nobody, from owning the runs that nobody owns.
//
// The tests that hold the statements to this are TestClaimIsFlat, TestPlansOfATinyTable and
// TestPlansAfterAutovacuum. The transactions of steps run users' SQL and have everything switched
// on.
//
// # Behind a transaction pooler
//
// With [Options].Pooler nothing outlives a transaction: no prepared statements, no settings, no
// LISTEN, no session-level locks. Wake-ups then come by polling, and dead nodes are noticed when
// their lease runs out, unless [Options].ListenDSN leads beside the pooler: the listener and the
// lifeline have sessions then, and these are the evidence of life. That an address leads to such a
// pooler is found out when a connection is opened; see pooling.
//
// # Who has a connection
//
// Whoever waits for somebody else's lock, or reads for long, keeps a connection. So the pool is
// shared out, see shares, and what the engine needs to go on is never among what others can take.
//
// # Who is dead
//
// A node is dead when its lease has run out. A process that dies is noticed sooner: each session of
// a store holds a shared lock under the number of the store, so the lock is free when the last
// session is gone. The others then wait for the node's grace, look again, and take its runs. The
// node has stopped its steps by then, because it has had no answer on any session for its grace. So
// no single session can make a node seem dead, and no step runs on two nodes at once: see contact.
// A restart of the server ends all sessions and kills nobody.
//
// The node's part costs a small statement each quarter of a grace while there are other nodes,
// which also looks after a neighbour, on a connection that no other call can take. The lease is
// renewed there too, by primary key. What a node reads of the queue and of the others goes through
// the pool and may be late. About three of all nodes look at the others in the time of a renewal,
// so what a node costs does not grow with their number: see mustLook.
//
// # For operators
//
// Each schema has views that show rows as text, for psql: v_runs (runs with input and outcome),
// v_tasks (what an open run waits for, who owns it, why it is blocked), v_events (histories) and
// v_inbox (messages). For example, all runs that need somebody, and why:
//
//	SELECT run_id, key, workflow, state, problem FROM reprise.v_tasks
//	WHERE state IN ('blocked', 'quarantined');
//
// Nothing in the engine reads them. Package migrations tells more.
//
// # Compared with package sqlite
//
// A file of one driver has the name that the same noun has in the other, so that a diff of the two
// folders is a diff of two designs. Only here are columns.go, event_columns.go, binary_values.go,
// exchange.go, commit_batch.go, commit_close.go, commit_one.go, commit_write.go, append.go,
// append_one.go, start_batch.go and start_one.go (forms of statements that save work on a server,
// which a library in the process does not), exclude.go, epoch.go, roster.go, listener.go,
// session.go, safety.go, pooling.go, silence.go, share.go, dial.go,
// lifeline.go, contact.go, ask.go and look.go (other processes exist, and the server
// may go back in time), mark.go (dead rows stay for a while) and statements.go (the schema's name
// is an option). Only there are lock.go (other processes must not exist) and writer.go (one
// connection writes).
package postgres
