-- additive
-- What listings with a condition need to find few runs among many: runs by the names of their labels, and runs without a
-- key. Nothing of the first is written for a run without labels. The index of labels that knows no names stays: it is
-- half as large, and finds a name with a text at once.

CREATE INDEX runs_label_names_idx ON reprise.runs USING gin (labels) WHERE labels IS NOT NULL;
CREATE INDEX runs_no_key_idx ON reprise.runs (id) WHERE key IS NULL;
