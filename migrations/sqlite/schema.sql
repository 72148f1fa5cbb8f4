-- What the migrations make of an empty database, for readers. A test writes and compares this file.

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

CREATE TABLE reprise_events (
    run_id     BLOB    NOT NULL,
    generation INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    link       INTEGER NOT NULL,                   -- chains the event to the one before; 0: not chained
    inbox      INTEGER,                            -- the message it consumes, whose payload it shows
    cmd        INTEGER,
    attempt    INTEGER,
    kind       INTEGER NOT NULL,
    name       TEXT,
    encoding   TEXT,                               -- null: JSON
    issued     TEXT,                               -- one line a command
    payload    BLOB,                               -- null: no bytes
    PRIMARY KEY (run_id, generation, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_inbox (
    run_id   BLOB    NOT NULL,
    number   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    digest   INTEGER NOT NULL,                     -- of what was sent: a commit names it beside the number
    kind     INTEGER NOT NULL,
    name     TEXT,
    key      TEXT    NOT NULL,
    encoding TEXT,                                 -- null: JSON
    payload  BLOB, cmd INTEGER, generation INTEGER, answered INTEGER, answer BLOB, answer_encoding TEXT,                                 -- null: no bytes
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_labels (
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    run_id BLOB NOT NULL,
    PRIMARY KEY (name, value, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_limit_claims (
    node       INTEGER NOT NULL,
    id         INTEGER NOT NULL,                   -- the node's number of it
    part       INTEGER NOT NULL,                   -- which of the limits that the step needs, from 0
    name       TEXT    NOT NULL,
    key        TEXT    NOT NULL,
    cost       INTEGER NOT NULL,
    rank       INTEGER NOT NULL,                   -- by which its line is sorted
    since      INTEGER NOT NULL,
    granted_at INTEGER,                            -- null: it waits
    run_id     BLOB    NOT NULL,
    cmd        INTEGER NOT NULL,
    step       TEXT    NOT NULL,
    priority   INTEGER NOT NULL,
    needs      TEXT, counted INTEGER NOT NULL DEFAULT 1, ended INTEGER NOT NULL DEFAULT 0, paused INTEGER NOT NULL DEFAULT 0, set_id INTEGER NOT NULL DEFAULT 0, spared INTEGER NOT NULL DEFAULT 0,                               -- all that the step needs, as JSON, if it is more than this
    PRIMARY KEY (node, id, part)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_limit_lines (
    name    TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    held    INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    ready   INTEGER NOT NULL,                      -- when the rate is as if nothing had begun, in microseconds
    served  INTEGER NOT NULL,                      -- when it last got something, in microseconds
    share   REAL    NOT NULL,                      -- what is held for the weight
    open    INTEGER NOT NULL, look_at INTEGER, rated_at INTEGER NOT NULL DEFAULT 0,                      -- whether it waits for the total alone
    PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_limit_sets (
    set_id INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    first  INTEGER NOT NULL,                -- no claim of the set has a lower rank in the line
    away   INTEGER NOT NULL, halted INTEGER NOT NULL DEFAULT 0, queue TEXT NOT NULL DEFAULT '', workflow TEXT NOT NULL DEFAULT '', version INTEGER NOT NULL DEFAULT 0,                -- another of its lines holds the set up: the line does not list it
    PRIMARY KEY (set_id, name, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_limits (
    name        TEXT    NOT NULL,
    key         TEXT    NOT NULL,
    concurrency INTEGER NOT NULL,                  -- of one key; 0: any number
    total       INTEGER NOT NULL,                  -- of all keys; 0: any number
    rate_n      INTEGER NOT NULL,                  -- so much of cost may begin in rate_per; 0: any rate
    rate_per    INTEGER NOT NULL,                  -- in microseconds
    burst       INTEGER NOT NULL,
    weight      INTEGER NOT NULL,
    ageing      INTEGER NOT NULL,                  -- in microseconds
    at          INTEGER NOT NULL,                  -- of the last change
    actor       TEXT    NOT NULL,
    reason      TEXT    NOT NULL, max_backlog INTEGER NOT NULL DEFAULT 0, on_full INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_nodes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    routes     TEXT    NOT NULL,                   -- a JSON list
    lease      INTEGER NOT NULL,                   -- in microseconds
    started_at INTEGER NOT NULL
) STRICT;

CREATE TABLE reprise_pauses (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    queue      TEXT    NOT NULL,                   -- empty: all
    workflow   TEXT    NOT NULL,                   -- empty: all
    version    INTEGER NOT NULL,                   -- 0: all
    interrupts INTEGER NOT NULL,                   -- whether attempts that are executed are interrupted
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    UNIQUE (queue, workflow, version)
) STRICT;

CREATE TABLE reprise_runs (
    id             BLOB    NOT NULL PRIMARY KEY,   -- UUIDv7: the primary key is also the listing order
    created_at     INTEGER NOT NULL,
    start_at       INTEGER,                        -- null: created_at
    closed_at      INTEGER,
    closed_seq     INTEGER,                        -- of the terminal event (J7)
    generation     INTEGER NOT NULL DEFAULT 1,
    version        INTEGER NOT NULL,
    priority       INTEGER NOT NULL,
    status         INTEGER NOT NULL DEFAULT 0,
    holds_key      INTEGER NOT NULL,               -- whether the key leads to this run (J8)
    workflow       TEXT    NOT NULL,
    queue          TEXT    NOT NULL,
    key            TEXT,
    labels         TEXT,                           -- a JSON object
    input          BLOB,                           -- null: no bytes
    input_encoding TEXT,                           -- null: JSON
    trace          TEXT
, parent_run BLOB, parent_generation INTEGER, parent_cmd INTEGER, parent_policy INTEGER, inbox_seen INTEGER, carried TEXT, published TEXT, headers TEXT, timeout INTEGER, on_failure TEXT, start_labels TEXT, rewound TEXT, freezes TEXT, limits TEXT, beyond_backlog INTEGER) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    additive   INTEGER NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE reprise_tasks (
    run_id     BLOB    NOT NULL PRIMARY KEY,
    visible_at INTEGER,                            -- null: not by time
    fence      INTEGER NOT NULL DEFAULT 0,         -- count of claims << 20 | chance
    turn       INTEGER NOT NULL DEFAULT 0,         -- commits that changed this row
    link       INTEGER NOT NULL DEFAULT 0,         -- of the newest event when the owner freed the task; 0 while owned
    inbox_last INTEGER NOT NULL DEFAULT 0,
    owner      INTEGER NOT NULL DEFAULT 0,         -- 0: free
    generation INTEGER NOT NULL DEFAULT 1,
    version    INTEGER NOT NULL,
    strikes    INTEGER NOT NULL DEFAULT 0,
    priority   INTEGER NOT NULL,
    state      INTEGER NOT NULL DEFAULT 0,
    unproven   INTEGER NOT NULL DEFAULT 0,         -- owned, and nothing was committed under this fence yet
    queue      TEXT    NOT NULL,
    workflow   TEXT    NOT NULL,
    attempts   BLOB,                               -- JSON list of journal.Attempt
    waiting    TEXT,                               -- one line each
    problem    TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE reprise_views (
    name    TEXT    NOT NULL PRIMARY KEY,
    address TEXT    NOT NULL,                      -- a path and a query below the pages
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sqlite_sequence(name,seq);

CREATE INDEX reprise_audit_run_idx ON reprise_audit (run_id, number);

CREATE INDEX reprise_events_failed_idx ON reprise_events (kind, run_id) WHERE kind > 20;

CREATE INDEX reprise_events_inbox_idx ON reprise_events (run_id, generation, inbox) WHERE inbox IS NOT NULL;

CREATE UNIQUE INDEX reprise_inbox_key_idx ON reprise_inbox (run_id, key);

CREATE INDEX reprise_limit_claims_backlog_idx ON reprise_limit_claims (name, key, spared, id) WHERE node = 0 AND granted_at IS NULL AND ended = 0;

CREATE INDEX reprise_limit_claims_ended_idx ON reprise_limit_claims (name, key) WHERE node = 0 AND granted_at IS NOT NULL AND ended = 1;

CREATE INDEX reprise_limit_claims_heads_idx ON reprise_limit_claims (name, key, set_id, rank, node, id)
    WHERE granted_at IS NULL AND counted = 1 AND ended = 0;

CREATE INDEX reprise_limit_claims_line_idx ON reprise_limit_claims (name, key, rank, node, id) WHERE granted_at IS NULL AND counted = 1 AND ended = 0;

CREATE INDEX reprise_limit_claims_news_idx ON reprise_limit_claims (since, id) WHERE node = 0 AND part = 0 AND (ended = 1 OR counted = paused);

CREATE INDEX reprise_limit_claims_of_run_idx ON reprise_limit_claims (run_id) WHERE node = 0;

CREATE INDEX reprise_limit_claims_run_idx ON reprise_limit_claims (run_id) WHERE granted_at IS NULL;

CREATE INDEX reprise_limit_lines_look_idx ON reprise_limit_lines (look_at) WHERE look_at IS NOT NULL;

CREATE INDEX reprise_limit_lines_open_idx ON reprise_limit_lines (name, share, served) WHERE open = 1;

CREATE INDEX reprise_limit_sets_halted_idx ON reprise_limit_sets (queue, workflow, version, first) WHERE halted = 1;

CREATE INDEX reprise_limit_sets_line_idx ON reprise_limit_sets (name, key, first) WHERE away = 0;

CREATE INDEX reprise_runs_closed_idx ON reprise_runs (closed_at, id) WHERE closed_at IS NOT NULL;

CREATE INDEX reprise_runs_created_idx ON reprise_runs (created_at, id);

CREATE INDEX reprise_runs_duration_idx
    ON reprise_runs (max(closed_at - coalesce(start_at, created_at), 0), id) WHERE closed_at IS NOT NULL;

CREATE UNIQUE INDEX reprise_runs_key_idx      ON reprise_runs (key) WHERE holds_key = 1;

CREATE INDEX reprise_runs_no_key_idx ON reprise_runs (key, id) WHERE key IS NULL;

CREATE INDEX reprise_runs_old_key_idx  ON reprise_runs (key) WHERE holds_key = 0 AND key IS NOT NULL;

CREATE INDEX reprise_runs_open_children_idx ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL AND status = 0;

CREATE INDEX reprise_runs_parent_idx        ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL;

CREATE INDEX reprise_runs_workflow_idx ON reprise_runs (workflow, id);

CREATE INDEX reprise_tasks_claim_idx ON reprise_tasks (queue, workflow, version, priority, visible_at)
    WHERE owner = 0 AND state < 2 AND visible_at IS NOT NULL;

CREATE INDEX reprise_tasks_limited_idx ON reprise_tasks (state, run_id) WHERE state < 0;

CREATE INDEX reprise_tasks_owner_idx ON reprise_tasks (owner, visible_at) WHERE owner > 0;

CREATE INDEX reprise_tasks_stuck_idx ON reprise_tasks (state, run_id) WHERE state > 0;

CREATE TRIGGER reprise_labels_change AFTER UPDATE OF labels ON reprise_runs WHEN NEW.labels IS NOT OLD.labels BEGIN
    DELETE FROM reprise_labels WHERE (name, value, run_id) IN (
        SELECT j.key, j.value, OLD.id FROM json_each(CASE WHEN json_valid(OLD.labels) THEN OLD.labels ELSE '{}' END) j);
    INSERT OR IGNORE INTO reprise_labels (name, value, run_id)
    SELECT j.key, j.value, NEW.id FROM json_each(CASE WHEN json_valid(NEW.labels) THEN NEW.labels ELSE '{}' END) j WHERE j.type = 'text';
END;

CREATE TRIGGER reprise_labels_end AFTER DELETE ON reprise_runs WHEN OLD.labels IS NOT NULL BEGIN
    DELETE FROM reprise_labels WHERE (name, value, run_id) IN (
        SELECT j.key, j.value, OLD.id FROM json_each(CASE WHEN json_valid(OLD.labels) THEN OLD.labels ELSE '{}' END) j);
END;

CREATE TRIGGER reprise_labels_start AFTER INSERT ON reprise_runs WHEN NEW.labels IS NOT NULL BEGIN
    INSERT OR IGNORE INTO reprise_labels (name, value, run_id)
    SELECT j.key, j.value, NEW.id FROM json_each(CASE WHEN json_valid(NEW.labels) THEN NEW.labels ELSE '{}' END) j WHERE j.type = 'text';
END;

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
       r.carried,
       strftime('%Y-%m-%d %H:%M:%f', (coalesce(r.start_at, r.created_at) + r.timeout) / 1e6, 'unixepoch') AS deadline,
       r.on_failure,
       r.headers,
       CASE WHEN json_valid(r.freezes)
            THEN (SELECT json_group_array(strftime('%Y-%m-%d %H:%M:%f', f.value / 1e6, 'unixepoch')) FROM json_each(r.freezes) f) END AS freezes
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;

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
