-- additive
-- Runs that wait for limits are found by their state, like those that stand still.

CREATE INDEX tasks_limited_idx ON reprise.tasks (state, run_id) WHERE state < 0;
