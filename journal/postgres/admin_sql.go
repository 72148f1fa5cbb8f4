package postgres

// adminDeleteSQL forgets a closed run: its row, its events and its messages.
//
// The row of the run is deleted first, and the other statements join with what that deleted. Two
// deletes therefore queue up at the row, and the second finds none and answers that the run is
// gone: it still sees the closed run in its snapshot, and does not take it for an open one. The
// condition of the status is evaluated on the locked row, so a run that a retry or reset opens
// meanwhile stays, and is reported as gone or as open, by who came first. So there is one row of
// the audit for each run that is deleted (J12).
const adminDeleteSQL = `
WITH gone AS (
    DELETE FROM reprise.runs r WHERE r.id = $1::uuid AND r.status <> 0 RETURNING r.id, r.workflow
), events AS (
    DELETE FROM reprise.events e USING gone g WHERE e.run_id = ANY (ARRAY[g.id])
), inbox AS (
    DELETE FROM reprise.inbox m USING gone g WHERE m.run_id = ANY (ARRAY[g.id])
), noted AS (
    INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
    SELECT clock_timestamp(), $2::text, $3::text, g.id, g.workflow, $4::text, $5::text FROM gone g
)
SELECT EXISTS (SELECT FROM gone), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid AND r.status = 0), 0, 0`

// adminResumeSQL makes a run visible now, and forgives it what has held it back.
//
// It follows the lock of the task, see adminHold. If the run is owned, its owner keeps it and is
// only asked to look: state, strikes and problem are the owner's to change with its next commit
// (J3), so they are left alone. A pause is not the owner's, so it ends here (J11). A paused run
// that nobody has claimed yet begins when its start says, and one that waits for limits waits
// on, and comes back into its lines with the next round.
// A freeze of the timers ends too, or is taken back, as driver.Thaw says.
const adminResumeSQL = `
WITH held AS MATERIALIZED (
    SELECT t.run_id, t.state FROM reprise.tasks t WHERE t.run_id = $1::uuid
), waits AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM reprise.limit_claims c WHERE c.node = 0 AND c.run_id = $1::uuid AND c.granted_at IS NULL AND NOT c.ended) AS waits
), resumed AS (
    UPDATE reprise.tasks t
    SET visible_at = CASE WHEN t.owner = 0 AND (SELECT w.waits FROM waits w) THEN 'infinity' WHEN t.state = 3 AND t.fence = 0 THEN greatest(now(), t.visible_at) ELSE now() END,
        state   = CASE WHEN t.owner = 0 AND (SELECT w.waits FROM waits w) THEN -1 WHEN t.owner = 0 OR t.state >= 3 THEN 0 ELSE t.state END,
        strikes = CASE WHEN t.owner = 0 THEN 0 ELSE t.strikes END,
        problem = CASE WHEN t.owner = 0 THEN '' ELSE t.problem END
    WHERE t.run_id = $1::uuid
    RETURNING t.run_id, t.workflow, t.owner, t.state
), returned AS (
    UPDATE reprise.limit_claims c SET paused = false
    WHERE c.node = 0 AND c.run_id = $1::uuid AND c.granted_at IS NULL AND NOT c.ended AND c.paused
), thawed AS (
    UPDATE reprise.runs r
    SET freezes = CASE WHEN h.state > 3 THEN nullif(r.freezes[:cardinality(r.freezes) - 1], '{}')
                       ELSE r.freezes || greatest(clock_timestamp(), r.freezes[cardinality(r.freezes)]) END
    FROM held h WHERE r.id = ANY (ARRAY[h.run_id]) AND cardinality(r.freezes) % 2 = 1
), noted AS (
    INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
    SELECT clock_timestamp(), $2::text, $3::text, r.run_id, r.workflow, $4::text, $5::text FROM resumed r
)
SELECT EXISTS (SELECT FROM resumed), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid),
       coalesce((SELECT r.owner FROM resumed r), 0), coalesce((SELECT r.state FROM resumed r), 0), false`

// adminPauseSQL puts a run on hold (J11), as driver.PausedBy says: $6 is whether running attempts
// are to be interrupted. If $7 is set, timers stand still from now on; that, and what an
// interruption does to a freeze that lasts, is driver.Frozen. $8 is the length from which a row
// takes no other freeze, also if its last one has no end yet: a pause that asks for one changes
// nothing and says so, and an interruption divides none.
//
// It follows the lock of the task, see adminHold: a commit of the owner comes before, and the owner
// then hears of the pause because the task is visible, or after, and finds the mark. So does a
// claim, which skips the row while it is locked and does not see it afterwards. A pause that
// changes nothing leaves no row in the audit (J12). If the run waits for limits, its claim leaves
// its lines with the next round.
const adminPauseSQL = `
WITH held AS MATERIALIZED (
    SELECT t.run_id, t.workflow, t.owner, t.state, greatest(clock_timestamp(), r.freezes[cardinality(r.freezes)]) AS at,
           coalesce(cardinality(r.freezes) % 2 = 1, false) AS frozen, coalesce(cardinality(r.freezes) >= $8::int, false) AS full
    FROM reprise.tasks t CROSS JOIN LATERAL (SELECT r.freezes FROM reprise.runs r WHERE r.id = ANY (ARRAY[t.run_id])) r
    WHERE t.run_id = $1::uuid
), allowed AS MATERIALIZED (
    SELECT * FROM held h WHERE NOT ($7::bool AND h.full AND NOT h.frozen)
), paused AS (
    UPDATE reprise.tasks t
    SET state = CASE WHEN h.owner = 0 THEN 3 WHEN $6::bool THEN 5 ELSE 4 END,
        visible_at = CASE WHEN h.owner = 0 THEN t.visible_at ELSE now() END
    FROM allowed h
    WHERE t.run_id = ANY (ARRAY[h.run_id]) AND (h.state < 3 OR $6::bool AND h.owner > 0 AND h.state < 5)
    RETURNING t.run_id, t.workflow, t.state
), aside AS (
    UPDATE reprise.limit_claims c SET paused = true
    WHERE c.node = 0 AND c.run_id = $1::uuid AND c.granted_at IS NULL AND NOT c.ended AND EXISTS (SELECT FROM paused p)
), frozen AS (
    UPDATE reprise.runs r
    SET freezes = r.freezes || CASE WHEN h.frozen THEN ARRAY[h.at, h.at] ELSE ARRAY[h.at] END
    FROM allowed h
    WHERE r.id = ANY (ARRAY[h.run_id]) AND NOT h.full
      AND CASE WHEN h.frozen THEN $6::bool AND h.owner > 0 AND h.state = 3 ELSE $7::bool END
    RETURNING r.id
), noted AS (
    INSERT INTO reprise.audit (at, actor, verb, run_id, workflow, reason, detail)
    SELECT clock_timestamp(), $2::text, $3::text, h.run_id, h.workflow, $4::text, $5::text FROM allowed h
    WHERE EXISTS (SELECT FROM paused) OR EXISTS (SELECT FROM frozen)
)
SELECT EXISTS (SELECT FROM allowed), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid),
       coalesce((SELECT h.owner FROM held h), 0), coalesce((SELECT p.state FROM paused p), (SELECT h.state FROM held h), 0),
       EXISTS (SELECT FROM held) AND NOT EXISTS (SELECT FROM allowed)`

// adminParentSQL reads what a run's parent is to be told, and whether the run is open. It locks
// nothing: it is sent twice, once to learn who the parent is, which never changes, and once under
// the locks of both tasks, for the status.
const adminParentSQL = `
SELECT r.status, r.workflow, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy
FROM reprise.runs r WHERE r.id = $1::uuid`

// adminRowSQL reads what an operator may change in the row of a run, and locks the row: a closed
// run has no task whose lock keeps two operators apart. The lock of an open run's task is held
// already, as in a commit, so the row is that of the newest turn.
const adminRowSQL = `SELECT r.status, r.workflow, r.priority, r.labels::text FROM reprise.runs r WHERE r.id = $1::uuid FOR UPDATE OF r`

// adminPrioritySQL changes the priority of an open run: in its row, in its task's for nodes that
// claim, and in what it waits for of limits, whose rank is since and an ageing for each priority. A
// round that puts the run into its lines at this moment has the priority before: limitArriveSQL
// makes up for that. The lock of the task comes ahead of those of the claims, as in a round.
const adminPrioritySQL = `
WITH queued AS (
    UPDATE reprise.tasks t SET priority = $2::smallint WHERE t.run_id = $1::uuid
), moved AS (
    UPDATE reprise.limit_claims c
    SET priority = $2::smallint,
        rank = (extract(epoch FROM c.since) * 1000000)::bigint +
               (c.rank - (extract(epoch FROM c.since) * 1000000)::bigint) / c.priority * $2::smallint
    WHERE c.node = 0 AND c.run_id = $1::uuid AND c.granted_at IS NULL AND NOT c.ended
    RETURNING c.set_id, c.name, c.key, c.rank
), listed AS (
    UPDATE reprise.limit_sets s SET first = m.rank
    FROM moved m WHERE s.set_id = m.set_id AND s.name = m.name AND s.key = m.key AND s.first > m.rank
)
UPDATE reprise.runs r SET priority = $2::smallint WHERE r.id = $1::uuid`

// drainReadSQL reads a member that an operator wants to leave, and locks its row: two operators
// change it once. Whoever renews only reads the row.
const drainReadSQL = `
SELECT m.drain, n.name FROM reprise.members m JOIN reprise.nodes n ON n.id = m.node
WHERE m.node = $1::int AND m.lost_at IS NULL FOR UPDATE OF m`

// drainSQL asks a node to leave, under the lock of drainReadSQL.
const drainSQL = `UPDATE reprise.members m SET drain = true WHERE m.node = $1::int AND m.lost_at IS NULL`

// viewLockSQL lets one action at a time change the views, so that their number stays within its
// limit. Readers do not wait.
const viewLockSQL = `LOCK TABLE reprise.views IN SHARE ROW EXCLUSIVE MODE`

// viewReadSQL reads what the view with a name is, under viewLockSQL, and how many there are.
const viewReadSQL = `
SELECT (SELECT v.address FROM reprise.views v WHERE v.name = $1::text), (SELECT count(*) FROM reprise.views)`

// viewSaveSQL saves a view, under viewLockSQL.
const viewSaveSQL = `
INSERT INTO reprise.views (name, address, at, actor) VALUES ($1::text, $2::text, clock_timestamp(), $3::text)
ON CONFLICT (name) DO UPDATE SET address = excluded.address, at = excluded.at, actor = excluded.actor`

// viewDeleteSQL deletes a view, under viewLockSQL.
const viewDeleteSQL = `DELETE FROM reprise.views v WHERE v.name = $1::text`

// viewsSQL reads all views, which are few. It locks nothing.
const viewsSQL = `SELECT v.name, v.address, v.at, v.actor FROM reprise.views v ORDER BY v.name COLLATE "C"`
