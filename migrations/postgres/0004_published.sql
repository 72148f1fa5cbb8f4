-- additive
-- What a run shows to those who do not have its code. Null for runs that publish nothing, whose rows do not grow.

ALTER TABLE reprise.runs
    ADD COLUMN published text;                    -- JSON list of name, encoding and data (base64)
