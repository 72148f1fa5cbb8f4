-- additive
-- The labels of the start, as a JSON object, of a run that has changed its labels since; its code goes on to see these.

ALTER TABLE reprise_runs ADD COLUMN start_labels TEXT;
