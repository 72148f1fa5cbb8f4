-- additive
-- What a support person reads with the sqlite3 shell. Nothing in the engine reads these views. A payload that is JSON is
-- shown as it is, any other as a JSON string with a blob literal; ids are shown in their canonical text form.

CREATE VIEW reprise_v_runs AS
SELECT lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4) || '-' ||
             substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS id,
       r.key,
       r.workflow,
       r.version,
       CASE r.status WHEN 0 THEN 'open' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled'
            WHEN 4 THEN 'terminated' ELSE 'status(' || r.status || ')' END AS status,
       r.queue,
       r.priority,
       r.labels,
       r.generation,
       strftime('%Y-%m-%d %H:%M:%f', r.created_at / 1e6, 'unixepoch') AS created_at,
       strftime('%Y-%m-%d %H:%M:%f', coalesce(r.start_at, r.created_at) / 1e6, 'unixepoch') AS start_at,
       strftime('%Y-%m-%d %H:%M:%f', r.closed_at / 1e6, 'unixepoch') AS closed_at,
       CASE WHEN coalesce(r.input_encoding, 'failure') = 'failure' AND json_valid(CAST(r.input AS TEXT))
            THEN CAST(r.input AS TEXT) ELSE iif(r.input IS NULL, NULL, json_quote(quote(r.input))) END AS input,
       CASE WHEN coalesce(e.encoding, 'failure') = 'failure' AND json_valid(CAST(e.payload AS TEXT))
            THEN CAST(e.payload AS TEXT) ELSE iif(e.payload IS NULL, NULL, json_quote(quote(e.payload))) END AS outcome,
       r.holds_key,
       r.input_encoding,
       r.trace
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;

CREATE VIEW reprise_v_events AS
SELECT lower(substr(hex(e.run_id), 1, 8) || '-' || substr(hex(e.run_id), 9, 4) || '-' || substr(hex(e.run_id), 13, 4) || '-' ||
             substr(hex(e.run_id), 17, 4) || '-' || substr(hex(e.run_id), 21)) AS run_id,
       e.generation,
       e.seq,
       strftime('%Y-%m-%d %H:%M:%f', e.at / 1e6, 'unixepoch') AS at,
       CASE e.kind WHEN 1 THEN 'RunStarted' WHEN 2 THEN 'StepCompleted' WHEN 3 THEN 'StepFailed' WHEN 4 THEN 'TimerFired'
            WHEN 5 THEN 'SignalReceived' WHEN 6 THEN 'CancelRequested' WHEN 20 THEN 'RunCompleted' WHEN 21 THEN 'RunFailed'
            WHEN 22 THEN 'RunCancelled' WHEN 23 THEN 'RunTerminated' ELSE 'Kind(' || e.kind || ')' END AS kind,
       e.name,
       e.cmd,
       e.attempt,
       e.inbox,
       CASE WHEN coalesce(e.encoding, m.encoding, 'failure') = 'failure' AND json_valid(CAST(coalesce(e.payload, m.payload) AS TEXT))
            THEN CAST(coalesce(e.payload, m.payload) AS TEXT)
            ELSE iif(coalesce(e.payload, m.payload) IS NULL, NULL, json_quote(quote(coalesce(e.payload, m.payload)))) END AS payload,
       e.issued,
       coalesce(e.encoding, m.encoding) AS encoding,
       iif(e.link = 0, NULL, printf('%016x', e.link)) AS link
FROM reprise_events e
LEFT JOIN reprise_inbox m ON m.run_id = e.run_id AND m.number = e.inbox;

CREATE VIEW reprise_v_tasks AS
SELECT lower(substr(hex(t.run_id), 1, 8) || '-' || substr(hex(t.run_id), 9, 4) || '-' || substr(hex(t.run_id), 13, 4) || '-' ||
             substr(hex(t.run_id), 17, 4) || '-' || substr(hex(t.run_id), 21)) AS run_id,
       r.key,
       t.workflow,
       t.version,
       t.queue,
       t.priority,
       CASE WHEN t.state = 1 THEN 'blocked'
            WHEN t.state = 2 THEN 'quarantined'
            WHEN t.owner > 0 THEN 'owned'
            WHEN t.visible_at IS NULL THEN 'waiting'
            WHEN t.visible_at > unixepoch() * 1000000 THEN 'scheduled'
            ELSE 'due' END AS state,
       strftime('%Y-%m-%d %H:%M:%f', t.visible_at / 1e6, 'unixepoch') AS visible_at,
       nullif(t.owner, 0) AS owner,
       n.name AS node,
       t.waiting,
       CAST(t.attempts AS TEXT) AS attempts,
       t.problem,
       t.strikes,
       t.generation,
       t.turn,
       t.fence,
       t.inbox_last
FROM reprise_tasks t
LEFT JOIN reprise_runs r ON r.id = t.run_id
LEFT JOIN reprise_nodes n ON n.id = t.owner;

CREATE VIEW reprise_v_inbox AS
SELECT lower(substr(hex(m.run_id), 1, 8) || '-' || substr(hex(m.run_id), 9, 4) || '-' || substr(hex(m.run_id), 13, 4) || '-' ||
             substr(hex(m.run_id), 17, 4) || '-' || substr(hex(m.run_id), 21)) AS run_id,
       m.number,
       strftime('%Y-%m-%d %H:%M:%f', m.at / 1e6, 'unixepoch') AS at,
       CASE m.kind WHEN 1 THEN 'signal' WHEN 2 THEN 'cancel' ELSE 'kind(' || m.kind || ')' END AS kind,
       m.name,
       m.key,
       CASE WHEN coalesce(m.encoding, 'failure') = 'failure' AND json_valid(CAST(m.payload AS TEXT))
            THEN CAST(m.payload AS TEXT) ELSE iif(m.payload IS NULL, NULL, json_quote(quote(m.payload))) END AS payload,
       EXISTS (SELECT 1 FROM reprise_events e WHERE e.run_id = m.run_id AND e.inbox = m.number) AS consumed,
       m.encoding
FROM reprise_inbox m;
