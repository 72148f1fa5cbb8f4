-- additive
-- Limits of steps, and who holds them.

-- The limits. A row with an empty key is for all keys that have no row of their own.
CREATE TABLE reprise.limits (
    at          timestamptz NOT NULL,              -- of the last change
    rate_n      bigint      NOT NULL,              -- so much of cost may begin in rate_per; 0: any rate
    rate_per    bigint      NOT NULL,              -- in microseconds
    burst       bigint      NOT NULL,
    ageing      bigint      NOT NULL,              -- in microseconds
    concurrency int         NOT NULL,              -- of one key; 0: any number
    total       int         NOT NULL,              -- of all keys; 0: any number
    weight      int         NOT NULL,
    name        text        COLLATE "C" NOT NULL,
    key         text        COLLATE "C" NOT NULL,
    actor       text        NOT NULL,
    reason      text        NOT NULL,
    PRIMARY KEY (name, key)
);

-- What is held of each key of a limit, and waits (J14). A row changes under the lock of its limit's name only. The key ~total
-- counts what is held of all keys of a limit with a total. share, served and open are constant without one, so that their index is
-- left alone.
CREATE TABLE reprise.limit_lines (
    ready   bigint  NOT NULL,                      -- when the rate is as if nothing had begun, in microseconds
    served  bigint  NOT NULL,                      -- when it last got something, in microseconds
    share   float8  NOT NULL,                      -- what is held for the weight
    held    int     NOT NULL,
    waiting int     NOT NULL,
    open    boolean NOT NULL,                      -- whether it waits for the total alone
    name    text    COLLATE "C" NOT NULL,
    key     text    COLLATE "C" NOT NULL,
    PRIMARY KEY (name, key)
) WITH (fillfactor = 70);
CREATE INDEX limit_lines_open_idx ON reprise.limit_lines (name, share, served) WHERE open;

-- What nodes hold of limits and wait for: a row for each limit that a step needs.
CREATE TABLE reprise.limit_claims (
    id         bigint      NOT NULL,               -- the node's number of it
    rank       bigint      NOT NULL,               -- by which its line is sorted
    cost       bigint      NOT NULL,
    since      timestamptz NOT NULL,
    granted_at timestamptz,                        -- null: it waits
    run_id     uuid        NOT NULL,
    node       int         NOT NULL,
    cmd        int         NOT NULL,
    part       smallint    NOT NULL,               -- which of the limits that the step needs, from 0
    priority   smallint    NOT NULL,
    name       text        COLLATE "C" NOT NULL,
    key        text        COLLATE "C" NOT NULL,
    step       text        NOT NULL,
    needs      text,                               -- all that the step needs, as JSON, if it is more than this
    PRIMARY KEY (node, id, part)
);
CREATE INDEX limit_claims_line_idx ON reprise.limit_claims (name, key, rank, node, id) WHERE granted_at IS NULL;
CREATE INDEX limit_claims_held_idx ON reprise.limit_claims (node) WHERE granted_at IS NOT NULL;
CREATE INDEX limit_claims_run_idx ON reprise.limit_claims (run_id) WHERE granted_at IS NULL;
