SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
CREATE SCHEMA reprise;
CREATE FUNCTION reprise.event_word(kind smallint) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
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
CREATE FUNCTION reprise.readable(payload bytea, encoding text) RETURNS json
    LANGUAGE plpgsql STABLE PARALLEL SAFE
    AS $$
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
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE reprise.audit (
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    run_id uuid NOT NULL,
    actor text NOT NULL,
    verb text NOT NULL,
    workflow text NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL
);
ALTER TABLE reprise.audit ALTER COLUMN number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reprise.audit_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE reprise.events (
    run_id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    link bigint NOT NULL,
    inbox bigint,
    generation integer NOT NULL,
    seq integer NOT NULL,
    cmd integer,
    attempt integer,
    kind smallint NOT NULL,
    name text,
    encoding text,
    issued text,
    payload bytea
);
CREATE TABLE reprise.inbox (
    run_id uuid NOT NULL,
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    digest bigint NOT NULL,
    kind smallint NOT NULL,
    name text,
    key text NOT NULL COLLATE pg_catalog."C",
    encoding text,
    payload bytea,
    cmd integer,
    generation integer,
    answered smallint,
    answer_encoding text,
    answer bytea
);
CREATE TABLE reprise.members (
    incarnation uuid NOT NULL,
    recalled bigint DEFAULT 0 NOT NULL,
    lost_at timestamp with time zone,
    node integer NOT NULL
);
CREATE TABLE reprise.nodes (
    id integer NOT NULL,
    process integer,
    renewals bigint DEFAULT 0 NOT NULL,
    lease interval NOT NULL,
    grace interval NOT NULL,
    started_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    server timestamp with time zone NOT NULL,
    name text NOT NULL,
    routes jsonb NOT NULL
)
WITH (fillfactor='50');
ALTER TABLE reprise.nodes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reprise.nodes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE reprise.runs (
    id uuid NOT NULL,
    created_at timestamp with time zone NOT NULL,
    start_at timestamp with time zone,
    closed_at timestamp with time zone,
    closed_seq integer,
    generation integer DEFAULT 1 NOT NULL,
    version integer NOT NULL,
    priority smallint NOT NULL,
    status smallint DEFAULT 0 NOT NULL,
    holds_key boolean NOT NULL,
    workflow text NOT NULL,
    queue text NOT NULL,
    key text COLLATE pg_catalog."C",
    labels jsonb,
    input bytea,
    input_encoding text,
    trace text,
    parent_run uuid,
    parent_generation integer,
    parent_cmd integer,
    parent_policy smallint,
    inbox_seen bigint,
    carried bigint[],
    published text,
    headers text,
    timeout bigint,
    on_failure text,
    start_labels jsonb
)
WITH (fillfactor='85');
CREATE TABLE reprise.schema_migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    additive boolean NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE reprise.tasks (
    run_id uuid NOT NULL,
    visible_at timestamp with time zone NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    turn bigint DEFAULT 0 NOT NULL,
    inbox_last bigint DEFAULT 0 NOT NULL,
    link bigint DEFAULT 0 NOT NULL,
    owner integer DEFAULT 0 NOT NULL,
    generation integer DEFAULT 1 NOT NULL,
    version integer NOT NULL,
    strikes integer DEFAULT 0 NOT NULL,
    priority smallint NOT NULL,
    state smallint DEFAULT 0 NOT NULL,
    unproven boolean DEFAULT false NOT NULL,
    queue text NOT NULL,
    workflow text NOT NULL,
    attempts bytea DEFAULT '\x'::bytea NOT NULL,
    waiting text DEFAULT ''::text NOT NULL,
    problem text DEFAULT ''::text NOT NULL
)
WITH (fillfactor='55');
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
        CASE
            WHEN (e.inbox IS NULL) THEN reprise.readable(e.payload, e.encoding)
            ELSE reprise.readable(m.payload, m.encoding)
        END AS payload,
    e.issued,
    COALESCE(e.encoding, m.encoding) AS encoding,
    lpad(to_hex(e.link), 16, '0'::text) AS link
   FROM (reprise.events e
     LEFT JOIN reprise.inbox m ON (((m.run_id = e.run_id) AND (m.number = e.inbox))));
CREATE VIEW reprise.v_inbox AS
 SELECT m.run_id,
    m.number,
    m.at,
        CASE m.kind
            WHEN 1 THEN 'signal'::text
            WHEN 2 THEN 'cancel'::text
            WHEN 3 THEN 'update'::text
            WHEN 4 THEN 'child completed'::text
            WHEN 5 THEN 'child failed'::text
            WHEN 6 THEN 'sent'::text
            WHEN 7 THEN 'refused'::text
            ELSE (('kind('::text || m.kind) || ')'::text)
        END AS kind,
    m.name,
    m.key,
    reprise.readable(m.payload, m.encoding) AS payload,
    (COALESCE((m.answered = 2), false) OR COALESCE(((m.number <= r.inbox_seen) AND (NOT (m.number = ANY (COALESCE(r.carried, '{}'::bigint[]))))), false) OR (EXISTS ( SELECT
           FROM reprise.events e
          WHERE ((e.run_id = m.run_id) AND (e.generation = r.generation) AND (e.inbox = m.number))))) AS consumed,
    m.encoding,
    m.cmd,
    m.generation,
        CASE m.answered
            WHEN 1 THEN 'accepted'::text
            WHEN 2 THEN 'rejected'::text
            ELSE NULL::text
        END AS answered,
    reprise.readable(m.answer, m.answer_encoding) AS answer
   FROM (reprise.inbox m
     LEFT JOIN reprise.runs r ON ((r.id = m.run_id)));
CREATE VIEW reprise.v_runs AS
 SELECT r.id,
    r.key,
    r.workflow,
    r.version,
        CASE r.status
            WHEN 0 THEN 'open'::text
            WHEN 1 THEN 'completed'::text
            WHEN 2 THEN 'failed'::text
            WHEN 3 THEN 'cancelled'::text
            WHEN 4 THEN 'terminated'::text
            ELSE (('status('::text || r.status) || ')'::text)
        END AS status,
    r.queue,
    r.priority,
    r.labels,
    r.generation,
    r.created_at,
    COALESCE(r.start_at, r.created_at) AS start_at,
    r.closed_at,
    reprise.readable(r.input, r.input_encoding) AS input,
    reprise.readable(e.payload, e.encoding) AS outcome,
    r.holds_key,
    r.input_encoding,
    r.trace,
    r.parent_run,
    r.parent_generation,
    r.parent_cmd,
        CASE
            WHEN (r.parent_run IS NULL) THEN NULL::text
            ELSE
            CASE COALESCE((r.parent_policy)::integer, 0)
                WHEN 0 THEN 'cancel'::text
                WHEN 1 THEN 'terminate'::text
                WHEN 2 THEN 'abandon'::text
                ELSE (('policy('::text || r.parent_policy) || ')'::text)
            END
        END AS parent_policy,
    r.inbox_seen,
    r.carried,
    (COALESCE(r.start_at, r.created_at) + ((r.timeout)::double precision * '00:00:00.000001'::interval)) AS deadline,
    r.on_failure,
    r.headers
   FROM (reprise.runs r
     LEFT JOIN reprise.events e ON (((e.run_id = r.id) AND (e.generation = r.generation) AND (e.seq = r.closed_seq))));
CREATE VIEW reprise.v_tasks AS
 SELECT t.run_id,
    r.key,
    t.workflow,
    t.version,
    t.queue,
    t.priority,
        CASE
            WHEN (t.state = 1) THEN 'blocked'::text
            WHEN (t.state = 2) THEN 'quarantined'::text
            WHEN (t.state = 3) THEN 'paused'::text
            WHEN (t.state > 3) THEN 'pausing'::text
            WHEN (t.owner > 0) THEN 'owned'::text
            WHEN (t.visible_at = 'infinity'::timestamp with time zone) THEN 'waiting'::text
            WHEN (t.visible_at > now()) THEN 'scheduled'::text
            ELSE 'due'::text
        END AS state,
    t.visible_at,
    NULLIF(t.owner, 0) AS owner,
    n.name AS node,
    NULLIF(t.waiting, ''::text) AS waiting,
    reprise.readable(NULLIF(t.attempts, '\x'::bytea), NULL::text) AS attempts,
    NULLIF(t.problem, ''::text) AS problem,
    t.strikes,
    t.generation,
    t.turn,
    t.fence,
    t.inbox_last
   FROM ((reprise.tasks t
     LEFT JOIN reprise.runs r ON ((r.id = t.run_id)))
     LEFT JOIN reprise.nodes n ON ((n.id = t.owner)));
INSERT INTO reprise.audit OVERRIDING SYSTEM VALUE VALUES (1, '2026-11-29 12:55:06.180517+00', '01a2275f-987c-775b-9aec-f52afe952dd7', 'root@vm', 'terminate', 'upgrade.parcel', 'no such street', '');
INSERT INTO reprise.events VALUES ('01a2275f-970f-7cfb-b57f-c73b9e60eacb', '2026-11-29 12:55:05.830035+00', 4367256242009724013, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-970f-7cfb-b57f-c73b9e60eacb', '2026-11-29 12:55:05.922479+00', -5086823884231975727, 1, 1, 2, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise.events VALUES ('01a2275f-970f-7cfb-b57f-c73b9e60eacb', '2026-11-29 12:55:05.939724+00', -1450111563220079774, NULL, 1, 3, 1, 1, 2, 'label', NULL, NULL, '\x226c6162656c206f66204f736c6f22');
INSERT INTO reprise.events VALUES ('01a2275f-970f-7cfb-b57f-c73b9e60eacb', '2026-11-29 12:55:05.939724+00', 2138050742571347230, NULL, 1, 4, NULL, NULL, 20, NULL, NULL, NULL, '\x226c6162656c206f66204f736c6f2c207363616e6e656420696e204d616c6dc3b62c20666f72204f736c6f22');
INSERT INTO reprise.events VALUES ('01a2275f-97ea-764d-8d37-20e1a278496f', '2026-11-29 12:55:05.963163+00', 7615156063942189646, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-97ea-764d-8d37-20e1a278496f', '2026-11-29 12:55:05.970363+00', -7361520953907560441, NULL, 1, 2, 1, 1, 3, 'label', 'failure', NULL, '\x7b2274797065223a222a6572726f72732e6572726f72537472696e67222c226d657373616765223a227468652070617263656c2069732064616d61676564222c227065726d616e656e74223a747275657d');
INSERT INTO reprise.events VALUES ('01a2275f-97ea-764d-8d37-20e1a278496f', '2026-11-29 12:55:05.970363+00', -4491852049575434301, NULL, 1, 3, NULL, NULL, 21, NULL, 'failure', NULL, '\x7b2274797065223a222a6572726f72732e6572726f72537472696e67222c226d657373616765223a227468652070617263656c2069732064616d61676564222c227065726d616e656e74223a747275657d');
INSERT INTO reprise.events VALUES ('01a2275f-97f4-718e-baa0-fa49b3123fec', '2026-11-29 12:55:05.972424+00', -2550841451280041662, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-97f4-718e-baa0-fa49b3123fec', '2026-11-29 12:55:05.972712+00', -4173817015804185910, NULL, 1, 2, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:05.972712Z scanned', '\x226c6162656c206f6620526f6d6522');
INSERT INTO reprise.events VALUES ('01a2275f-97f4-718e-baa0-fa49b3123fec', '2026-11-29 12:55:06.099571+00', -3686138484979291781, 1, 1, 3, NULL, NULL, 6, NULL, NULL, 'cancel 2', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-97f4-718e-baa0-fa49b3123fec', '2026-11-29 12:55:06.099571+00', -4120056352392926512, NULL, 1, 4, NULL, NULL, 22, NULL, 'failure', NULL, '\x7b2274797065223a222a666d742e777261704572726f72222c226d657373616765223a226e65766572207363616e6e65643a2063616e63656c6c65643a206e6f742077616e746564222c226361757365223a7b2274797065223a22726570726973652e43616e63656c6c6564222c226d657373616765223a2263616e63656c6c65643a206e6f742077616e746564227d7d');
INSERT INTO reprise.events VALUES ('01a2275f-987c-775b-9aec-f52afe952dd7', '2026-11-29 12:55:06.119192+00', -3560366149510676673, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-987c-775b-9aec-f52afe952dd7', '2026-11-29 12:55:06.121661+00', -3150496714199457560, NULL, 1, 2, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:06.121661Z scanned', '\x226c6162656c206f6620547572696e22');
INSERT INTO reprise.events VALUES ('01a2275f-987c-775b-9aec-f52afe952dd7', '2026-11-29 12:55:06.179799+00', 0, NULL, 1, 3, NULL, NULL, 23, NULL, 'failure', NULL, '\x7b2274797065223a22726570726973652e5465726d696e61746564222c226d657373616765223a226e6f207375636820737472656574222c227065726d616e656e74223a747275657d');
INSERT INTO reprise.events VALUES ('01a2275f-98c9-7461-8388-ab71e82f287f', '2026-11-29 12:55:06.194144+00', -7270538530044265318, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-98c9-7461-8388-ab71e82f287f', '2026-11-29 12:55:06.199165+00', -3829366698926045938, NULL, 1, 2, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:06.199165Z scanned', '\x226c6162656c206f6620506172697322');
INSERT INTO reprise.events VALUES ('01a2275f-98ed-7cc0-b27d-6890549d4b16', '2026-11-29 12:55:06.222352+00', -7009883925217104320, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-98ed-7cc0-b27d-6890549d4b16', '2026-11-29 12:55:06.223813+00', -7983672420902595430, NULL, 1, 2, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:06.223813Z scanned', '\x226c6162656c206f66204c796f6e22');
INSERT INTO reprise.events VALUES ('01a2275f-98ed-7cc0-b27d-6890549d4b16', '2026-11-29 12:55:06.279871+00', 7659352001020576155, 1, 1, 3, NULL, NULL, 11, 'redirect', NULL, 'reply 	1', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-9947-71c7-a07c-a1be9f7e181f', '2026-11-29 12:55:06.317735+00', -3927428298095206474, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-9947-71c7-a07c-a1be9f7e181f', '2026-11-29 12:55:06.320358+00', 296520106157015256, NULL, 1, 2, 1, 1, 2, 'label', NULL, 'child upgrade.customs', '\x226c6162656c206f6620517569746f22');
INSERT INTO reprise.events VALUES ('01a2275f-9950-71e6-a82f-57407380fb94', '2026-11-29 12:55:06.322521+00', -173320739322015568, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise.events VALUES ('01a2275f-9974-7417-a93d-526c9452b26d', '2026-11-29 12:55:06.357013+00', 5120702815312510930, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise.events VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', '2026-11-29 12:55:06.418477+00', 6128598448104426730, NULL, 1, 1, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise.events VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', '2026-11-29 12:55:06.488686+00', -7946754050188795566, 1, 1, 2, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise.events VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', '2026-11-29 12:55:06.488686+00', -5886887086213418286, NULL, 1, 3, NULL, NULL, 13, NULL, NULL, NULL, '\x32');
INSERT INTO reprise.events VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', '2026-11-29 12:55:06.530898+00', -3209342563714955043, NULL, 2, 1, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise.inbox VALUES ('01a2275f-970f-7cfb-b57f-c73b9e60eacb', 1, '2026-11-29 12:55:05.858384+00', -8869802735475247708, 1, 'scanned', '01a2275f-9772-71c6-95e7-4405fb8709da', NULL, '\x224d616c6dc3b622', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.inbox VALUES ('01a2275f-97f4-718e-baa0-fa49b3123fec', 1, '2026-11-29 12:55:06.06132+00', 3770984408679288376, 2, NULL, '~cancel', 'failure', '\x7b2274797065223a22726570726973652e43616e63656c6c6564222c226d657373616765223a226e6f742077616e746564222c227065726d616e656e74223a747275657d', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.inbox VALUES ('01a2275f-98ed-7cc0-b27d-6890549d4b16', 1, '2026-11-29 12:55:06.261972+00', -5343049962008024825, 3, 'redirect', '~update/first', NULL, '\x224e69636522', NULL, NULL, 1, NULL, '\x224c796f6e22');
INSERT INTO reprise.inbox VALUES ('01a2275f-998d-7f28-912d-55aefbaea28b', 1, '2026-11-29 12:55:06.407894+00', 1613511523410754443, 1, 'scanned', '01a2275f-99a6-735e-a06e-9052b4eee735', NULL, '\x224c696e7a22', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.inbox VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', 1, '2026-11-29 12:55:06.428748+00', -218195891536076757, 1, 'scanned', '01a2275f-99b3-79bb-a5d1-b3449080c6d3', NULL, '\x22666972737422', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-970f-7cfb-b57f-c73b9e60eacb', '2026-11-29 12:55:05.830035+00', NULL, '2026-11-29 12:55:05.961029+00', 4, 1, 1, 3, 1, true, 'upgrade.parcel', 'default', 'done', '{"world": "upgrade"}', '\x7b22746f223a224f736c6f222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-97ea-764d-8d37-20e1a278496f', '2026-11-29 12:55:05.963163+00', NULL, '2026-11-29 12:55:05.97182+00', 3, 1, 1, 3, 2, true, 'upgrade.parcel', 'default', 'failed', '{"world": "upgrade"}', '\x7b22746f223a224265726e222c226162726f6164223a66616c73652c2264616d61676564223a747275652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-97f4-718e-baa0-fa49b3123fec', '2026-11-29 12:55:05.972424+00', NULL, '2026-11-29 12:55:06.10781+00', 4, 1, 1, 3, 3, true, 'upgrade.parcel', 'default', 'cancelled', '{"world": "upgrade"}', '\x7b22746f223a22526f6d65222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-987c-775b-9aec-f52afe952dd7', '2026-11-29 12:55:06.119192+00', NULL, '2026-11-29 12:55:06.179776+00', 3, 1, 1, 3, 4, true, 'upgrade.parcel', 'default', 'terminated', '{"world": "upgrade"}', '\x7b22746f223a22547572696e222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-98c9-7461-8388-ab71e82f287f', '2026-11-29 12:55:06.194144+00', NULL, NULL, NULL, 1, 1, 3, 0, true, 'upgrade.parcel', 'default', 'waiting', '{"world": "upgrade"}', '\x7b22746f223a225061726973222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-98ed-7cc0-b27d-6890549d4b16', '2026-11-29 12:55:06.222352+00', NULL, NULL, NULL, 1, 1, 3, 0, true, 'upgrade.parcel', 'default', 'redirected', '{"world": "upgrade"}', '\x7b22746f223a224c796f6e222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-9947-71c7-a07c-a1be9f7e181f', '2026-11-29 12:55:06.317735+00', NULL, NULL, NULL, 1, 1, 3, 0, true, 'upgrade.parcel', 'default', 'abroad', '{"world": "upgrade"}', '\x7b22746f223a22517569746f222c226162726f6164223a747275652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-9950-71e6-a82f-57407380fb94', '2026-11-29 12:55:06.322521+00', NULL, NULL, NULL, 1, 1, 3, 0, false, 'upgrade.customs', 'default', NULL, NULL, '\x22517569746f22', NULL, NULL, '01a2275f-9947-71c7-a07c-a1be9f7e181f', 1, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-9974-7417-a93d-526c9452b26d', '2026-11-29 12:55:06.357013+00', NULL, NULL, NULL, 1, 1, 3, 0, true, 'upgrade.parcel', 'default', 'lost', '{"world": "upgrade"}', '\x7b22746f223a224661726f222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a747275652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-998d-7f28-912d-55aefbaea28b', '2026-11-29 12:55:06.382307+00', NULL, NULL, NULL, 1, 1, 3, 0, true, 'upgrade.parcel', 'default', 'odd', '{"world": "upgrade"}', '\x7b22746f223a224772617a222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a747275657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', '2026-11-29 12:55:06.418477+00', NULL, NULL, NULL, 2, 1, 3, 0, true, 'upgrade.rounds', 'default', 'rounds', NULL, '\x31', NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.runs VALUES ('01a2275f-9a1b-7a32-986e-48a6eaa3663e', '2026-11-29 12:55:06.530956+00', '2076-11-16 12:55:06.530956+00', NULL, NULL, 1, 1, 3, 0, true, 'upgrade.parcel', 'default', 'later', NULL, '\x7b22746f223a225769656e222c226162726f6164223a66616c73652c2264616d61676564223a66616c73652c226c6f7374223a66616c73652c226f6464223a66616c73657d', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise.schema_migrations VALUES (1, '0001_initial.sql', '149638f0f8850bab01422cfe18ff8efb6072627f9011b72f5f8425204179b940', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.schema_migrations VALUES (2, '0002_views.sql', '9fe09cd9b47244f0ca852c7b7337b0e3bcf43f053b22d37a4294ad6aa3d89c06', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.schema_migrations VALUES (3, '0003_children.sql', '7d6f1795bb2785432621ca8c4eb5624bd1070fa6cbe8be1df9fb6b06bcc152bf', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.schema_migrations VALUES (4, '0004_published.sql', '74c7dc69a76d8b8c962d8a4766464687059d3600c338615a8208a10d40d1ac7a', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.schema_migrations VALUES (5, '0005_start_options.sql', '53e7d9b623a164e915f568faf7361ede3700090790ae173655b68362454bf7e7', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.schema_migrations VALUES (6, '0006_labels.sql', 'ac557c2d9cf5f8ffb152fb638de856684c645f014cae5507fd7416e306e617c7', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.schema_migrations VALUES (7, '0007_pause.sql', '19bda08e802bb8d09c1e6dd096de24c542c2dc4eff2fa5d7cc120c9f85af49cd', true, '2026-11-29 12:55:05.394165+00');
INSERT INTO reprise.tasks VALUES ('01a2275f-98c9-7461-8388-ab71e82f287f', '2076-11-16 12:55:06.199165+00', 1048576, 1, 0, -3829366698926045938, 0, 1, 1, 0, 3, 0, false, 'default', 'upgrade.parcel', '\x', 'signal scanned
timer 2076-11-16T12:55:06.199165Z scanned', '');
INSERT INTO reprise.tasks VALUES ('01a2275f-98ed-7cc0-b27d-6890549d4b16', '2076-11-16 12:55:06.223813+00', 2358801, 2, 1, 7659352001020576155, 0, 1, 1, 0, 3, 0, false, 'default', 'upgrade.parcel', '\x', 'signal scanned
timer 2076-11-16T12:55:06.223813Z scanned', '');
INSERT INTO reprise.tasks VALUES ('01a2275f-9947-71c7-a07c-a1be9f7e181f', 'infinity', 1048576, 1, 0, 296520106157015256, 0, 1, 1, 0, 3, 0, false, 'default', 'upgrade.parcel', '\x', 'child upgrade.customs', '');
INSERT INTO reprise.tasks VALUES ('01a2275f-9950-71e6-a82f-57407380fb94', 'infinity', 1048576, 1, 0, -173320739322015568, 0, 1, 1, 0, 3, 0, false, 'default', 'upgrade.customs', '\x', 'signal cleared', '');
INSERT INTO reprise.tasks VALUES ('01a2275f-9974-7417-a93d-526c9452b26d', '2081-09-13 00:23:36.202951+00', 1048576, 1, 0, 5120702815312510930, 0, 1, 1, 0, 3, 0, false, 'default', 'upgrade.parcel', '\x5b7b22636d64223a312c226e616d65223a226c6162656c222c226d616465223a312c226e657874223a22323038312d30392d31335430303a32333a33362e3230323935313730345a222c226661696c757265223a7b2274797065223a222a6572726f72732e6572726f72537472696e67222c226d657373616765223a226e6f7420666f756e64227d7d5d', 'step label', '');
INSERT INTO reprise.tasks VALUES ('01a2275f-998d-7f28-912d-55aefbaea28b', '2026-11-29 12:55:07.384075+00', 1048576, 1, 1, -6259601783131497928, 0, 1, 1, 0, 3, 1, false, 'default', 'upgrade.parcel', '\x', '', 'workflow code panicked: an odd parcel at upgrade_test.register.func1 (world_test.go:67); repair the code and deploy it, the run goes on then');
INSERT INTO reprise.tasks VALUES ('01a2275f-9a1b-7a32-986e-48a6eaa3663e', '2076-11-16 12:55:06.530956+00', 0, 0, 0, 0, 0, 1, 1, 0, 3, 0, false, 'default', 'upgrade.parcel', '\x', '', '');
INSERT INTO reprise.tasks VALUES ('01a2275f-99a8-7d5d-af3e-b3a3d1ea37ab', 'infinity', 2272598, 3, 1, -3209342563714955043, 0, 2, 1, 0, 3, 0, false, 'default', 'upgrade.rounds', '\x', 'signal scanned', '');
SELECT pg_catalog.setval('reprise.audit_number_seq', 1, true);
SELECT pg_catalog.setval('reprise.nodes_id_seq', 1, true);
ALTER TABLE ONLY reprise.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (number);
ALTER TABLE ONLY reprise.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (run_id, generation, seq);
ALTER TABLE ONLY reprise.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (run_id, number);
ALTER TABLE ONLY reprise.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (node);
ALTER TABLE ONLY reprise.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reprise.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY reprise.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY reprise.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (run_id);
CREATE INDEX audit_run_idx ON reprise.audit USING btree (run_id, number);
CREATE INDEX events_failed_idx ON reprise.events USING btree (kind, run_id) WHERE (kind > 20);
CREATE INDEX events_inbox_idx ON reprise.events USING btree (run_id, generation, inbox) WHERE (inbox IS NOT NULL);
CREATE UNIQUE INDEX inbox_key_idx ON reprise.inbox USING btree (run_id, key);
CREATE INDEX runs_created_idx ON reprise.runs USING brin (created_at);
CREATE UNIQUE INDEX runs_key_idx ON reprise.runs USING btree (key) WHERE holds_key;
CREATE INDEX runs_labels_idx ON reprise.runs USING gin (labels jsonb_path_ops) WHERE (labels IS NOT NULL);
CREATE INDEX runs_old_key_idx ON reprise.runs USING btree (key) WHERE ((NOT holds_key) AND (key IS NOT NULL));
CREATE INDEX runs_parent_idx ON reprise.runs USING btree (parent_run, id) WHERE (parent_run IS NOT NULL);
CREATE INDEX runs_workflow_idx ON reprise.runs USING btree (workflow, id);
CREATE INDEX tasks_claim_idx ON reprise.tasks USING btree (queue, workflow, version, priority, visible_at) WHERE ((owner = 0) AND (state < 2) AND (visible_at < 'infinity'::timestamp with time zone));
CREATE INDEX tasks_owner_idx ON reprise.tasks USING btree (owner, visible_at) WHERE (owner > 0);
CREATE INDEX tasks_stuck_idx ON reprise.tasks USING btree (state, run_id) WHERE (state > 0);
