-- additive
-- What a run shows to those who do not have its code: a JSON list of name, encoding and data (base64). Null for none.

ALTER TABLE reprise_runs ADD COLUMN published TEXT;
