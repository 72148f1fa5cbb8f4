-- additive
-- Runs on hold, and who did what. The states of tasks that it brings are 3 paused, 4 pausing and 5 interrupting.

-- J12: one row an action of an operator that has changed a run, from the same transaction. It outlives the run.
CREATE TABLE reprise_audit (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    run_id   BLOB    NOT NULL,
    actor    TEXT    NOT NULL,                     -- empty: the program did not say
    verb     TEXT    NOT NULL,                     -- pause, resume, terminate, delete
    workflow TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    detail   TEXT    NOT NULL
) STRICT;
CREATE INDEX reprise_audit_run_idx ON reprise_audit (run_id, number);

DROP VIEW reprise_v_tasks;
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
            WHEN t.state = 3 THEN 'paused'
            WHEN t.state > 3 THEN 'pausing'
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
