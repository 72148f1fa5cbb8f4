package postgres

// forkRunSQL copies the row of a run, for a fork that rewindSQL then lets begin: open, with its
// key, and with timers that go on if those of the run stand still. The lock keeps the run from
// being deleted or going back while it is copied, and nothing else.
const forkRunSQL = `
WITH r AS MATERIALIZED (
    SELECT * FROM reprise.runs r WHERE r.id = $1::uuid FOR SHARE OF r
), made AS (
    INSERT INTO reprise.runs (id, created_at, generation, version, priority, holds_key, workflow, queue, key, labels, input, input_encoding,
                              trace, inbox_seen, carried, published, headers, timeout, on_failure, start_labels, limits, freezes)
    SELECT $2::uuid, statement_timestamp(), r.generation, $3::int, r.priority, false, r.workflow, $4::text, $5::text, r.labels, r.input,
           r.input_encoding, r.trace, r.inbox_seen, r.carried, r.published, r.headers, r.timeout, r.on_failure, r.start_labels, r.limits,
           CASE WHEN cardinality(r.freezes) % 2 = 1
                THEN r.freezes || greatest(coalesce(r.closed_at, statement_timestamp()), r.freezes[cardinality(r.freezes)]) ELSE r.freezes END
    FROM r
    ON CONFLICT DO NOTHING -- an earlier try has made it (J4)
    RETURNING id
)
SELECT r.status, r.workflow, r.generation, $5::text, false, r.inbox_seen, r.carried, EXISTS (SELECT FROM made) FROM r`

// forkInboxSQL copies an inbox, with the numbers that events name.
const forkInboxSQL = `
INSERT INTO reprise.inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer_encoding, answer)
SELECT $2::uuid, m.number, m.at, m.digest, m.kind, m.name, m.key, m.encoding, m.payload, m.cmd, m.generation, m.answered, m.answer_encoding, m.answer
FROM reprise.inbox m WHERE m.run_id = $1::uuid`

// What differs between the copied events of a fork and those of the run: single results, and the
// links from an event on.
const (
	forkResultsSQL = `
UPDATE reprise.events e SET kind = 2, encoding = $4::text, payload = $5::bytea
WHERE e.run_id = $1::uuid AND e.generation = $2::int AND e.seq = $3::int`
	forkLinksSQL = `
UPDATE reprise.events e SET link = ($4::bigint[])[e.seq - $3::int + 1]
WHERE e.run_id = $1::uuid AND e.generation = $2::int AND e.seq >= $3::int`
)
