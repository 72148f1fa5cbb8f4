-- additive
-- Runs that no node can begin now, because their scope is paused or no live node serves them, are passed over as sets.

-- Claims of runs that need the same lines are a set for each route. Rows that are not of runs, or are of a release before, have no route.
ALTER TABLE reprise.limit_sets
    ADD COLUMN halted   boolean NOT NULL DEFAULT false,                  -- away until a node can begin runs of the route
    ADD COLUMN version  int     NOT NULL DEFAULT 0,
    ADD COLUMN queue    text    COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN workflow text    COLLATE "C" NOT NULL DEFAULT '';

-- The routes that are halted, one probe each, and of one that goes on the sets of which the first claim is the earliest.
CREATE INDEX limit_sets_halted_idx ON reprise.limit_sets (queue, workflow, version, first) WHERE halted;

-- Runs that nobody goes for who comes to a full limit: they were started beyond the backlog, or an operator has gone back in them.
ALTER TABLE reprise.limit_claims ADD COLUMN spared boolean NOT NULL DEFAULT false;
UPDATE reprise.limit_claims c SET spared = true FROM reprise.runs r
WHERE c.node = 0 AND c.granted_at IS NULL AND NOT c.ended AND r.id = c.run_id AND (r.generation > 1 OR r.beyond_backlog);
DROP INDEX reprise.limit_claims_backlog_idx;
CREATE INDEX limit_claims_backlog_idx ON reprise.limit_claims (name, key, spared, id) WHERE node = 0 AND granted_at IS NULL AND NOT ended AND part >= 0;
