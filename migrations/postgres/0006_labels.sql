-- additive
-- Labels that a run sets itself are merged into its labels. Its code goes on to see those of its start, which stay
-- here. Null for runs that change none, whose rows do not grow.

ALTER TABLE reprise.runs
    ADD COLUMN start_labels jsonb;
