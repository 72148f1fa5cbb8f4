-- additive
-- What listings with a condition need to find few runs among many: runs by their labels, and runs without a key. Triggers
-- keep the labels of runs apart from their rows, whoever writes these. Nothing is written for a run without labels.

CREATE TABLE reprise_labels (
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    run_id BLOB NOT NULL,
    PRIMARY KEY (name, value, run_id)
) STRICT, WITHOUT ROWID;

-- Labels that are no JSON are found by nothing.
INSERT INTO reprise_labels (name, value, run_id)
SELECT j.key, j.value, r.id
FROM reprise_runs r, json_each(CASE WHEN json_valid(r.labels) THEN r.labels ELSE '{}' END) j
WHERE r.labels IS NOT NULL AND j.type = 'text';

CREATE TRIGGER reprise_labels_start AFTER INSERT ON reprise_runs WHEN NEW.labels IS NOT NULL BEGIN
    INSERT OR IGNORE INTO reprise_labels (name, value, run_id)
    SELECT j.key, j.value, NEW.id FROM json_each(CASE WHEN json_valid(NEW.labels) THEN NEW.labels ELSE '{}' END) j WHERE j.type = 'text';
END;

CREATE TRIGGER reprise_labels_change AFTER UPDATE OF labels ON reprise_runs WHEN NEW.labels IS NOT OLD.labels BEGIN
    DELETE FROM reprise_labels WHERE (name, value, run_id) IN (
        SELECT j.key, j.value, OLD.id FROM json_each(CASE WHEN json_valid(OLD.labels) THEN OLD.labels ELSE '{}' END) j);
    INSERT OR IGNORE INTO reprise_labels (name, value, run_id)
    SELECT j.key, j.value, NEW.id FROM json_each(CASE WHEN json_valid(NEW.labels) THEN NEW.labels ELSE '{}' END) j WHERE j.type = 'text';
END;

CREATE TRIGGER reprise_labels_end AFTER DELETE ON reprise_runs WHEN OLD.labels IS NOT NULL BEGIN
    DELETE FROM reprise_labels WHERE (name, value, run_id) IN (
        SELECT j.key, j.value, OLD.id FROM json_each(CASE WHEN json_valid(OLD.labels) THEN OLD.labels ELSE '{}' END) j);
END;

CREATE INDEX reprise_runs_no_key_idx ON reprise_runs (key, id) WHERE key IS NULL;
