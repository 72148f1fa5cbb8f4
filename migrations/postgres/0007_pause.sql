-- additive
-- Runs on hold, and who did what. The states of tasks that it brings are 3 paused, 4 pausing and 5 interrupting.

-- J12: one row an action of an operator that has changed a run, from the same transaction. It outlives the run.
CREATE TABLE reprise.audit (
    number   bigint      GENERATED ALWAYS AS IDENTITY,
    at       timestamptz NOT NULL,
    run_id   uuid        NOT NULL,
    actor    text        NOT NULL,                -- empty: the program did not say
    verb     text        NOT NULL,                -- pause, resume, terminate, delete
    workflow text        NOT NULL,
    reason   text        NOT NULL,
    detail   text        NOT NULL
);
CREATE INDEX audit_run_idx ON reprise.audit (run_id, number);
ALTER TABLE reprise.audit ADD PRIMARY KEY (number);

CREATE OR REPLACE VIEW reprise.v_tasks AS
SELECT t.run_id,
       r.key,
       t.workflow,
       t.version,
       t.queue,
       t.priority,
       CASE WHEN t.state = 1 THEN 'blocked'
            WHEN t.state = 2 THEN 'quarantined'
            WHEN t.state = 3 THEN 'paused'
            WHEN t.state > 3 THEN 'pausing'
            WHEN t.owner > 0 THEN 'owned'
            WHEN t.visible_at = 'infinity' THEN 'waiting'
            WHEN t.visible_at > now() THEN 'scheduled'
            ELSE 'due' END AS state,
       t.visible_at,
       nullif(t.owner, 0) AS owner,
       n.name AS node,
       NULLIF(t.waiting, '') AS waiting,
       reprise.readable(NULLIF(t.attempts, ''), NULL) AS attempts,
       NULLIF(t.problem, '') AS problem,
       t.strikes,
       t.generation,
       t.turn,
       t.fence,
       t.inbox_last
FROM reprise.tasks t
LEFT JOIN reprise.runs r ON r.id = t.run_id
LEFT JOIN reprise.nodes n ON n.id = t.owner;
