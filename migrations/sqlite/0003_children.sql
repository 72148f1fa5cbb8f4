-- additive
-- Children, answers in the inbox, replies to updates, and generations.

-- Who started the run and waits for its outcome, and what becomes of it when that one closes. All null without a parent.
ALTER TABLE reprise_runs ADD COLUMN parent_run BLOB;
ALTER TABLE reprise_runs ADD COLUMN parent_generation INTEGER;
ALTER TABLE reprise_runs ADD COLUMN parent_cmd INTEGER;
ALTER TABLE reprise_runs ADD COLUMN parent_policy INTEGER;

-- Where the inbox of the current generation begins (J5): behind inbox_seen, and before it at the numbers of the JSON list
-- carried. Null in the first generation; carried also if it is empty.
ALTER TABLE reprise_runs ADD COLUMN inbox_seen INTEGER;
ALTER TABLE reprise_runs ADD COLUMN carried TEXT;

-- A run's children, newest last; and those that its end concerns. Runs without a parent are in neither.
CREATE INDEX reprise_runs_parent_idx        ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL;
CREATE INDEX reprise_runs_open_children_idx ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL AND status = 0;

-- J5: the newest message that the current generation has consumed is one probe, whatever the generations before it had.
DROP INDEX reprise_events_inbox_idx;
CREATE INDEX reprise_events_inbox_idx ON reprise_events (run_id, generation, inbox) WHERE inbox IS NOT NULL;

-- The command of the run that an answer is for.
ALTER TABLE reprise_inbox ADD COLUMN cmd INTEGER;
ALTER TABLE reprise_inbox ADD COLUMN generation INTEGER;

-- The reply to an update. Answered is null while there is none, 2 if it rejects the update, which consumes the message.
ALTER TABLE reprise_inbox ADD COLUMN answered INTEGER;
ALTER TABLE reprise_inbox ADD COLUMN answer BLOB;
ALTER TABLE reprise_inbox ADD COLUMN answer_encoding TEXT;

DROP VIEW reprise_v_runs;
DROP VIEW reprise_v_events;
DROP VIEW reprise_v_inbox;

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
       r.carried
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;

CREATE VIEW reprise_v_events AS
SELECT lower(substr(hex(e.run_id), 1, 8) || '-' || substr(hex(e.run_id), 9, 4) || '-' || substr(hex(e.run_id), 13, 4) || '-' ||
             substr(hex(e.run_id), 17, 4) || '-' || substr(hex(e.run_id), 21)) AS run_id,
       e.generation,
       e.seq,
       strftime('%Y-%m-%d %H:%M:%f', e.at / 1e6, 'unixepoch') AS at,
       CASE e.kind WHEN 1 THEN 'RunStarted' WHEN 2 THEN 'StepCompleted' WHEN 3 THEN 'StepFailed' WHEN 4 THEN 'TimerFired'
            WHEN 5 THEN 'SignalReceived' WHEN 6 THEN 'CancelRequested' WHEN 7 THEN 'ChildCompleted' WHEN 8 THEN 'ChildFailed'
            WHEN 9 THEN 'SignalSent' WHEN 10 THEN 'SignalRefused' WHEN 11 THEN 'UpdateReceived' WHEN 12 THEN 'MessageDropped'
            WHEN 13 THEN 'RunContinued' WHEN 20 THEN 'RunCompleted' WHEN 21 THEN 'RunFailed' WHEN 22 THEN 'RunCancelled'
            WHEN 23 THEN 'RunTerminated' ELSE 'Kind(' || e.kind || ')' END AS kind,
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

CREATE VIEW reprise_v_inbox AS
SELECT lower(substr(hex(m.run_id), 1, 8) || '-' || substr(hex(m.run_id), 9, 4) || '-' || substr(hex(m.run_id), 13, 4) || '-' ||
             substr(hex(m.run_id), 17, 4) || '-' || substr(hex(m.run_id), 21)) AS run_id,
       m.number,
       strftime('%Y-%m-%d %H:%M:%f', m.at / 1e6, 'unixepoch') AS at,
       CASE m.kind WHEN 1 THEN 'signal' WHEN 2 THEN 'cancel' WHEN 3 THEN 'update' WHEN 4 THEN 'child completed'
            WHEN 5 THEN 'child failed' WHEN 6 THEN 'sent' WHEN 7 THEN 'refused' ELSE 'kind(' || m.kind || ')' END AS kind,
       m.name,
       m.key,
       CASE WHEN coalesce(m.encoding, 'failure') = 'failure' AND json_valid(CAST(m.payload AS TEXT))
            THEN CAST(m.payload AS TEXT) ELSE iif(m.payload IS NULL, NULL, json_quote(quote(m.payload))) END AS payload,
       EXISTS (SELECT 1 FROM reprise_events e WHERE e.run_id = m.run_id AND e.inbox = m.number AND e.generation = r.generation)
           OR coalesce(m.answered = 2, 0)
           OR m.number <= coalesce(r.inbox_seen, 0) AND m.number NOT IN (SELECT value FROM json_each(coalesce(r.carried, '[]')))
           AS consumed,
       m.encoding,
       m.cmd,
       m.generation,
       CASE m.answered WHEN 1 THEN 'replied' WHEN 2 THEN 'rejected' END AS answered,
       CASE WHEN coalesce(m.answer_encoding, 'failure') = 'failure' AND json_valid(CAST(m.answer AS TEXT))
            THEN CAST(m.answer AS TEXT) ELSE iif(m.answer IS NULL, NULL, json_quote(quote(m.answer))) END AS answer,
       m.answer_encoding
FROM reprise_inbox m
LEFT JOIN reprise_runs r ON r.id = m.run_id;
