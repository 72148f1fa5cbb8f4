package postgres

// durableSQL makes an answer that was only read as durable as one that was written (J10). It
// writes a record of a few bytes into the log of the server, which nobody reads, and its commit
// waits for what every commit waits for: the disk, and a synchronous standby if there is one.
//
// Without it a repeated call could acknowledge what exists on one machine alone. The first try of a
// start hangs in the wait for the standby and is given up by its caller. Postgres then makes the
// row visible, although the standby does not have it. The second try finds the row and writes
// nothing, so its commit waits for nothing. If the primary dies now, an acknowledged run is gone.
//
// The record comes after the commit records of all that the call has seen, and a standby that has
// the record has all before it. It is written where a call recognises what an earlier one wrote
// (J4); a call that writes waits anyway.
const durableSQL = `SELECT pg_logical_emit_message(true, 'reprise', '')`

// durableReadSQL is durableSQL for calls that are asked for what a client has waited for, the end
// of a run or the answer to an update: to read it is to acknowledge it. The commit that wrote it
// may have been given up in its wait for the standby, and then it can be read, and be lost. Without
// a synchronous standby everything that can be read is as durable as it will be, so nothing is
// written and the statement costs next to nothing.
const durableReadSQL = `
SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' THEN pg_logical_emit_message(true, 'reprise', '') END`
