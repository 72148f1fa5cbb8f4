-- additive
-- What a support person reads with psql. Nothing in the engine reads these views.

-- readable shows a payload as JSON. Bytes that are not JSON, not UTF-8 or not meant as JSON become
-- a JSON string of escaped text, so a view never fails because of what somebody stored.
CREATE FUNCTION reprise.readable(payload bytea, encoding text) RETURNS json
    LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
    IF payload IS NULL THEN
        RETURN NULL;
    END IF;
    IF encoding IS NULL OR encoding = 'failure' THEN
        BEGIN
            RETURN convert_from(payload, 'UTF8')::json;
        EXCEPTION WHEN OTHERS THEN
            NULL; -- shown as text below
        END;
    END IF;
    RETURN to_json(encode(payload, 'escape'));
END
$$;

CREATE FUNCTION reprise.event_word(kind smallint) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE kind
        WHEN 1 THEN 'RunStarted'
        WHEN 2 THEN 'StepCompleted'
        WHEN 3 THEN 'StepFailed'
        WHEN 4 THEN 'TimerFired'
        WHEN 5 THEN 'SignalReceived'
        WHEN 6 THEN 'CancelRequested'
        WHEN 20 THEN 'RunCompleted'
        WHEN 21 THEN 'RunFailed'
        WHEN 22 THEN 'RunCancelled'
        WHEN 23 THEN 'RunTerminated'
        ELSE 'Kind(' || kind || ')' END
$$;

CREATE VIEW reprise.v_runs AS
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
       r.trace
FROM reprise.runs r
LEFT JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;

CREATE VIEW reprise.v_events AS
SELECT e.run_id,
       e.generation,
       e.seq,
       e.at,
       reprise.event_word(e.kind) AS kind,
       e.name,
       e.cmd,
       e.attempt,
       e.inbox,
       CASE WHEN e.inbox IS NULL THEN reprise.readable(e.payload, e.encoding)
            ELSE reprise.readable(m.payload, m.encoding) END AS payload,
       e.issued,
       coalesce(e.encoding, m.encoding) AS encoding,
       lpad(to_hex(e.link), 16, '0') AS link
FROM reprise.events e
LEFT JOIN reprise.inbox m ON m.run_id = e.run_id AND m.number = e.inbox;

CREATE VIEW reprise.v_tasks AS
SELECT t.run_id,
       r.key,
       t.workflow,
       t.version,
       t.queue,
       t.priority,
       CASE WHEN t.state = 1 THEN 'blocked'
            WHEN t.state = 2 THEN 'quarantined'
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

CREATE VIEW reprise.v_inbox AS
SELECT m.run_id,
       m.number,
       m.at,
       CASE m.kind WHEN 1 THEN 'signal' WHEN 2 THEN 'cancel' ELSE 'kind(' || m.kind || ')' END AS kind,
       m.name,
       m.key,
       reprise.readable(m.payload, m.encoding) AS payload,
       EXISTS (SELECT FROM reprise.events e WHERE e.run_id = m.run_id AND e.inbox = m.number) AS consumed,
       m.encoding
FROM reprise.inbox m;
