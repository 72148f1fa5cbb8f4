-- additive
-- When the timers of a run stood still.

-- The times at which they stopped and went on, by turns: see journal.Freezes. Null for nearly every run.
ALTER TABLE reprise.runs
    ADD COLUMN freezes timestamptz[];

CREATE OR REPLACE VIEW reprise.v_runs AS
SELECT r.id,
       r.key,
       r.workflow,
       r.version,
       CASE r.status WHEN 0 THEN 'open' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled'
                     WHEN 4 THEN 'terminated' ELSE 'status(' || r.status || ')' END AS status,
       r.queue,
       r.priority,
       r.labels,
       r.generation,
       r.created_at,
       coalesce(r.start_at, r.created_at) AS start_at,
       r.closed_at,
       reprise.readable(r.input, r.input_encoding) AS input,
       reprise.readable(e.payload, e.encoding) AS outcome,
       r.holds_key,
       r.input_encoding,
       r.trace,
       r.parent_run,
       r.parent_generation,
       r.parent_cmd,
       CASE WHEN r.parent_run IS NULL THEN NULL
            ELSE CASE coalesce(r.parent_policy, 0) WHEN 0 THEN 'cancel' WHEN 1 THEN 'terminate' WHEN 2 THEN 'abandon'
                      ELSE 'policy(' || r.parent_policy || ')' END END AS parent_policy,
       r.inbox_seen,
       r.carried,
       coalesce(r.start_at, r.created_at) + r.timeout * interval '1 microsecond' AS deadline,
       r.on_failure,
       r.headers,
       r.freezes
FROM reprise.runs r
LEFT JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;
