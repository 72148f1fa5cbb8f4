package postgres

// rewindReadSQL reads what decides whether a run goes back (J13), and locks the row of the run: a
// closed run has no task whose lock keeps two operators, or an operator and a start that wants the
// key, apart. The lock of an open run's task is held already, as in a commit.
const rewindReadSQL = `
SELECT r.status, r.workflow, r.generation, r.key, r.holds_key, r.inbox_seen, r.carried
FROM reprise.runs r WHERE r.id = $1::uuid FOR UPDATE OF r`

// rewindStateSQL reads the rest, in a statement of its own: its snapshot is newer than the locks.
// The events are those of the run, or of the one that it is a fork of.
const rewindStateSQL = `
SELECT (SELECT e.link FROM reprise.events e WHERE e.run_id = $5::uuid AND e.generation = $2::int AND e.seq = $3::int),
       EXISTS (SELECT FROM reprise.events e WHERE e.run_id = $5::uuid AND e.generation = $2::int AND e.seq > $3::int + $6::int),
       (SELECT max(m.number) FROM reprise.inbox m WHERE m.run_id = $1::uuid),
       (SELECT t.state FROM reprise.tasks t WHERE t.run_id = $1::uuid),
       h.id, h.workflow
FROM (SELECT 1) one LEFT JOIN LATERAL (SELECT h.id, h.workflow FROM reprise.runs h WHERE h.key = $4::text AND h.holds_key) h ON true`

// rewindFamilySQL locks the open children of a closed run. A child that ends looks for the task of
// its parent to tell it, and sees none until the transaction that goes back has committed, which in
// turn does not see that end: under the child's lock one of the two sees the other. An open run
// needs no such lock, as both take that of its task.
const rewindFamilySQL = `
SELECT t.run_id FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY(
    SELECT r.id FROM reprise.runs r WHERE r.parent_run BETWEEN $1::uuid AND $1::uuid AND r.status = 0 ORDER BY r.parent_run))
ORDER BY t.run_id FOR UPDATE`

// rewindUnreadSQL reads what is not consumed behind the point: what comes after a number, and of
// what comes before it a list. The last column tells answers of children that have gone on since,
// see driver.Unread: a key that was freed has the number behind the child's id.
const rewindUnreadSQL = `
SELECT m.number, m.kind, coalesce(m.name, ''), coalesce(m.answered, 0),
       CASE WHEN m.kind IN (4, 5) AND m.key LIKE '~child/%' THEN length(m.key) > 43 OR EXISTS (
           SELECT FROM (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[substr(m.key, 8, 36)::uuid]) OFFSET 0) r
           LEFT JOIN LATERAL (
               SELECT * FROM reprise.events e WHERE e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq) e ON true
           WHERE r.parent_run = $1::uuid AND (r.status = 0 OR (e.kind = 20) <> (m.kind = 4) OR e.encoding IS DISTINCT FROM m.encoding
              OR e.payload IS DISTINCT FROM m.payload)) ELSE false END
FROM reprise.inbox m
WHERE m.run_id = $1::uuid AND (m.number > $2::bigint OR m.number = ANY ($3::bigint[])) ORDER BY m.number`

// rewindSQL begins the next generation with copies of the events that are kept, and opens the run.
// The task is taken away from whoever owns it: the owner's next commit names another generation and
// is refused (J3), and its appends are excluded. A run that was closed gets a task, which says that
// it was changed: else whoever claims it takes it for one without a history. If
// the timers of such a run stood still, they did so until it was closed.
const rewindSQL = `
WITH kept AS (
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    SELECT $1::uuid, e.generation + 1, e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding, e.payload, e.issued
    FROM reprise.events e WHERE e.run_id = $11::uuid AND e.generation = $2::int AND e.seq <= $3::int
), began AS (
    UPDATE reprise.runs r
    SET generation = r.generation + 1, rewound = $4::text, inbox_seen = $5::bigint, carried = $6::bigint[], status = 0, closed_at = NULL,
        closed_seq = NULL, holds_key = r.holds_key OR r.key IS NOT NULL,
        freezes = CASE WHEN r.status <> 0 AND cardinality(r.freezes) % 2 = 1
                       THEN r.freezes || greatest(r.closed_at, r.freezes[cardinality(r.freezes)]) ELSE r.freezes END,
        version = CASE WHEN $7::int > 0 THEN $7::int ELSE r.version END,
        input = CASE WHEN $7::int > 0 THEN $8::bytea ELSE r.input END,
        input_encoding = CASE WHEN $7::int > 0 THEN $9::text ELSE r.input_encoding END
    WHERE r.id = $1::uuid
    RETURNING r.id, r.generation, r.version, r.priority, r.queue, r.workflow,
              CASE WHEN $3::int = 0 THEN greatest(now(), r.start_at) ELSE now() END AS due
)
INSERT INTO reprise.tasks AS t (run_id, visible_at, turn, generation, inbox_last, attempts, version, priority, queue, workflow)
SELECT b.id, b.due, 1, b.generation, $10::bigint, $12::bytea, b.version, b.priority, b.queue, b.workflow FROM began b
ON CONFLICT (run_id) DO UPDATE
SET generation = excluded.generation, version = excluded.version, owner = 0, unproven = false, turn = t.turn + 1, link = 0,
    attempts = excluded.attempts, waiting = '', problem = '', strikes = 0,
    visible_at = CASE WHEN t.state < 0 THEN 'infinity' ELSE excluded.visible_at END, state = CASE WHEN t.state >= 3 THEN 3 ELSE least(t.state, 0) END`

// rewindInboxSQL changes messages behind the point, see driver.Inbox: some give up their key, see
// driver.FreedKey, and updates that are given again lose their reply.
const rewindInboxSQL = `
UPDATE reprise.inbox m
SET key = CASE WHEN m.number = ANY ($2::bigint[]) AND (m.key = '~cancel' OR m.key LIKE '~child/%') AND m.key NOT LIKE '%/' || m.number
               THEN m.key || '/' || m.number ELSE m.key END,
    answered = CASE WHEN m.answered = 2 THEN m.answered END, answer = CASE WHEN m.answered = 2 THEN m.answer END,
    answer_encoding = CASE WHEN m.answered = 2 THEN m.answer_encoding END
WHERE m.run_id = $1::uuid AND (m.number = ANY ($2::bigint[]) OR m.number = ANY ($3::bigint[]))`

// rewindChildrenSQL reads children: those that are open, and, if $2 says so, those whose ends the
// run has not heard of: it was closed, or what it had heard is stale. ORDER BY and BETWEEN force
// the index of parents (see "Plans").
const rewindChildrenSQL = `
SELECT r.id, r.workflow, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, e.kind, e.encoding, e.payload
FROM (SELECT * FROM reprise.runs r WHERE r.parent_run BETWEEN $1::uuid AND $1::uuid ORDER BY r.parent_run) r
LEFT JOIN LATERAL (
    SELECT * FROM reprise.events e WHERE e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq) e ON true
WHERE r.status = 0 OR $2::bool AND NOT EXISTS (
    SELECT FROM reprise.inbox m WHERE m.run_id = $1::uuid AND m.key = '~child/' || r.id)
ORDER BY r.id`
