-- additive
-- Limits that runs hold until they close. Their claims belong to node 0, and are held whatever becomes of nodes.

ALTER TABLE reprise.runs ADD COLUMN limits text;   -- all that the run needs, as JSON; null: nothing

-- A claim of a run is written by its start, and ended by the commit that closes the run. Neither has the lock of the limit: the next
-- round takes both in. A run has one claim that is not ended, with a part for each limit.
ALTER TABLE reprise.limit_claims
    ADD COLUMN counted boolean NOT NULL DEFAULT true,   -- whether its line counts it
    ADD COLUMN ended   boolean NOT NULL DEFAULT false;  -- a round is to take it away
CREATE SEQUENCE reprise.limit_runs_seq;

DROP INDEX reprise.limit_claims_line_idx;
CREATE INDEX limit_claims_line_idx ON reprise.limit_claims (name, key, rank, node, id) WHERE granted_at IS NULL AND counted;
CREATE INDEX limit_claims_news_idx ON reprise.limit_claims (since) WHERE node = 0 AND (NOT counted OR ended);
CREATE INDEX limit_claims_of_run_idx ON reprise.limit_claims (run_id) WHERE node = 0;

-- When a round should look at the line for the sake of runs, in microseconds; null: no run waits in it.
ALTER TABLE reprise.limit_lines ADD COLUMN look_at bigint;
CREATE INDEX limit_lines_look_idx ON reprise.limit_lines (look_at) WHERE look_at IS NOT NULL;

CREATE OR REPLACE VIEW reprise.v_tasks AS
SELECT t.run_id,
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
