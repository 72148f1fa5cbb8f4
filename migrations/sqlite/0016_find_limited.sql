-- additive
-- Runs that wait for limits are found by their state, like those that stand still.

CREATE INDEX reprise_tasks_limited_idx ON reprise_tasks (state, run_id) WHERE state < 0;
