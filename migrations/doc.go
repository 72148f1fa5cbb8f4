// Package migrations holds the SQL files that make and change the tables of the journal, and the
// rules by which they are applied. It touches no database: a driver reads what was applied, asks
// [Pending], and executes the answer in one transaction under a lock.
//
// Files are forward only and named 0007_add_inbox.sql. A released file never changes: its checksum
// is recorded, and a difference is an error. Their first line is "-- additive" if the release
// before can go on working on the changed tables, else "-- breaking". Two releases run side by side
// while a cluster is updated, so breaking files are for the release after the next.
//
// This is a runner of our own, because the well-kept libraries neither checksum what they applied
// nor take the schema's name as a parameter.
//
// # Views
//
// Four views show the tables as text, to whoever looks into a database with psql or the sqlite3
// shell. In Postgres they stand in the journal's schema (reprise.v_runs), in a SQLite file they
// have a prefix (reprise_v_runs). Nothing in the engine reads them, and none of them fails because
// of what somebody stored: a payload that is not JSON is shown as a text.
//
//   - v_runs: a row for each run, open or closed, with its key, status, times, labels, input and
//     outcome, its parent, and the times at which its timers have stopped and gone on.
//   - v_tasks: a row for each open run: its state (due, scheduled, waiting, owned, blocked,
//     quarantined), the node that owns it, what it waits for, the steps in retry, and the problem
//     that blocks it.
//   - v_events: the histories, an event a row, with the payloads of the messages that were
//     consumed.
//   - v_inbox: the messages, whether they are consumed, and the replies to updates.
//
// Why does the run with the key order-7 not go on?
//
//	SELECT state, node, waiting, attempts, problem, visible_at
//	FROM reprise.v_tasks WHERE key = 'order-7';
//
// What happened to it?
//
//	SELECT e.seq, e.at, e.kind, e.name, e.payload
//	FROM reprise.v_events e JOIN reprise.v_runs r ON r.id = e.run_id AND r.generation = e.generation
//	WHERE r.key = 'order-7' AND r.holds_key ORDER BY e.seq;
//
// Which messages has it not read?
//
//	SELECT i.number, i.at, i.kind, i.name, i.payload
//	FROM reprise.v_inbox i JOIN reprise.v_runs r ON r.id = i.run_id
//	WHERE r.key = 'order-7' AND r.holds_key AND NOT i.consumed ORDER BY i.number;
//
// How much waits, and where?
//
//	SELECT queue, workflow, version, state, count(*) FROM reprise.v_tasks GROUP BY 1, 2, 3, 4;
package migrations
