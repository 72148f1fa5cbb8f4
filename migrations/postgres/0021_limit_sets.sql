-- additive
-- Claims that need the same lines of limits are a set. A line lists the sets that a round must look at in it, so a round finds who can
-- begin, however many claims wait that another limit holds up.

ALTER TABLE reprise.limit_claims
    ADD COLUMN set_id bigint NOT NULL DEFAULT 0;   -- 0: of one limit, or stored by a release that knew no sets

-- The lines of the sets of which claims wait.
CREATE TABLE reprise.limit_sets (
    set_id bigint  NOT NULL,
    first  bigint  NOT NULL,                -- no claim of the set has a lower rank in the line
    away   boolean NOT NULL,                -- another of its lines holds the set up: the line does not list it
    name   text    COLLATE "C" NOT NULL,
    key    text    COLLATE "C" NOT NULL,
    PRIMARY KEY (set_id, name, key)
);
CREATE INDEX limit_sets_line_idx ON reprise.limit_sets (name, key, first) WHERE NOT away;

-- Heads of a line are read by their sets, places in the line by rank. The part keeps each of the two indexes from the other's queries.
DROP INDEX reprise.limit_claims_line_idx;
CREATE INDEX limit_claims_line_idx ON reprise.limit_claims (name, key, rank, node, id) WHERE granted_at IS NULL AND counted AND part >= 0;
CREATE INDEX limit_claims_heads_idx ON reprise.limit_claims (name, key, set_id, rank, node, id) WHERE granted_at IS NULL AND counted AND NOT ended;
