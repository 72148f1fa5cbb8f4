-- additive
-- Runs that no node can begin now, because their scope is paused or no live node serves them, are passed over as sets.

-- Claims of runs that need the same lines are a set for each route. Rows that are not of runs, or are of a release before, have no route.
ALTER TABLE reprise_limit_sets ADD COLUMN halted INTEGER NOT NULL DEFAULT 0;   -- away until a node can begin runs of the route
ALTER TABLE reprise_limit_sets ADD COLUMN queue TEXT NOT NULL DEFAULT '';
ALTER TABLE reprise_limit_sets ADD COLUMN workflow TEXT NOT NULL DEFAULT '';
ALTER TABLE reprise_limit_sets ADD COLUMN version INTEGER NOT NULL DEFAULT 0;

-- The routes that are halted, one probe each, and of one that goes on the sets of which the first claim is the earliest.
CREATE INDEX reprise_limit_sets_halted_idx ON reprise_limit_sets (queue, workflow, version, first) WHERE halted = 1;

-- Runs that nobody goes for who comes to a full limit: they were started beyond the backlog, or an operator has gone back in them.
ALTER TABLE reprise_limit_claims ADD COLUMN spared INTEGER NOT NULL DEFAULT 0;
UPDATE reprise_limit_claims SET spared = 1
WHERE node = 0 AND granted_at IS NULL AND ended = 0
  AND run_id IN (SELECT r.id FROM reprise_runs r WHERE r.generation > 1 OR r.beyond_backlog = 1);
DROP INDEX reprise_limit_claims_backlog_idx;
CREATE INDEX reprise_limit_claims_backlog_idx ON reprise_limit_claims (name, key, spared, id) WHERE node = 0 AND granted_at IS NULL AND ended = 0;
