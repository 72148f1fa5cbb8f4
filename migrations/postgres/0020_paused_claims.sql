-- additive
-- A run that is paused while it waits for limits is passed over.

-- The run is paused: its claim is in no line, or the next round takes it out. A resume lets it come to wait again.
ALTER TABLE reprise.limit_claims ADD COLUMN paused boolean NOT NULL DEFAULT false;
UPDATE reprise.limit_claims c SET paused = true FROM reprise.tasks t
WHERE c.node = 0 AND c.granted_at IS NULL AND NOT c.ended AND t.run_id = c.run_id AND t.state = 3;

-- What a round takes in: what has ended, what has come to wait, and what was paused in its lines. Claims of nodes are none of these.
DROP INDEX reprise.limit_claims_news_idx;
CREATE INDEX limit_claims_news_idx ON reprise.limit_claims (since, id) WHERE ended OR counted = paused;
