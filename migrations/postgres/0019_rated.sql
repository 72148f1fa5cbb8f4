-- additive
-- When the rate of a line has become another one: what was granted before gives nothing of it back.

ALTER TABLE reprise.limit_lines ADD COLUMN rated_at bigint NOT NULL DEFAULT 0;   -- in microseconds
