-- additive
-- How many runs may wait for a limit, and what becomes of the others.

ALTER TABLE reprise.limits
    ADD COLUMN max_backlog int      NOT NULL DEFAULT 0,   -- so many runs of one key wait; 0: any number
    ADD COLUMN on_full     smallint NOT NULL DEFAULT 1;   -- 1: wait, 2: reject, 3: cancel the oldest, 4: cancel the newest

-- The runs that wait for a key, in the order in which they have come, and the places of it that no round has taken in yet. part >= 0
-- holds for all, and to have ended could be said more simply: no statement but those that say it so is planned with the indexes.
CREATE INDEX limit_claims_backlog_idx ON reprise.limit_claims (name, key, id) WHERE node = 0 AND granted_at IS NULL AND NOT ended AND part >= 0;
CREATE INDEX limit_claims_ended_idx ON reprise.limit_claims (name, key) WHERE node = 0 AND granted_at IS NOT NULL AND ended IS NOT FALSE;
