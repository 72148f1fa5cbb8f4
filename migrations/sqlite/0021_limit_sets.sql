-- additive
-- Claims that need the same lines of limits are a set. A line lists the sets that a round must look at in it, so a round finds who can
-- begin, however many claims wait that another limit holds up.

ALTER TABLE reprise_limit_claims ADD COLUMN set_id INTEGER NOT NULL DEFAULT 0;   -- 0: of one limit, or stored by a release that knew no sets

-- The lines of the sets of which claims wait.
CREATE TABLE reprise_limit_sets (
    set_id INTEGER NOT NULL,
    name   TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    first  INTEGER NOT NULL,                -- no claim of the set has a lower rank in the line
    away   INTEGER NOT NULL,                -- another of its lines holds the set up: the line does not list it
    PRIMARY KEY (set_id, name, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX reprise_limit_sets_line_idx ON reprise_limit_sets (name, key, first) WHERE away = 0;
CREATE INDEX reprise_limit_claims_heads_idx ON reprise_limit_claims (name, key, set_id, rank, node, id)
    WHERE granted_at IS NULL AND counted = 1 AND ended = 0;
