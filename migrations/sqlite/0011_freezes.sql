-- additive
-- When the timers of a run stood still.

-- The times at which they stopped and went on, by turns, as a JSON list of microseconds: see journal.Freezes. Null for nearly every run.
ALTER TABLE reprise_runs ADD COLUMN freezes TEXT;

DROP VIEW reprise_v_runs;

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
       r.trace,
       CASE WHEN r.parent_run IS NOT NULL THEN
             lower(substr(hex(r.parent_run), 1, 8) || '-' || substr(hex(r.parent_run), 9, 4) || '-' || substr(hex(r.parent_run), 13, 4) || '-' ||
             substr(hex(r.parent_run), 17, 4) || '-' || substr(hex(r.parent_run), 21)) END AS parent,
       r.parent_generation,
       r.parent_cmd,
       CASE r.parent_policy WHEN 0 THEN 'cancel' WHEN 1 THEN 'terminate' WHEN 2 THEN 'abandon'
            ELSE iif(r.parent_policy IS NULL, NULL, 'policy(' || r.parent_policy || ')') END AS parent_policy,
       r.inbox_seen,
       r.carried,
       strftime('%Y-%m-%d %H:%M:%f', (coalesce(r.start_at, r.created_at) + r.timeout) / 1e6, 'unixepoch') AS deadline,
       r.on_failure,
       r.headers,
       CASE WHEN json_valid(r.freezes)
            THEN (SELECT json_group_array(strftime('%Y-%m-%d %H:%M:%f', f.value / 1e6, 'unixepoch')) FROM json_each(r.freezes) f) END AS freezes
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;
