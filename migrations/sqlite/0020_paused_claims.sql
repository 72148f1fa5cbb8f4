-- additive
-- A run that is paused while it waits for limits is passed over.

-- The run is paused: its claim is in no line, or the next round takes it out. A resume lets it come to wait again.
ALTER TABLE reprise_limit_claims ADD COLUMN paused INTEGER NOT NULL DEFAULT 0;
UPDATE reprise_limit_claims SET paused = 1
WHERE node = 0 AND granted_at IS NULL AND ended = 0 AND run_id IN (SELECT t.run_id FROM reprise_tasks t WHERE t.state = 3);

-- What a round takes in: what has ended, what has come to wait, and what was paused in its lines.
DROP INDEX reprise_limit_claims_news_idx;
CREATE INDEX reprise_limit_claims_news_idx ON reprise_limit_claims (since, id) WHERE node = 0 AND part = 0 AND (ended = 1 OR counted = paused);
