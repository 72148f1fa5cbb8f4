package postgres

// limitLockSQL takes the locks of limits, by hashes of their names and in the order of these, until
// the transaction ends. Whatever changes lines or claims of a limit has its lock, so what a round
// reads behind it is the present. Behind the lock of a node (appendShareSQL), never ahead: a reap
// takes both in the same order.
const limitLockSQL = `
SELECT pg_advisory_xact_lock($1::int, l.hash) FROM (SELECT h.hash FROM unnest($2::int[]) WITH ORDINALITY AS h(hash, ord) ORDER BY h.ord) l`

// limitTrySQL takes the locks of more limits, if nobody has them: they are not in the order of the
// others, so it must not wait.
const limitTrySQL = `SELECT h.hash FROM unnest($2::int[]) AS h(hash) WHERE pg_try_advisory_xact_lock($1::int, h.hash)`

// limitMemberSQL tells whether the node is a member, and the time, behind the locks. A node that is
// declared dead later has its claims freed behind this transaction, because both have its lock.
const limitMemberSQL = `
SELECT EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL), clock_timestamp()`

// limitRemoveSQL takes wants of a node away that have ended.
const limitRemoveSQL = `
DELETE FROM reprise.limit_claims c WHERE c.node = $1::int AND c.id = ANY ($2::bigint[])
RETURNING c.id, c.name, c.key, c.cost, c.granted_at`

// limitKnownSQL finds the wants of a round that is repeated.
const limitKnownSQL = `SELECT DISTINCT c.id FROM reprise.limit_claims c WHERE c.node = $1::int AND c.id = ANY ($2::bigint[])`

// limitStateSQL reads lines, the rows of limits that are for them, and who waits first in each: up
// to $3 claims of no set and what driver.LimitSetHeads says of each set that the line lists. It has
// a row for each of these, or one for a line in which nobody waits. Line and limit may be missing.
const limitStateSQL = `
SELECT k.name, k.key, l.concurrency, l.total, l.rate_n, l.rate_per, l.burst, l.weight, l.ageing,
       j.held, j.waiting, j.ready, j.served, j.open, j.look_at, j.rated_at, c.node, c.id, c.rank, c.since, c.cost, c.needs, c.run_id, c.set_id, c.ranks
FROM unnest($1::text[], $2::text[]) AS k(name, key)
LEFT JOIN LATERAL (SELECT * FROM reprise.limits l WHERE l.name = k.name AND l.key = k.key) l ON true
LEFT JOIN LATERAL (SELECT * FROM reprise.limit_lines j WHERE j.name = k.name AND j.key = k.key) j ON true
LEFT JOIN LATERAL (
    (SELECT c.node, c.id, c.rank, c.since, c.cost, c.needs, c.run_id, c.set_id, NULL::bigint[] AS ranks FROM reprise.limit_claims c
     WHERE j.waiting > 0 AND c.name = k.name AND c.key = k.key AND c.set_id = 0 AND c.granted_at IS NULL AND c.counted AND NOT c.ended AND NOT c.paused
     ORDER BY c.rank, c.node, c.id LIMIT $3::int)
    UNION ALL
    SELECT c.node, c.id, c.rank, c.since, c.cost, c.needs, c.run_id, c.set_id, (
        SELECT array_agg(p.rank ORDER BY p.part) FROM reprise.limit_claims p WHERE p.node = c.node AND p.id = c.id) AS ranks
    FROM (SELECT s.set_id, count(*) OVER () AS n FROM (
        SELECT s.set_id FROM reprise.limit_sets s WHERE s.name = k.name AND s.key = k.key AND NOT s.away
        ORDER BY s.name, s.key, s.first LIMIT $3::int) s) s
    CROSS JOIN LATERAL (
        SELECT * FROM reprise.limit_claims c
        WHERE j.waiting > 0 AND c.name = k.name AND c.key = k.key AND c.set_id = s.set_id AND c.granted_at IS NULL AND c.counted AND NOT c.ended
           AND NOT c.paused
        ORDER BY c.rank, c.node, c.id LIMIT greatest(8, $3::int / s.n)) c) c ON true`

// limitSetsSQL reads the sets that lines list, up to $3 of each.
const limitSetsSQL = `
SELECT k.name, k.key, s.set_id, s.first, s.queue, s.workflow, s.version FROM unnest($1::text[], $2::text[]) AS k(name, key)
CROSS JOIN LATERAL (
    SELECT * FROM reprise.limit_sets s WHERE s.name = k.name AND s.key = k.key AND NOT s.away ORDER BY s.name, s.key, s.first LIMIT $3::int) s`

// limitSetsGoneSQL forgets sets of which no claim waits.
const limitSetsGoneSQL = `DELETE FROM reprise.limit_sets s WHERE s.set_id = ANY ($1::bigint[])`

// limitSetsEnterSQL writes lines of sets of which claims have come to wait.
const limitSetsEnterSQL = `
INSERT INTO reprise.limit_sets AS s (set_id, name, key, first, queue, workflow, version, away)
SELECT u.set_id, u.name, u.key, u.first, u.queue, u.workflow, u.version, false
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::int[])
     AS u(set_id, name, key, first, queue, workflow, version)
ON CONFLICT (set_id, name, key) DO UPDATE SET first = excluded.first WHERE s.first > excluded.first`

// limitSetsMoveSQL says whether lines list their sets.
const limitSetsMoveSQL = `
UPDATE reprise.limit_sets s SET first = greatest(s.first, u.first), away = u.away, halted = u.halted
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bool[], $6::bool[]) AS u(set_id, name, key, first, away, halted)
WHERE s.set_id = u.set_id AND s.name = u.name AND s.key = u.key AND (s.first < u.first OR s.away <> u.away OR s.halted <> u.halted)`

// limitOpenSQL finds the lines that come first for the total of their limit.
const limitOpenSQL = `
SELECT o.name, o.key FROM unnest($1::text[]) AS k(name)
CROSS JOIN LATERAL (
    SELECT * FROM reprise.limit_lines o WHERE o.name = k.name AND o.open ORDER BY o.share, o.served LIMIT $2::int) o`

// limitLinesSQL writes lines, under the locks of their limits. Only an operator writes rated_at.
const limitLinesSQL = `
INSERT INTO reprise.limit_lines (name, key, held, waiting, ready, served, share, open, look_at)
SELECT u.name, u.key, u.held, u.waiting, u.ready, u.served, u.share, u.open, nullif(u.look_at, 0)
FROM unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bigint[], $6::bigint[], $7::float8[], $8::bool[], $9::bigint[])
     AS u(name, key, held, waiting, ready, served, share, open, look_at)
ON CONFLICT (name, key) DO UPDATE
SET held = excluded.held, waiting = excluded.waiting, ready = excluded.ready, served = excluded.served, share = excluded.share,
    open = excluded.open, look_at = excluded.look_at`

// limitInsertSQL writes wants: granted ones, and those that wait. The primary key refuses a round
// that arrives twice.
const limitInsertSQL = `
INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, granted_at, run_id, cmd, step, priority, needs, set_id)
SELECT $1::int, w.id, w.part, w.name, w.key, w.cost, w.rank, w.since, CASE WHEN w.granted THEN $2::timestamptz END, w.run_id, w.cmd, w.step,
       w.priority, w.needs, w.set_id
FROM unnest($3::bigint[], $4::smallint[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::timestamptz[], $10::bool[], $11::uuid[],
            $12::int[], $13::text[], $14::smallint[], $15::text[], $16::bigint[])
     AS w(id, part, name, key, cost, rank, since, granted, run_id, cmd, step, priority, needs, set_id)`

// limitGrantSQL grants wants that have waited. A run that was paused while the round went on holds
// its limits, as one that is paused a moment later.
const limitGrantSQL = `
UPDATE reprise.limit_claims c SET granted_at = $1::timestamptz, paused = false
FROM unnest($2::int[], $3::bigint[]) AS g(node, id) WHERE c.node = g.node AND c.id = g.id`

// limitOfNodeSQL lists what a node holds, or all that it has. What waits is asked for in a way that
// the indexes of all that wait cannot serve: if nearly all of it belongs to runs, as node 0, the
// planner takes a node to have as much.
const limitOfNodeSQL = `
SELECT c.id, c.granted_at IS NOT NULL, c.name, c.key, c.cost, c.needs FROM reprise.limit_claims c
WHERE c.node = $1::int AND c.part = 0 AND c.granted_at IS NOT NULL
UNION ALL
SELECT c.id, false, c.name, c.key, c.cost, c.needs FROM reprise.limit_claims c
WHERE $2::bool AND c.node = $1::int AND c.part = 0 AND (c.granted_at IS NOT NULL) = false`

// limitOneOrAll selects a want of a node, or all of its wants if there is no number: as a range,
// which the primary key finds. Node 0 may have a million.
const limitOneOrAll = `c.node = $1::int AND c.id BETWEEN coalesce($2::bigint, -9223372036854775808) AND coalesce($2::bigint, 9223372036854775807)`

// limitNamesSQL lists the limits that a node has something of: all of it, or one want. It follows
// the lock of the node, so the node gets nothing more.
const limitNamesSQL = `
SELECT DISTINCT c.name FROM reprise.limit_claims c WHERE ` + limitOneOrAll + ` ORDER BY c.name`

// limitFreeSQL frees what a node has, under the locks of the limits. Nobody is granted anything by
// it: every node that waits looks again when it hears of it, and some node for the sake of runs.
const limitFreeSQL = `
WITH gone AS (
    DELETE FROM reprise.limit_claims c WHERE ` + limitOneOrAll + `
    RETURNING c.name, c.key, c.granted_at IS NOT NULL AS held, c.granted_at IS NULL AND c.counted AS waits
), freed AS (
    SELECT g.name, g.key, count(*) FILTER (WHERE g.held) AS held, count(*) FILTER (WHERE g.waits) AS waiting FROM gone g GROUP BY g.name, g.key
    UNION ALL
    SELECT g.name, '~total', count(*) FILTER (WHERE g.held), 0 FROM gone g GROUP BY g.name
)
UPDATE reprise.limit_lines l
SET held = greatest(l.held - f.held, 0), waiting = greatest(l.waiting - f.waiting, 0), open = l.open AND l.waiting > f.waiting,
    share = CASE WHEN l.held > 0 THEN l.share * greatest(l.held - f.held, 0) / l.held ELSE 0 END,
    look_at = CASE WHEN f.held > 0 AND (l.look_at IS NOT NULL OR l.key = '~total') THEN 1 ELSE l.look_at END
FROM freed f WHERE l.name = f.name AND l.key = f.key`

// limitSweepSQL forgets lines that say nothing any more. A round that has read one of them writes
// it anew.
const limitSweepSQL = `
DELETE FROM reprise.limit_lines l
WHERE l.held = 0 AND l.waiting = 0 AND l.look_at IS NULL AND l.ready < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 60000000`

// limitReadSQL reads the row of a limit that an operator changes, under its lock, and that for all
// keys.
const limitReadSQL = `
SELECT l.name, l.key, l.concurrency, l.total, l.rate_n, l.rate_per, l.burst, l.weight, l.ageing, l.at, l.actor, l.reason,
       l.max_backlog, l.on_full
FROM reprise.limits l WHERE l.name = $1::text AND (l.key = $2::text OR l.key = '')`

// limitRatedSQL reads lines of a limit, behind the last that was read, that the row for all keys is
// for: those that are held or not ready.
const limitRatedSQL = `
SELECT l.key, l.ready, t.now FROM reprise.limit_lines l
CROSS JOIN (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now OFFSET 0) t
WHERE l.name = $1::text AND l.key > $2::text AND l.key <> '~total' AND (l.held > 0 OR l.ready > t.now)
  AND NOT EXISTS (SELECT FROM reprise.limits o WHERE o.name = l.name AND o.key = l.key)
ORDER BY l.key LIMIT $3::int`

// limitRatedKeySQL reads the line of one key. $3 is that of limitRatedSQL.
const limitRatedKeySQL = `
SELECT l.key, l.ready, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint FROM reprise.limit_lines l
WHERE l.name = $1::text AND l.key = $2::text LIMIT $3::int`

// limitRerateSQL moves lines to another rate.
const limitRerateSQL = `
UPDATE reprise.limit_lines l SET ready = r.ready, rated_at = r.at
FROM unnest($2::text[], $3::bigint[], $4::bigint[]) AS r(key, ready, at) WHERE l.name = $1::text AND l.key = r.key`

// limitSetSQL writes the row of a limit.
const limitSetSQL = `
INSERT INTO reprise.limits (name, key, concurrency, total, rate_n, rate_per, burst, weight, ageing, at, actor, reason, max_backlog, on_full)
VALUES ($1::text, $2::text, $3::int, $4::int, $5::bigint, $6::bigint, $7::bigint, $8::int, $9::bigint, clock_timestamp(), $10::text, $11::text,
        $12::int, $13::smallint)
ON CONFLICT (name, key) DO UPDATE
SET concurrency = excluded.concurrency, total = excluded.total, rate_n = excluded.rate_n, rate_per = excluded.rate_per, burst = excluded.burst,
    weight = excluded.weight, ageing = excluded.ageing, at = excluded.at, actor = excluded.actor, reason = excluded.reason,
    max_backlog = excluded.max_backlog, on_full = excluded.on_full`

// limitUnsetSQL removes the row of a limit.
const limitUnsetSQL = `DELETE FROM reprise.limits l WHERE l.name = $1::text AND l.key = $2::text`

// limitRetotalSQL makes the lines of a limit those of one that has a total, or has none: $2.
const limitRetotalSQL = `
WITH lines AS (
    UPDATE reprise.limit_lines l SET open = $2::bool AND l.waiting > 0, share = CASE WHEN $2::bool THEN l.held ELSE 0 END, served = 0
    WHERE l.name = $1::text AND l.key <> '~total' RETURNING l.held
), dropped AS (
    DELETE FROM reprise.limit_lines l WHERE NOT $2::bool AND l.name = $1::text AND l.key = '~total'
)
INSERT INTO reprise.limit_lines (name, key, held, waiting, ready, served, share, open)
SELECT $1::text, '~total', coalesce(sum(l.held), 0), 0, 0, 0, 0, false FROM lines l HAVING $2::bool
ON CONFLICT (name, key) DO UPDATE SET held = excluded.held`

// limitReshareSQL makes lines those of another weight: that of a key, or all of a limit that has a
// total.
const limitReshareSQL = `
UPDATE reprise.limit_lines l
SET share = l.held::float8 / greatest(1, coalesce((SELECT o.weight FROM reprise.limits o WHERE o.name = l.name AND o.key = l.key),
    (SELECT o.weight FROM reprise.limits o WHERE o.name = l.name AND o.key = ''), 1))
WHERE l.name = $1::text AND ($2::text = '' OR l.key = $2::text) AND l.key <> '~total'
  AND EXISTS (SELECT FROM reprise.limits t WHERE t.name = $1::text AND t.key = '' AND t.total > 0)`

// limitClaimSQL reads a claim that an operator releases, under its lock.
const limitClaimSQL = `
SELECT c.name, c.key, c.step, c.run_id, c.granted_at IS NULL FROM reprise.limit_claims c
WHERE c.node = $1::int AND c.id = $2::bigint AND NOT c.ended ORDER BY c.part LIMIT 1`

// limitsSQL lists limits: those of a name, or all.
const limitsSQL = `
SELECT l.name, l.key, l.concurrency, l.total, l.rate_n, l.rate_per, l.burst, l.weight, l.ageing, l.at, l.actor, l.reason,
       l.max_backlog, l.on_full
FROM reprise.limits l WHERE ($1::text = '' OR l.name = $1::text) AND ($2::text = '' OR l.key IN ('', $2::text)) ORDER BY l.name, l.key`

// limitUsesSQL lists lines that say something, the longest first.
const limitUsesSQL = `
SELECT j.name, j.key, l.concurrency, l.total, l.rate_n, l.rate_per, l.burst, l.weight, l.ageing, j.held, j.waiting, j.ready, j.served, j.open,
       j.look_at, j.rated_at, NULL::int, NULL::bigint, NULL::bigint, NULL::timestamptz, NULL::bigint, NULL::text, NULL::uuid, NULL::bigint, NULL::bigint[]
FROM reprise.limit_lines j
LEFT JOIN LATERAL (SELECT * FROM reprise.limits l WHERE l.name = j.name AND l.key IN ('', j.key) ORDER BY l.key DESC LIMIT 1) l ON true
WHERE ($1::text = '' OR j.name = $1::text) AND ($2::text = '' OR j.key = $2::text) AND j.key <> '~total'
  AND (j.held > 0 OR j.waiting > 0 OR j.ready > (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
ORDER BY j.waiting DESC, j.held DESC, j.name, j.key LIMIT $3::int`

// limitHeldSQL lists claims that are held. There are as many as steps are executed.
const limitHeldSQL = `
SELECT c.name, c.key, c.node, c.id, c.run_id, c.cmd, c.step, c.cost, c.since, c.granted_at, c.priority, 0
FROM reprise.limit_claims c
WHERE c.granted_at IS NOT NULL AND NOT c.ended AND ($1::text = '' OR c.name = $1::text) AND ($2::text = '' OR c.key = $2::text)
  AND ($3::uuid IS NULL OR c.run_id = $3::uuid)
ORDER BY c.name, c.key, c.granted_at, c.node, c.id LIMIT $4::int`

// placeOf counts a claim's place in its line, or the one that it will have if no round has counted
// it yet.
const placeOf = `(SELECT count(*) FROM (SELECT FROM reprise.limit_claims x WHERE x.name = c.name AND x.key = c.key AND x.granted_at IS NULL
        AND x.counted AND x.part >= 0 AND NOT x.ended AND (x.rank, x.node, x.id) <= (c.rank, c.node, c.id) LIMIT 1000) x) + (NOT c.counted)::int`

// limitWaitingSQL lists claims that wait, in the order of their lines.
const limitWaitingSQL = `
SELECT c.name, c.key, c.node, c.id, c.run_id, c.cmd, c.step, c.cost, c.since, c.granted_at, c.priority, ` + placeOf + `
FROM reprise.limit_claims c
WHERE c.granted_at IS NULL AND c.counted AND c.part >= 0 AND NOT c.ended ORDER BY c.name, c.key, c.rank, c.node, c.id LIMIT $1::int`

// limitWaitingNameSQL lists those of one limit.
const limitWaitingNameSQL = `
SELECT c.name, c.key, c.node, c.id, c.run_id, c.cmd, c.step, c.cost, c.since, c.granted_at, c.priority, ` + placeOf + `
FROM reprise.limit_claims c
WHERE c.granted_at IS NULL AND c.counted AND c.part >= 0 AND NOT c.ended AND c.name = $1::text AND ($2::text = '' OR c.key = $2::text) ORDER BY c.name, c.key, c.rank, c.node, c.id LIMIT $3::int`

// limitWaitingRunSQL lists those of one run.
const limitWaitingRunSQL = `
SELECT c.name, c.key, c.node, c.id, c.run_id, c.cmd, c.step, c.cost, c.since, c.granted_at, c.priority, ` + placeOf + `
FROM reprise.limit_claims c
WHERE c.granted_at IS NULL AND NOT c.ended AND c.run_id = $1::uuid AND ($2::text = '' OR c.name = $2::text) AND ($3::text = '' OR c.key = $3::text)
ORDER BY c.name, c.key, c.rank, c.node, c.id LIMIT $4::int`
