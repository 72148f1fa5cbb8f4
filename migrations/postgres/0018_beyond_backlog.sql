-- additive
-- Runs that no limit refuses or cancels because too many wait for it. Null for most runs, whose rows do not grow.

ALTER TABLE reprise.runs ADD COLUMN beyond_backlog boolean;
