-- additive
-- The tables of the journal, as in Postgres: every table is keyed by run and no row refers to another run's. Names
-- begin with reprise_, because the tables of steps in transactions live in the same file. Times are microseconds
-- since 1970 in UTC, run ids are their 16 bytes.
--
-- Tables are clustered by their primary keys, so that a row is written to one tree only.

-- One row a run: its identity, input and outcome.
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
) STRICT, WITHOUT ROWID;

-- J8: one holder a key. Runs that lost their key are in the second index, so that both together list by key.
CREATE UNIQUE INDEX reprise_runs_key_idx      ON reprise_runs (key) WHERE holds_key = 1;
CREATE INDEX        reprise_runs_old_key_idx  ON reprise_runs (key) WHERE holds_key = 0 AND key IS NOT NULL;
CREATE INDEX        reprise_runs_workflow_idx ON reprise_runs (workflow, id);

-- One row an open run: the queue. A commit of a run that stays owned changes no indexed column.
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

-- Only claimable rows, in claim order: claiming stays flat however many runs are parked or owned.
CREATE INDEX reprise_tasks_claim_idx ON reprise_tasks (queue, workflow, version, priority, visible_at)
    WHERE owner = 0 AND state < 2 AND visible_at IS NOT NULL;
CREATE INDEX reprise_tasks_owner_idx ON reprise_tasks (owner, visible_at) WHERE owner > 0;
CREATE INDEX reprise_tasks_stuck_idx ON reprise_tasks (state, run_id) WHERE state > 0;

-- The histories. J1: the primary key makes two writers of one seq impossible; nothing updates a row.
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

-- J5: which messages are consumed. Both indexes hold only the events they are about.
CREATE INDEX reprise_events_inbox_idx  ON reprise_events (run_id, inbox) WHERE inbox IS NOT NULL;
CREATE INDEX reprise_events_failed_idx ON reprise_events (kind, run_id) WHERE kind > 20;

-- Messages to runs. J5: one writer gives out the numbers; the key deduplicates.
CREATE TABLE reprise_inbox (
    run_id   BLOB    NOT NULL,
    number   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    digest   INTEGER NOT NULL,                     -- of what was sent: a commit names it beside the number
    kind     INTEGER NOT NULL,
    name     TEXT,
    key      TEXT    NOT NULL,
    encoding TEXT,                                 -- null: JSON
    payload  BLOB,                                 -- null: no bytes
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX reprise_inbox_key_idx ON reprise_inbox (run_id, key);

-- The nodes of the process that has the file. An id is never used again. Leases are kept in the memory of that process:
-- whoever opens the file next knows that all the nodes before are dead.
CREATE TABLE reprise_nodes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    routes     TEXT    NOT NULL,                   -- a JSON list
    lease      INTEGER NOT NULL,                   -- in microseconds
    started_at INTEGER NOT NULL
) STRICT;
