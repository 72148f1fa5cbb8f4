package postgres

// startLimitedSQL is startSQL for runs that hold limits: their tasks wait, owned by nobody, and a
// claim of each belongs to node 0. It does not lock the limits. So no round has counted the claims:
// the next one takes them in, by limit_claims_news_idx. Their rank is what most limits make of it,
// for whoever reads it before.
const startLimitedSQL = `
WITH made AS (
    INSERT INTO reprise.runs (id, created_at, start_at, version, priority, holds_key, workflow, queue, key, labels,
                              input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy,
                              headers, timeout, on_failure, beyond_backlog, limits)
    SELECT i.id, statement_timestamp(), statement_timestamp() + i.delay * interval '1 microsecond', i.version, i.priority,
           i.key IS NOT NULL, i.workflow, i.queue, i.key, i.labels::jsonb, i.input, i.encoding, i.trace,
           i.parent, i.parent_generation, i.parent_cmd, i.parent_policy, i.headers, i.timeout, i.on_failure, i.beyond_backlog,
           i.limits
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::text[], $6::smallint[], $7::text[], $8::bytea[],
                $9::text[], $10::text[], $11::bigint[], $12::uuid[], $13::int[], $14::int[], $15::smallint[],
                $16::text[], $17::bigint[], $18::text[], $19::bool[], $20::text[])
         AS i(id, key, workflow, version, queue, priority, labels, input, encoding, trace, delay,
              parent, parent_generation, parent_cmd, parent_policy, headers, timeout, on_failure, beyond_backlog, limits)
    ON CONFLICT DO NOTHING -- in the input's order, which is the order of keys
    RETURNING id, created_at, start_at, version, priority, workflow, queue, limits, beyond_backlog
), queued AS (
    INSERT INTO reprise.tasks (run_id, visible_at, state, version, priority, queue, workflow)
    SELECT m.id, 'infinity', -1, m.version, m.priority, m.queue, m.workflow FROM made m
), asking AS MATERIALIZED (
    SELECT m.id, m.priority, m.limits, coalesce(m.start_at, m.created_at) AS since, nextval('reprise.limit_runs_seq') AS number, false AS paused,
           coalesce(m.beyond_backlog, false) AS spared
    FROM made m
), claimed AS (` + limitAskRows + `)
SELECT m.id, coalesce(m.start_at, m.created_at), false, clock_timestamp() FROM made m`

// limitAskRows writes the claims of runs that are in asking.
const limitAskRows = `
    INSERT INTO reprise.limit_claims (node, id, part, name, key, cost, rank, since, run_id, cmd, step, priority, needs, counted, paused, spared)
    SELECT 0, a.number, n.ord - 1, n.need ->> 'name', coalesce(n.need ->> 'key', ''), (n.need ->> 'cost')::bigint,
           (extract(epoch FROM a.since) * 1000000)::bigint + a.priority * 60000000::bigint, a.since, a.id, 0, '', a.priority,
           CASE WHEN jsonb_array_length(a.limits::jsonb) > 1 THEN a.limits END, false, a.paused, a.spared
    FROM asking a CROSS JOIN LATERAL jsonb_array_elements(a.limits::jsonb) WITH ORDINALITY AS n(need, ord)`

// limitAgainSQL lets a run wait for its limits that was closed, or is a fork, behind rewindSQL,
// which has given its task the time from which it waits.
const limitAgainSQL = `
WITH asking AS MATERIALIZED (
    SELECT r.id, r.priority, r.limits, greatest(clock_timestamp(), t.visible_at) AS since, nextval('reprise.limit_runs_seq') AS number, false AS paused,
           true AS spared
    FROM reprise.runs r JOIN reprise.tasks t ON t.run_id = $1::uuid WHERE r.id = $1::uuid AND r.limits IS NOT NULL
), waits AS (
    UPDATE reprise.tasks t SET state = -1, visible_at = 'infinity' FROM asking a WHERE t.run_id = ANY (ARRAY[a.id]) RETURNING t.state
), claimed AS (` + limitAskRows + `)
SELECT w.state FROM waits w`

// limitRerouteSQL lets a run wait in another set, if it waits, behind rewindSQL, which has given it
// another version: its claim ends, and another one has its place, by the same time.
const limitRerouteSQL = `
WITH old AS MATERIALIZED (
    SELECT x.node, x.id, x.part, x.since FROM reprise.limit_claims x
    WHERE x.node = 0 AND x.run_id BETWEEN $1::uuid AND $1::uuid AND NOT x.ended AND x.granted_at IS NULL ORDER BY x.run_id LIMIT 1000
), ended AS (
    UPDATE reprise.limit_claims c SET ended = true FROM old o WHERE c.node = o.node AND c.id = o.id AND c.part = o.part
), asking AS MATERIALIZED (
    SELECT r.id, r.priority, r.limits, o.since, nextval('reprise.limit_runs_seq') AS number, t.state = 3 AS paused, true AS spared
    FROM old o JOIN reprise.runs r ON r.id = $1::uuid JOIN reprise.tasks t ON t.run_id = $1::uuid WHERE o.part = 0
)` + limitAskRows

// limitSpareSQL spares a run that waits, behind rewindSQL: nobody goes for it who comes to a full
// limit.
const limitSpareSQL = `
UPDATE reprise.limit_claims c SET spared = true
FROM (SELECT x.node, x.id, x.part FROM reprise.limit_claims x
      WHERE x.node = 0 AND x.run_id BETWEEN $1::uuid AND $1::uuid AND NOT x.ended AND x.granted_at IS NULL ORDER BY x.run_id LIMIT 1000) x
WHERE c.node = x.node AND c.id = x.id AND c.part = x.part`

// limitEndSQL ends what runs hold that close, or wait for, behind the locks of their tasks. It
// looks for each run by itself, which the limit of the subquery makes sure of: a join is planned
// for an empty table as one look at the claims of all runs.
const limitEndSQL = `
UPDATE reprise.limit_claims c SET ended = true
FROM unnest($1::uuid[]) AS i(id) CROSS JOIN LATERAL (
    SELECT x.node, x.id, x.part FROM reprise.limit_claims x WHERE x.node = 0 AND x.run_id = i.id AND NOT x.ended LIMIT 1000) x
WHERE c.node = x.node AND c.id = x.id AND c.part = x.part`

// limitMoreSQL lets free runs that have not begun wait for limits, in the transaction of the turns
// that ask, behind limitEndSQL and under the locks of their tasks. One that is paused stays so. A
// run to which a message has come before its time waits from now on.
const limitMoreSQL = `
WITH asking AS MATERIALIZED (
    SELECT r.id, r.priority, i.limits, least(coalesce(r.start_at, r.created_at), clock_timestamp()) AS since,
           nextval('reprise.limit_runs_seq') AS number, t.state = 3 AS paused,
           r.generation > 1 OR r.beyond_backlog IS NOT NULL AS spared
    FROM unnest($1::uuid[], $2::text[]) AS i(id, limits)
    CROSS JOIN LATERAL (SELECT t.state FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) t
    CROSS JOIN LATERAL (SELECT r.id, r.priority, r.start_at, r.created_at, r.generation, r.beyond_backlog FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
), needed AS (
    UPDATE reprise.runs r SET limits = a.limits FROM asking a WHERE r.id = ANY (ARRAY[a.id])
), claimed AS (` + limitAskRows + `)
UPDATE reprise.tasks t SET state = CASE WHEN t.state = 3 THEN t.state ELSE -1 END, visible_at = 'infinity'
FROM asking a WHERE t.run_id = ANY (ARRAY[a.id])`

// limitDueSQL finds limits for which a round should be made because of runs, up to $1 claims and $2
// lines. It locks nothing: the round reads again behind the locks, and in the same order, so that
// it finds claims whose limits it has locked. The last column tells a line. The time is a subquery
// here and below, which the index can be searched for: compared with the clock itself, all claims
// and lines were read that are due at any time.
const limitDueSQL = `
SELECT x.name, x.key, false FROM (
    SELECT DISTINCT c.name, c.key FROM (
        SELECT c.name, c.key FROM reprise.limit_claims c
        WHERE (c.ended OR c.counted = c.paused) AND c.since <= (SELECT clock_timestamp())
        ORDER BY c.since, c.id LIMIT $1::int) c) x
UNION ALL
SELECT l.name, l.key, true FROM (
    SELECT l.name, l.key FROM reprise.limit_lines l
    WHERE l.look_at IS NOT NULL AND l.look_at <= (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
    ORDER BY l.look_at LIMIT $2::int) l`

// limitNextSQL tells when limitDueSQL will find something that it has not found. $1 is a look_at
// that never comes. It compares with the begin of the transaction: what has fallen due behind
// limitDueSQL is in neither answer else, and waits for a poll.
const limitNextSQL = `
SELECT (
    SELECT c.since FROM reprise.limit_claims c
    WHERE (c.ended OR c.counted = c.paused) AND c.since > now() ORDER BY c.since LIMIT 1), (
    SELECT l.look_at FROM reprise.limit_lines l
    WHERE l.look_at IS NOT NULL AND l.look_at > (extract(epoch FROM now()) * 1000000)::bigint AND l.look_at < $1::bigint
    ORDER BY l.look_at LIMIT 1)`

// limitNewsSQL reads the claims of runs that a round takes in, behind the locks. Claims of nodes
// are never news. It does not say so, and asks for the part in a way that no index can be searched
// for: by either, a plan of an empty table would read the claims of all runs.
const limitNewsSQL = `
SELECT c.id, c.run_id, c.priority, c.since, c.granted_at, c.counted, c.ended, c.paused, c.name, c.key, c.cost, c.needs, c.set_id,
       coalesce(r.queue, ''), coalesce(r.workflow, ''), coalesce(r.version, 0)
FROM reprise.limit_claims c
LEFT JOIN LATERAL (SELECT r.queue, r.workflow, r.version FROM reprise.runs r WHERE r.id = ANY (ARRAY[c.run_id]) LIMIT 1) r ON true
WHERE (c.ended OR c.counted = c.paused) AND c.part + 0 = 0 AND c.since <= (SELECT clock_timestamp())
ORDER BY c.since, c.id LIMIT $1::int`

// limitArriveSQL puts claims of runs into their lines. A run may have ended meanwhile: its claim
// counts all the same, until the next round. If its priority is another one by now, its rank is
// that of the new one: since, and an ageing for each priority. If it was paused meanwhile and waits
// on, it leaves its lines with the next round. The node, which is 0, comes with each claim: written
// out, it lets a plan of an empty table read the claims of all runs.
const limitArriveSQL = `
UPDATE reprise.limit_claims c
SET counted = true, set_id = a.set_id, granted_at = CASE WHEN a.granted THEN $1::timestamptz END, paused = c.paused AND NOT a.granted,
    rank = CASE WHEN c.priority = a.priority THEN a.rank
                ELSE (extract(epoch FROM c.since) * 1000000)::bigint +
                     (a.rank - (extract(epoch FROM c.since) * 1000000)::bigint) / a.priority * c.priority END
FROM unnest($2::int[], $3::bigint[], $4::smallint[], $5::bigint[], $6::bool[], $7::smallint[], $8::bigint[])
     AS a(node, id, part, rank, granted, priority, set_id)
WHERE c.node = a.node AND c.id = a.id AND c.part = a.part`

// limitAsideSQL stores that claims of runs are in no line: they are paused. One that was resumed
// meanwhile comes to wait again.
const limitAsideSQL = `
UPDATE reprise.limit_claims c SET counted = false FROM unnest($1::int[], $2::bigint[]) AS a(node, id) WHERE c.node = a.node AND c.id = a.id`

// limitBeginSQL lets runs begin that have got their limits, behind the locks of their tasks. One
// that is paused begins when it is resumed; one that is closed has no task. One that was closed and
// opened again while the round had read its claim waits for another claim, and this one has ended.
const limitBeginSQL = `
UPDATE reprise.tasks t SET visible_at = clock_timestamp(), state = CASE WHEN t.state = -1 THEN 0 ELSE t.state END
FROM unnest($1::uuid[], $2::bigint[]) AS i(id, claim)
WHERE t.run_id = ANY (ARRAY[i.id]) AND t.owner = 0 AND (t.state = -1 OR t.state = 3) AND EXISTS (
    SELECT FROM reprise.limit_claims c WHERE c.node = 0 AND c.run_id BETWEEN i.id AND i.id AND c.id = i.claim AND NOT c.ended)`

// limitLookSQL makes lines of a limit worth a look in which runs wait: the limit has changed.
const limitLookSQL = `UPDATE reprise.limit_lines l SET look_at = 1 WHERE l.name = $1::text AND l.look_at IS NOT NULL`
