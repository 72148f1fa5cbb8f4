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
