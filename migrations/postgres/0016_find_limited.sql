-- additive
-- Runs that wait for limits are found by their state, like those that stand still.

CREATE INDEX tasks_limited_idx ON reprise.tasks (state, run_id) WHERE state < 0;

-- A round takes in claims of runs in the order of when they are due, and of those by their ids: found in this order, also by a plan
-- that was made when the table was empty.
DROP INDEX reprise.limit_claims_news_idx;
CREATE INDEX limit_claims_news_idx ON reprise.limit_claims (since, id) WHERE node = 0 AND (NOT counted OR ended);
