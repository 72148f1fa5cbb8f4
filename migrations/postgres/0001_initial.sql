-- additive
-- The tables of the journal. Every table is keyed by run and no row refers to another run's, so the schema
-- also distributes by run. "reprise." stands for the schema's name, which the runner puts in.
--
-- Primary keys are made behind the other indexes. While a table is small all its indexes look equally good, and
-- the planner then takes the newest; the plan stays cached while the table grows.

-- One row a run: its identity, input and outcome. It is written at the start and at the close, both times
-- with the same indexed columns, so the close is a heap-only update if the page has room: hence the fill factor.
CREATE TABLE reprise.runs (
    id             uuid        NOT NULL,          -- UUIDv7: the primary key is also the listing order
    created_at     timestamptz NOT NULL,
    start_at       timestamptz,                   -- null: created_at
    closed_at      timestamptz,
    closed_seq     integer,                       -- of the terminal event (J7)
    generation     integer     NOT NULL DEFAULT 1,
    version        integer     NOT NULL,
    priority       smallint    NOT NULL,
    status         smallint    NOT NULL DEFAULT 0,
    holds_key      boolean     NOT NULL,          -- whether the key leads to this run (J8)
    workflow       text        NOT NULL,
    queue          text        NOT NULL,
    key            text        COLLATE "C",
    labels         jsonb,
    input          bytea,                         -- null: no bytes
    input_encoding text,                          -- null: JSON
    trace          text
) WITH (fillfactor = 85);

-- J8: one holder a key. Runs that lost their key are in the second index, so that both together list by key.
CREATE UNIQUE INDEX runs_key_idx      ON reprise.runs (key) WHERE holds_key;
CREATE INDEX        runs_old_key_idx  ON reprise.runs (key) WHERE NOT holds_key AND key IS NOT NULL;
CREATE INDEX        runs_workflow_idx ON reprise.runs (workflow, id);
CREATE INDEX        runs_labels_idx   ON reprise.runs USING gin (labels jsonb_path_ops) WHERE labels IS NOT NULL;
CREATE INDEX        runs_created_idx  ON reprise.runs USING brin (created_at);
ALTER TABLE reprise.runs ADD PRIMARY KEY (id);

-- One row an open run: the queue. A commit of a run that stays owned changes no indexed column, so it is a
-- heap-only update if the page has room.
CREATE TABLE reprise.tasks (
    run_id     uuid        NOT NULL,
    visible_at timestamptz NOT NULL,              -- infinity: not by time
    fence      bigint      NOT NULL DEFAULT 0,    -- number of claims << 20 | chance, see journal.Fence
    turn       bigint      NOT NULL DEFAULT 0,    -- commits that changed this row
    inbox_last bigint      NOT NULL DEFAULT 0,
    link       bigint      NOT NULL DEFAULT 0,    -- of the newest event, as the owner knew it who freed the task; else 0
    owner      integer     NOT NULL DEFAULT 0,    -- 0: free
    generation integer     NOT NULL DEFAULT 1,
    version    integer     NOT NULL,
    strikes    integer     NOT NULL DEFAULT 0,
    priority   smallint    NOT NULL,
    state      smallint    NOT NULL DEFAULT 0,
    unproven   boolean     NOT NULL DEFAULT false, -- owned, and nothing was committed under this fence yet
    queue      text        NOT NULL,
    workflow   text        NOT NULL,
    attempts   bytea       NOT NULL DEFAULT '',    -- JSON list of journal.Attempt. Without a null in it a row needs no
    waiting    text        NOT NULL DEFAULT '',    -- bitmap, which takes more than three empty values. One line each;
    problem    text        NOT NULL DEFAULT ''     -- " @" at a line's end stands for visible_at
) WITH (fillfactor = 55);

-- Only claimable rows, in claim order: claiming stays flat however many runs are parked or owned.
CREATE INDEX tasks_claim_idx ON reprise.tasks (queue, workflow, version, priority, visible_at)
    WHERE owner = 0 AND state < 2 AND visible_at < 'infinity';
CREATE INDEX tasks_owner_idx ON reprise.tasks (owner, visible_at) WHERE owner > 0;
CREATE INDEX tasks_stuck_idx ON reprise.tasks (state, run_id) WHERE state > 0;
ALTER TABLE reprise.tasks ADD PRIMARY KEY (run_id);

-- The histories. J1: the primary key makes two writers of one seq impossible; nothing updates a row.
CREATE TABLE reprise.events (
    run_id     uuid        NOT NULL,
    at         timestamptz NOT NULL,
    link       bigint      NOT NULL,              -- hash of the event and of the link before, see journal.Link
    inbox      bigint,                            -- the message it consumes, whose payload it shows
    generation integer     NOT NULL,
    seq        integer     NOT NULL,
    cmd        integer,
    attempt    integer,
    kind       smallint    NOT NULL,
    name       text,
    encoding   text,                              -- null: JSON
    issued     text,                              -- one line a command
    payload    bytea                              -- null: no bytes
);

-- J5: which messages are consumed. Both indexes hold only the events they are about.
CREATE INDEX events_inbox_idx  ON reprise.events (run_id, inbox) WHERE inbox IS NOT NULL;
CREATE INDEX events_failed_idx ON reprise.events (kind, run_id) WHERE kind > 20;
ALTER TABLE reprise.events ADD PRIMARY KEY (run_id, generation, seq);

-- Messages to runs. J5: the number is taken under the task's row lock; the key deduplicates.
CREATE TABLE reprise.inbox (
    run_id   uuid        NOT NULL,
    number   bigint      NOT NULL,
    at       timestamptz NOT NULL,
    digest   bigint      NOT NULL,                -- hash of what the sender sent, see journal.Message
    kind     smallint    NOT NULL,
    name     text,
    key      text        COLLATE "C" NOT NULL,
    encoding text,                                -- null: JSON
    payload  bytea                                -- null: no bytes
);
ALTER TABLE reprise.inbox ADD PRIMARY KEY (run_id, number);
CREATE UNIQUE INDEX inbox_key_idx ON reprise.inbox (run_id, key);

-- Leases of processes: what changes all the time. A renewal waits for nobody who reads who is a member.
CREATE TABLE reprise.nodes (
    id         integer     GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    process    integer,                           -- the store of the process, if its sessions are evidence of its life
    renewals   bigint      NOT NULL DEFAULT 0,    -- it falls only if the database goes back in time
    lease      interval    NOT NULL,
    grace      interval    NOT NULL,              -- how long it may be without a session
    started_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,              -- -infinity: declared dead, or leaving
    server     timestamptz NOT NULL,              -- start time of the server that saw the newest renewal
    name       text        NOT NULL,
    routes     jsonb       NOT NULL               -- [[queue, workflow, version], …]
) WITH (fillfactor = 50);

-- Memberships: what changes only when a process joins, when a run is taken from it, and when it is lost. The number is
-- the lease's. It may be given out again by a database that was restored, the incarnation never.
CREATE TABLE reprise.members (
    incarnation uuid        NOT NULL,
    recalled    bigint      NOT NULL DEFAULT 0,   -- how often a run that it owned was closed by somebody else
    lost_at     timestamptz,                      -- declared dead, or leaving
    node        integer     NOT NULL PRIMARY KEY
);
