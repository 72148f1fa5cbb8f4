package postgres

// limitBoundedSQL tells whether a MaxBacklog bounds any of some limits.
const limitBoundedSQL = `
SELECT EXISTS (
    SELECT FROM unnest($1::text[]) AS i(name)
    CROSS JOIN LATERAL (SELECT l.key FROM reprise.limits l WHERE l.name = i.name AND l.max_backlog > 0 ORDER BY l.key LIMIT 1) l)`

// limitGateSQL takes the gates of those limits that have a MaxBacklog, by hashes of their names and
// in the order of these, until the transaction ends: whoever has a gate is the only one to start
// runs that need the limit. Rounds do not care. It is taken ahead of the rows of tasks.
const limitGateSQL = `
SELECT pg_advisory_xact_lock($1::int, g.hash) FROM (
    SELECT DISTINCT i.hash FROM unnest($2::text[], $3::int[]) AS i(name, hash)
    CROSS JOIN LATERAL (SELECT l.key FROM reprise.limits l WHERE l.name = i.name AND l.max_backlog > 0 ORDER BY l.key LIMIT 1) l
    ORDER BY i.hash) g`

// limitRoomSQL reads the rooms of keys that a MaxBacklog bounds, behind the gates of their limits.
const limitRoomSQL = `
SELECT k.name, k.key, l.concurrency, l.rate_n, l.rate_per, l.burst, l.max_backlog, l.on_full, coalesce(t.total, 0), coalesce(j.ready, 0),
       coalesce(j.held, 0) - e.n, coalesce(a.held, 0) - f.n, w.n, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
FROM unnest($1::text[], $2::text[]) AS k(name, key)
CROSS JOIN LATERAL (
    SELECT * FROM reprise.limits l WHERE l.name = k.name AND (l.key = '' OR l.key = k.key) ORDER BY l.name, l.key DESC LIMIT 1) l
LEFT JOIN LATERAL (SELECT * FROM reprise.limits t WHERE t.name = k.name AND t.key = '') t ON true
LEFT JOIN LATERAL (SELECT * FROM reprise.limit_lines j WHERE j.name = k.name AND j.key = k.key) j ON true
LEFT JOIN LATERAL (SELECT * FROM reprise.limit_lines a WHERE a.name = k.name AND a.key = '~total') a ON true
CROSS JOIN LATERAL (
    SELECT count(*)::int AS n FROM (
        SELECT FROM reprise.limit_claims c
        WHERE c.node = 0 AND c.granted_at IS NOT NULL AND c.ended IS NOT FALSE AND c.name = k.name AND c.key = k.key ORDER BY c.name, c.key) c) e
CROSS JOIN LATERAL (
    SELECT count(*)::int AS n FROM (
        SELECT FROM reprise.limit_claims c
        WHERE c.node = 0 AND c.granted_at IS NOT NULL AND c.ended IS NOT FALSE AND c.name = k.name AND t.total > 0 ORDER BY c.name, c.key) c) f
CROSS JOIN LATERAL (
    SELECT count(*)::int AS n FROM (
        SELECT FROM reprise.limit_claims c
        WHERE c.node = 0 AND c.granted_at IS NULL AND NOT c.ended AND c.part >= 0 AND c.name = k.name AND c.key = k.key
        ORDER BY c.name, c.key, c.spared, c.id LIMIT l.max_backlog + greatest(l.concurrency, t.total, l.burst) + 1) c) w
WHERE l.max_backlog > 0`

// limitOldestSQL are the runs that have come first of those that wait for a key and have never
// begun. One that somebody has rewound may have done what its code would undo, and one that waits
// beyond the backlog is relied on. $4 is the last that has come, which is there already and makes
// room for nobody. The claims of the spared runs say so, so those are not read, however many they
// are; of an older release only their rows do.
const limitOldestSQL = `
SELECT c.run_id
FROM reprise.limit_claims c
CROSS JOIN LATERAL (SELECT r.generation, r.beyond_backlog FROM reprise.runs r WHERE r.id = ANY (ARRAY[c.run_id])) r
WHERE c.node = 0 AND c.granted_at IS NULL AND NOT c.ended AND c.part >= 0 AND c.name = $1::text AND c.key = $2::text
  AND NOT c.spared AND c.run_id <> $4::uuid AND r.generation = 1 AND r.beyond_backlog IS NULL
ORDER BY c.name, c.key, c.spared, c.id LIMIT $3::int`

// limitFamilySQL reads of runs who their parents are, and whether the runs wait for limits.
const limitFamilySQL = `
SELECT r.id, r.workflow, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, c.waits
FROM unnest($1::uuid[]) AS i(id)
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
CROSS JOIN LATERAL (
    SELECT coalesce(bool_or(c.granted_at IS NULL AND NOT c.ended), false) AS waits FROM (
        SELECT * FROM reprise.limit_claims c WHERE c.node = 0 AND c.run_id BETWEEN i.id AND i.id ORDER BY c.run_id) c) c`
