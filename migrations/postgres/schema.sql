-- What the migrations make of an empty database, for readers. A test writes and compares this file.

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

CREATE FUNCTION reprise.failure_classes(payload bytea, encoding text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
DECLARE
    t       text;
    f       json;
    classes text[] := '{}';
BEGIN
    IF encoding IS DISTINCT FROM 'failure' THEN
        RETURN NULL;
    END IF;
    t := replace(replace(convert_from(payload, 'UTF8'), '\\', '\u005c'), '\u0000', '\ufffd');
    IF strpos(t, '\ud') > 0 OR strpos(t, '\uD') > 0 THEN
        t := regexp_replace(t, '\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])', '\\ufffd', 'gi');
        t := regexp_replace(t, '(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}', '\\ufffd', 'gi');
    END IF;
    f := t::json;
    WHILE json_typeof(f) = 'object' LOOP
        classes := classes || (f ->> 'type') || (f ->> 'as');
        IF left(f ->> 'type', 8) = 'reprise' || '.' THEN -- in two pieces, since it is not the schema's name
            classes := classes || substr(f ->> 'type', 9);
        END IF;
        IF json_typeof(f -> 'is') = 'array' THEN
            classes := classes || ARRAY (SELECT json_array_elements_text(f -> 'is'));
        END IF;
        f := f -> 'cause';
    END LOOP;
    RETURN ARRAY (SELECT c FROM unnest(classes) AS c WHERE c <> '' AND octet_length(c) <= 300);
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
$$;

CREATE FUNCTION reprise.label_time(label text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE
    AS $$
BEGIN
    IF length(label) = 10 THEN
        RETURN (label || 'T00:00:00Z')::timestamptz;
    END IF;
    RETURN label::timestamptz;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END
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

CREATE TABLE reprise.limit_claims (
    id bigint NOT NULL,
    rank bigint NOT NULL,
    cost bigint NOT NULL,
    since timestamp with time zone NOT NULL,
    granted_at timestamp with time zone,
    run_id uuid NOT NULL,
    node integer NOT NULL,
    cmd integer NOT NULL,
    part smallint NOT NULL,
    priority smallint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    step text NOT NULL,
    needs text,
    counted boolean DEFAULT true NOT NULL,
    ended boolean DEFAULT false NOT NULL,
    paused boolean DEFAULT false NOT NULL,
    set_id bigint DEFAULT 0 NOT NULL,
    spared boolean DEFAULT false NOT NULL
);

CREATE TABLE reprise.limit_lines (
    ready bigint NOT NULL,
    served bigint NOT NULL,
    share double precision NOT NULL,
    held integer NOT NULL,
    waiting integer NOT NULL,
    open boolean NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    look_at bigint,
    rated_at bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='70');

CREATE SEQUENCE reprise.limit_runs_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE reprise.limit_sets (
    set_id bigint NOT NULL,
    first bigint NOT NULL,
    away boolean NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    halted boolean DEFAULT false NOT NULL,
    version integer DEFAULT 0 NOT NULL,
    queue text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    workflow text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C"
);

CREATE TABLE reprise.limits (
    at timestamp with time zone NOT NULL,
    rate_n bigint NOT NULL,
    rate_per bigint NOT NULL,
    burst bigint NOT NULL,
    ageing bigint NOT NULL,
    concurrency integer NOT NULL,
    total integer NOT NULL,
    weight integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    key text NOT NULL COLLATE pg_catalog."C",
    actor text NOT NULL,
    reason text NOT NULL,
    max_backlog integer DEFAULT 0 NOT NULL,
    on_full smallint DEFAULT 1 NOT NULL
);

CREATE TABLE reprise.members (
    incarnation uuid NOT NULL,
    recalled bigint DEFAULT 0 NOT NULL,
    lost_at timestamp with time zone,
    node integer NOT NULL,
    heeded bigint DEFAULT 0 NOT NULL,
    drain boolean DEFAULT false NOT NULL
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

CREATE TABLE reprise.pauses (
    number bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    version integer NOT NULL,
    interrupts boolean NOT NULL,
    queue text NOT NULL,
    workflow text NOT NULL,
    actor text NOT NULL,
    reason text NOT NULL
);

CREATE SEQUENCE reprise.pauses_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

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
    start_labels jsonb,
    rewound text,
    freezes timestamp with time zone[],
    limits text,
    beyond_backlog boolean
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
    r.headers,
    r.freezes
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
            WHEN (t.state = '-1'::integer) THEN 'limited'::text
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

CREATE TABLE reprise.views (
    at timestamp with time zone NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    actor text NOT NULL
);

ALTER TABLE ONLY reprise.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (number);

ALTER TABLE ONLY reprise.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (run_id, generation, seq);

ALTER TABLE ONLY reprise.inbox
    ADD CONSTRAINT inbox_pkey PRIMARY KEY (run_id, number);

ALTER TABLE ONLY reprise.limit_claims
    ADD CONSTRAINT limit_claims_pkey PRIMARY KEY (node, id, part);

ALTER TABLE ONLY reprise.limit_lines
    ADD CONSTRAINT limit_lines_pkey PRIMARY KEY (name, key);

ALTER TABLE ONLY reprise.limit_sets
    ADD CONSTRAINT limit_sets_pkey PRIMARY KEY (set_id, name, key);

ALTER TABLE ONLY reprise.limits
    ADD CONSTRAINT limits_pkey PRIMARY KEY (name, key);

ALTER TABLE ONLY reprise.members
    ADD CONSTRAINT members_pkey PRIMARY KEY (node);

ALTER TABLE ONLY reprise.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);

ALTER TABLE ONLY reprise.pauses
    ADD CONSTRAINT pauses_pkey PRIMARY KEY (queue, workflow, version);

ALTER TABLE ONLY reprise.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY reprise.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY reprise.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (run_id);

ALTER TABLE ONLY reprise.views
    ADD CONSTRAINT views_pkey PRIMARY KEY (name);

CREATE INDEX audit_run_idx ON reprise.audit USING btree (run_id, number);

CREATE INDEX events_failed_idx ON reprise.events USING btree (kind, run_id) WHERE (kind > 20);

CREATE INDEX events_failure_idx ON reprise.events USING gin (reprise.failure_classes(payload, encoding)) WHERE ((kind > 20) AND (encoding = 'failure'::text));

CREATE INDEX events_inbox_idx ON reprise.events USING btree (run_id, generation, inbox) WHERE (inbox IS NOT NULL);

CREATE UNIQUE INDEX inbox_key_idx ON reprise.inbox USING btree (run_id, key);

CREATE INDEX limit_claims_backlog_idx ON reprise.limit_claims USING btree (name, key, spared, id) WHERE ((node = 0) AND (granted_at IS NULL) AND (NOT ended) AND (part >= 0));

CREATE INDEX limit_claims_ended_idx ON reprise.limit_claims USING btree (name, key) WHERE ((node = 0) AND (granted_at IS NOT NULL) AND (ended IS NOT FALSE));

CREATE INDEX limit_claims_heads_idx ON reprise.limit_claims USING btree (name, key, set_id, rank, node, id) WHERE ((granted_at IS NULL) AND counted AND (NOT ended));

CREATE INDEX limit_claims_held_idx ON reprise.limit_claims USING btree (node) WHERE (granted_at IS NOT NULL);

CREATE INDEX limit_claims_line_idx ON reprise.limit_claims USING btree (name, key, rank, node, id) WHERE ((granted_at IS NULL) AND counted AND (part >= 0));

CREATE INDEX limit_claims_news_idx ON reprise.limit_claims USING btree (since, id) WHERE (ended OR (counted = paused));

CREATE INDEX limit_claims_of_run_idx ON reprise.limit_claims USING btree (run_id) WHERE (node = 0);

CREATE INDEX limit_claims_run_idx ON reprise.limit_claims USING btree (run_id) WHERE (granted_at IS NULL);

CREATE INDEX limit_lines_look_idx ON reprise.limit_lines USING btree (look_at) WHERE (look_at IS NOT NULL);

CREATE INDEX limit_lines_open_idx ON reprise.limit_lines USING btree (name, share, served) WHERE open;

CREATE INDEX limit_sets_halted_idx ON reprise.limit_sets USING btree (queue, workflow, version, first) WHERE halted;

CREATE INDEX limit_sets_line_idx ON reprise.limit_sets USING btree (name, key, first) WHERE (NOT away);

CREATE INDEX runs_created_idx ON reprise.runs USING brin (created_at);

CREATE UNIQUE INDEX runs_key_idx ON reprise.runs USING btree (key) WHERE holds_key;

CREATE INDEX runs_label_names_idx ON reprise.runs USING gin (labels) WHERE (labels IS NOT NULL);

CREATE INDEX runs_labels_idx ON reprise.runs USING gin (labels jsonb_path_ops) WHERE (labels IS NOT NULL);

CREATE INDEX runs_old_key_idx ON reprise.runs USING btree (key) WHERE ((NOT holds_key) AND (key IS NOT NULL));

CREATE INDEX runs_parent_idx ON reprise.runs USING btree (parent_run, id) WHERE (parent_run IS NOT NULL);

CREATE INDEX runs_workflow_idx ON reprise.runs USING btree (workflow, id);

CREATE INDEX tasks_claim_idx ON reprise.tasks USING btree (queue, workflow, version, priority, visible_at) WHERE ((owner = 0) AND (state < 2) AND (visible_at < 'infinity'::timestamp with time zone));

CREATE INDEX tasks_limited_idx ON reprise.tasks USING btree (state, run_id) WHERE (state < 0);

CREATE INDEX tasks_owner_idx ON reprise.tasks USING btree (owner, visible_at) WHERE (owner > 0);

CREATE INDEX tasks_stuck_idx ON reprise.tasks USING btree (state, run_id) WHERE (state > 0);
