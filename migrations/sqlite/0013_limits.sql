-- additive
-- Limits of steps, and who holds them.

-- The limits. A row with an empty key is for all keys that have no row of their own.
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
    reason      TEXT    NOT NULL,
    PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;

-- What is held of each key of a limit, and waits (J14). The key ~total counts what is held of all keys of a limit with a total.
CREATE TABLE reprise_limit_lines (
    name    TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    held    INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    ready   INTEGER NOT NULL,                      -- when the rate is as if nothing had begun, in microseconds
    served  INTEGER NOT NULL,                      -- when it last got something, in microseconds
    share   REAL    NOT NULL,                      -- what is held for the weight
    open    INTEGER NOT NULL,                      -- whether it waits for the total alone
    PRIMARY KEY (name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX reprise_limit_lines_open_idx ON reprise_limit_lines (name, share, served) WHERE open = 1;

-- What nodes hold of limits and wait for: a row for each limit that a step needs.
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
    needs      TEXT,                               -- all that the step needs, as JSON, if it is more than this
    PRIMARY KEY (node, id, part)
) STRICT, WITHOUT ROWID;
CREATE INDEX reprise_limit_claims_line_idx ON reprise_limit_claims (name, key, rank, node, id) WHERE granted_at IS NULL;
CREATE INDEX reprise_limit_claims_run_idx ON reprise_limit_claims (run_id) WHERE granted_at IS NULL;
