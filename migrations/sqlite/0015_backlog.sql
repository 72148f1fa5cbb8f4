-- additive
-- How many runs may wait for a limit, and what becomes of the others.

ALTER TABLE reprise_limits ADD COLUMN max_backlog INTEGER NOT NULL DEFAULT 0;   -- so many runs of one key wait; 0: any number
ALTER TABLE reprise_limits ADD COLUMN on_full INTEGER NOT NULL DEFAULT 1;       -- 1: wait, 2: reject, 3: cancel the oldest, 4: cancel the newest

-- The runs that wait for a key, in the order in which they have come, and the places of it that no round has taken in yet.
CREATE INDEX reprise_limit_claims_backlog_idx ON reprise_limit_claims (name, key, id) WHERE node = 0 AND granted_at IS NULL AND ended = 0;
CREATE INDEX reprise_limit_claims_ended_idx ON reprise_limit_claims (name, key) WHERE node = 0 AND granted_at IS NOT NULL AND ended = 1;
