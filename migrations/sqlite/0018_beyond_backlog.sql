-- additive
-- Runs that no limit refuses or cancels because too many wait for it: 1. Null for most runs.

ALTER TABLE reprise_runs ADD COLUMN beyond_backlog INTEGER;
