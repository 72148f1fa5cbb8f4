-- additive
-- Limits that runs hold until they close. Their claims belong to node 0, and are held whatever becomes of nodes.

ALTER TABLE reprise_runs ADD COLUMN limits TEXT;   -- all that the run needs, as JSON; null: nothing

-- A claim of a run is written by its start, and ended by the commit that closes the run: the next round takes both in. A run has one
-- claim that is not ended, with a part for each limit.
ALTER TABLE reprise_limit_claims ADD COLUMN counted INTEGER NOT NULL DEFAULT 1;   -- whether its line counts it
ALTER TABLE reprise_limit_claims ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;     -- a round is to take it away

DROP INDEX reprise_limit_claims_line_idx;
CREATE INDEX reprise_limit_claims_line_idx ON reprise_limit_claims (name, key, rank, node, id) WHERE granted_at IS NULL AND counted = 1 AND ended = 0;
CREATE INDEX reprise_limit_claims_news_idx ON reprise_limit_claims (since, id) WHERE node = 0 AND part = 0 AND (counted = 0 OR ended = 1);
CREATE INDEX reprise_limit_claims_of_run_idx ON reprise_limit_claims (run_id) WHERE node = 0;

-- When a round should look at the line for the sake of runs, in microseconds; null: no run waits in it.
ALTER TABLE reprise_limit_lines ADD COLUMN look_at INTEGER;
CREATE INDEX reprise_limit_lines_look_idx ON reprise_limit_lines (look_at) WHERE look_at IS NOT NULL;

DROP VIEW reprise_v_tasks;
CREATE VIEW reprise_v_tasks AS
SELECT lower(substr(hex(t.run_id), 1, 8) || '-' || substr(hex(t.run_id), 9, 4) || '-' || substr(hex(t.run_id), 13, 4) || '-' ||
             substr(hex(t.run_id), 17, 4) || '-' || substr(hex(t.run_id), 21)) AS run_id,
       r.key,
       t.workflow,
       t.version,
       t.queue,
       t.priority,
       CASE WHEN t.state = -1 THEN 'limited'
            WHEN t.state = 1 THEN 'blocked'
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
