-- additive
-- Children, answers and generations. The new columns are null for runs and messages that have nothing to do with them:
-- a run's row had room for their bits already, so it does not grow.

ALTER TABLE reprise.runs
    ADD COLUMN parent_run        uuid,            -- who started it and waits for its outcome
    ADD COLUMN parent_generation integer,
    ADD COLUMN parent_cmd        integer,
    ADD COLUMN parent_policy     smallint,        -- journal.ClosePolicy; null: cancel
    ADD COLUMN inbox_seen        bigint,          -- where the current generation's inbox begins: behind this message,
    ADD COLUMN carried           bigint[];        -- and before it at these

-- A parent's children, in the order of listings. Whether they are open is not in it: a close stays a heap-only update.
CREATE INDEX runs_parent_idx ON reprise.runs (parent_run, id) WHERE parent_run IS NOT NULL;

ALTER TABLE reprise.inbox
    ADD COLUMN cmd             integer,           -- the command that an answer is for
    ADD COLUMN generation      integer,
    ADD COLUMN answered        smallint,          -- of an update: 1 accepted, 2 rejected; null: not yet
    ADD COLUMN answer_encoding text,              -- null: JSON
    ADD COLUMN answer          bytea;             -- null: no bytes

-- J5: the newest message that the current generation has consumed is one probe, whatever the generations before it had.
DROP INDEX reprise.events_inbox_idx;
CREATE INDEX events_inbox_idx ON reprise.events (run_id, generation, inbox) WHERE inbox IS NOT NULL;

CREATE OR REPLACE FUNCTION reprise.event_word(kind smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE kind
        WHEN 1 THEN 'RunStarted'
        WHEN 2 THEN 'StepCompleted'
        WHEN 3 THEN 'StepFailed'
        WHEN 4 THEN 'TimerFired'
        WHEN 5 THEN 'SignalReceived'
        WHEN 6 THEN 'CancelRequested'
        WHEN 7 THEN 'ChildCompleted'
        WHEN 8 THEN 'ChildFailed'
        WHEN 9 THEN 'SignalSent'
        WHEN 10 THEN 'SignalRefused'
        WHEN 11 THEN 'UpdateReceived'
        WHEN 12 THEN 'MessageDropped'
        WHEN 13 THEN 'RunContinued'
        WHEN 20 THEN 'RunCompleted'
        WHEN 21 THEN 'RunFailed'
        WHEN 22 THEN 'RunCancelled'
        WHEN 23 THEN 'RunTerminated'
        ELSE 'Kind(' || kind || ')' END
$$;

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
       r.carried
FROM reprise.runs r
LEFT JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;

CREATE OR REPLACE VIEW reprise.v_inbox AS
SELECT m.run_id,
       m.number,
       m.at,
       CASE m.kind WHEN 1 THEN 'signal' WHEN 2 THEN 'cancel' WHEN 3 THEN 'update' WHEN 4 THEN 'child completed'
                   WHEN 5 THEN 'child failed' WHEN 6 THEN 'sent' WHEN 7 THEN 'refused' ELSE 'kind(' || m.kind || ')' END AS kind,
       m.name,
       m.key,
       reprise.readable(m.payload, m.encoding) AS payload,
       coalesce(m.answered = 2, false)
           OR coalesce(m.number <= r.inbox_seen AND NOT m.number = ANY (coalesce(r.carried, '{}')), false)
           OR EXISTS (SELECT FROM reprise.events e
                      WHERE e.run_id = m.run_id AND e.generation = r.generation AND e.inbox = m.number) AS consumed,
       m.encoding,
       m.cmd,
       m.generation,
       CASE m.answered WHEN 1 THEN 'accepted' WHEN 2 THEN 'rejected' END AS answered,
       reprise.readable(m.answer, m.answer_encoding) AS answer
FROM reprise.inbox m
LEFT JOIN reprise.runs r ON r.id = m.run_id;
