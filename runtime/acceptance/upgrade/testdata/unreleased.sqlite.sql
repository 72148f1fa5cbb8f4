PRAGMA application_id = 1383101043;
PRAGMA user_version = 0;
CREATE TABLE reprise_schema_migrations (
    version    INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL,
    checksum   TEXT    NOT NULL,
    additive   INTEGER NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;
CREATE TABLE reprise_runs (
    id             BLOB    NOT NULL PRIMARY KEY,   -- UUIDv7: the primary key is also the listing order
    created_at     INTEGER NOT NULL,
    start_at       INTEGER,                        -- null: created_at
    closed_at      INTEGER,
    closed_seq     INTEGER,                        -- of the terminal event (J7)
    generation     INTEGER NOT NULL DEFAULT 1,
    version        INTEGER NOT NULL,
    priority       INTEGER NOT NULL,
    status         INTEGER NOT NULL DEFAULT 0,
    holds_key      INTEGER NOT NULL,               -- whether the key leads to this run (J8)
    workflow       TEXT    NOT NULL,
    queue          TEXT    NOT NULL,
    key            TEXT,
    labels         TEXT,                           -- a JSON object
    input          BLOB,                           -- null: no bytes
    input_encoding TEXT,                           -- null: JSON
    trace          TEXT
, parent_run BLOB, parent_generation INTEGER, parent_cmd INTEGER, parent_policy INTEGER, inbox_seen INTEGER, carried TEXT, published TEXT, headers TEXT, timeout INTEGER, on_failure TEXT, start_labels TEXT) STRICT, WITHOUT ROWID;
CREATE TABLE reprise_tasks (
    run_id     BLOB    NOT NULL PRIMARY KEY,
    visible_at INTEGER,                            -- null: not by time
    fence      INTEGER NOT NULL DEFAULT 0,         -- count of claims << 20 | chance
    turn       INTEGER NOT NULL DEFAULT 0,         -- commits that changed this row
    link       INTEGER NOT NULL DEFAULT 0,         -- of the newest event when the owner freed the task; 0 while owned
    inbox_last INTEGER NOT NULL DEFAULT 0,
    owner      INTEGER NOT NULL DEFAULT 0,         -- 0: free
    generation INTEGER NOT NULL DEFAULT 1,
    version    INTEGER NOT NULL,
    strikes    INTEGER NOT NULL DEFAULT 0,
    priority   INTEGER NOT NULL,
    state      INTEGER NOT NULL DEFAULT 0,
    unproven   INTEGER NOT NULL DEFAULT 0,         -- owned, and nothing was committed under this fence yet
    queue      TEXT    NOT NULL,
    workflow   TEXT    NOT NULL,
    attempts   BLOB,                               -- JSON list of journal.Attempt
    waiting    TEXT,                               -- one line each
    problem    TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE reprise_events (
    run_id     BLOB    NOT NULL,
    generation INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    link       INTEGER NOT NULL,                   -- chains the event to the one before; 0: not chained
    inbox      INTEGER,                            -- the message it consumes, whose payload it shows
    cmd        INTEGER,
    attempt    INTEGER,
    kind       INTEGER NOT NULL,
    name       TEXT,
    encoding   TEXT,                               -- null: JSON
    issued     TEXT,                               -- one line a command
    payload    BLOB,                               -- null: no bytes
    PRIMARY KEY (run_id, generation, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE reprise_inbox (
    run_id   BLOB    NOT NULL,
    number   INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    digest   INTEGER NOT NULL,                     -- of what was sent: a commit names it beside the number
    kind     INTEGER NOT NULL,
    name     TEXT,
    key      TEXT    NOT NULL,
    encoding TEXT,                                 -- null: JSON
    payload  BLOB, cmd INTEGER, generation INTEGER, answered INTEGER, answer BLOB, answer_encoding TEXT,                                 -- null: no bytes
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE reprise_nodes (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL,
    routes     TEXT    NOT NULL,                   -- a JSON list
    lease      INTEGER NOT NULL,                   -- in microseconds
    started_at INTEGER NOT NULL
) STRICT;
CREATE TABLE reprise_audit (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    at       INTEGER NOT NULL,
    run_id   BLOB    NOT NULL,
    actor    TEXT    NOT NULL,                     -- empty: the program did not say
    verb     TEXT    NOT NULL,                     -- pause, resume, terminate, delete
    workflow TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    detail   TEXT    NOT NULL
) STRICT;
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (1, '0001_initial.sql', 'e12922a7a1f53bbce2856984273a6f9d312ad890c057879aa22e3b0e22a466b2', 1, 1795956909715784);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (2, '0002_views.sql', 'c3c01e809f0215d1c9372a66574d2880a11230f9dcb7d1d1b838b61cd04c43e1', 1, 1795956909716715);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (3, '0003_children.sql', 'bcf5c18800376bba9f6d8ea7dbd4cae2fe766b38687a45dbb0edc2565d3b036a', 1, 1795956909802433);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (4, '0004_published.sql', 'bddede237f5bd418d76b31ca2526d702e0cef08042bea824a009d985bb8b35f0', 1, 1795956909803033);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (5, '0005_start_options.sql', '94c22c9362584b3d247c844b541c416bf6f07800a6e517402450911bc12ec064', 1, 1795956909804568);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (6, '0006_labels.sql', '22b90f7c385c1f632d8b6f1b32aece9687198e455b28c9e100fc655b0432e85a', 1, 1795956909805084);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (7, '0007_pause.sql', '69c66428cb1cfb50a83b369363386d904dfbc67b958f6e94ef53339a525cc2a2', 1, 1795956909805329);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA71E7631AA87DAABD8A22541', 1795956909872462, NULL, 1795956909922129, 4, 1, 1, 3, 1, 1, 'upgrade.parcel', 'default', 'done', '{"world":"upgrade"}', X'7B22746F223A224F736C6F222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA76579DEA5D2921C5FEDD1E6', 1795956909925743, NULL, 1795956909927069, 3, 1, 1, 3, 2, 1, 'upgrade.parcel', 'default', 'failed', '{"world":"upgrade"}', X'7B22746F223A224265726E222C226162726F6164223A66616C73652C2264616D61676564223A747275652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA767794BB0141B93DDB13A78', 1795956909927634, NULL, 1795956910027039, 4, 1, 1, 3, 3, 1, 'upgrade.parcel', 'default', 'cancelled', '{"world":"upgrade"}', X'7B22746F223A22526F6D65222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA7CC7F3A8CDB008CDE9594F1', 1795956910029042, NULL, 1795956910053032, 3, 1, 1, 3, 4, 1, 'upgrade.parcel', 'default', 'terminated', '{"world":"upgrade"}', X'7B22746F223A22547572696E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA7F27901B7FE44E2FB652FBE', 1795956910068428, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'waiting', '{"world":"upgrade"}', X'7B22746F223A225061726973222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA827746A97CDD4ADF71DF02F', 1795956910119772, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'redirected', '{"world":"upgrade"}', X'7B22746F223A224C796F6E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA86B70FDA637227A0ACD52E9', 1795956910187100, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'abroad', '{"world":"upgrade"}', X'7B22746F223A22517569746F222C226162726F6164223A747275652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA873703C95724C01E7235BD5', 1795956910195291, NULL, NULL, NULL, 1, 1, 3, 0, 0, 'upgrade.customs', 'default', NULL, NULL, X'22517569746F22', NULL, NULL, X'01A2275FA86B70FDA637227A0ACD52E9', 1, 2, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA8877CFB8205B39EE282166C', 1795956910216016, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'lost', '{"world":"upgrade"}', X'7B22746F223A224661726F222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A747275652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA8AE710DA09FB7981776F49A', 1795956910254248, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'odd', '{"world":"upgrade"}', X'7B22746F223A224772617A222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A747275657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA8D17F22868363D83AF48622', 1795956910290210, NULL, NULL, NULL, 2, 1, 3, 0, 1, 'upgrade.rounds', 'default', 'rounds', NULL, X'31', NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried, published, headers, timeout, on_failure, start_labels) VALUES (X'01A2275FA8FF7652A6657DEB68001E03', 1795956910335445, 3372756910335445, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'later', NULL, X'7B22746F223A225769656E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA7F27901B7FE44E2FB652FBE', 3372756910097308, 1048576, 1, 739164713923586519, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'signal scanned
timer 2076-11-16T12:55:10.097308Z scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA827746A97CDD4ADF71DF02F', 3372756910130853, 2290023, 2, 104522423095300679, 1, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'signal scanned
timer 2076-11-16T12:55:10.130853Z scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA86B70FDA637227A0ACD52E9', NULL, 1048576, 1, -4154683034017635237, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'child upgrade.customs', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA873703C95724C01E7235BD5', NULL, 1048576, 1, 3627743230648002668, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.customs', NULL, 'signal cleared', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA8877CFB8205B39EE282166C', 3320936333309786, 1048576, 1, -8678174342602764394, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', X'5B7B22636D64223A312C226E616D65223A226C6162656C222C226D616465223A312C226E657874223A22323037352D30332D32375431383A31383A35332E33303937383630345A222C226661696C757265223A7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A226E6F7420666F756E64227D7D5D', 'step label', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA8AE710DA09FB7981776F49A', 1795956911263532, 1048576, 1, 7092763026001760004, 1, 0, 1, 1, 0, 3, 1, 0, 'default', 'upgrade.parcel', NULL, NULL, 'workflow code panicked: an odd parcel at upgrade_test.register.func1 (world_test.go:67); repair the code and deploy it, the run goes on then');
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA8D17F22868363D83AF48622', NULL, 2342005, 3, 3861868227533605316, 1, 0, 2, 1, 0, 3, 0, 0, 'default', 'upgrade.rounds', NULL, 'signal scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A2275FA8FF7652A6657DEB68001E03', 3372756910335445, 0, 0, 0, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA71E7631AA87DAABD8A22541', 1, 1, 1795956909872462, -789051683968452536, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA71E7631AA87DAABD8A22541', 1, 2, 1795956909917390, 8606442329378393350, 1, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA71E7631AA87DAABD8A22541', 1, 3, 1795956909921664, 1430105826557224866, NULL, 1, 1, 2, 'label', NULL, NULL, X'226C6162656C206F66204F736C6F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA71E7631AA87DAABD8A22541', 1, 4, 1795956909921664, -6901390012480062169, NULL, NULL, NULL, 20, NULL, NULL, NULL, X'226C6162656C206F66204F736C6F2C207363616E6E656420696E204D616C6DC3B62C20666F72204F736C6F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA76579DEA5D2921C5FEDD1E6', 1, 1, 1795956909925743, -9166562964851158039, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA76579DEA5D2921C5FEDD1E6', 1, 2, 1795956909927020, 6144581344569350691, NULL, 1, 1, 3, 'label', 'failure', NULL, X'7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A227468652070617263656C2069732064616D61676564222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA76579DEA5D2921C5FEDD1E6', 1, 3, 1795956909927020, 3656199403303938102, NULL, NULL, NULL, 21, NULL, 'failure', NULL, X'7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A227468652070617263656C2069732064616D61676564222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA767794BB0141B93DDB13A78', 1, 1, 1795956909927634, -35855259655504783, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA767794BB0141B93DDB13A78', 1, 2, 1795956909929734, -8035404027682300097, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:09.929734Z scanned', X'226C6162656C206F6620526F6D6522');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA767794BB0141B93DDB13A78', 1, 3, 1795956910026567, 6992160872041589466, 1, NULL, NULL, 6, NULL, NULL, 'cancel 2', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA767794BB0141B93DDB13A78', 1, 4, 1795956910026567, 6843556713950238319, NULL, NULL, NULL, 22, NULL, 'failure', NULL, X'7B2274797065223A222A666D742E777261704572726F72222C226D657373616765223A226E65766572207363616E6E65643A2063616E63656C6C65643A206E6F742077616E746564222C226361757365223A7B2274797065223A22726570726973652E43616E63656C6C6564222C226D657373616765223A2263616E63656C6C65643A206E6F742077616E746564227D7D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA7CC7F3A8CDB008CDE9594F1', 1, 1, 1795956910029042, -1695800207454181854, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA7CC7F3A8CDB008CDE9594F1', 1, 2, 1795956910031138, 348592103937158439, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:10.031138Z scanned', X'226C6162656C206F6620547572696E22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA7CC7F3A8CDB008CDE9594F1', 1, 3, 1795956910053032, 0, NULL, NULL, NULL, 23, NULL, 'failure', NULL, X'7B2274797065223A22726570726973652E5465726D696E61746564222C226D657373616765223A226E6F207375636820737472656574222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA7F27901B7FE44E2FB652FBE', 1, 1, 1795956910068428, -517665300895515973, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA7F27901B7FE44E2FB652FBE', 1, 2, 1795956910097308, 739164713923586519, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:10.097308Z scanned', X'226C6162656C206F6620506172697322');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA827746A97CDD4ADF71DF02F', 1, 1, 1795956910119772, -1678017709152707280, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA827746A97CDD4ADF71DF02F', 1, 2, 1795956910130853, -3457467071839215678, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-16T12:55:10.130853Z scanned', X'226C6162656C206F66204C796F6E22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA827746A97CDD4ADF71DF02F', 1, 3, 1795956910174196, 104522423095300679, 1, NULL, NULL, 11, 'redirect', NULL, 'reply 	1', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA86B70FDA637227A0ACD52E9', 1, 1, 1795956910187100, 6642887381993668, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA86B70FDA637227A0ACD52E9', 1, 2, 1795956910195239, -4154683034017635237, NULL, 1, 1, 2, 'label', NULL, 'child upgrade.customs', X'226C6162656C206F6620517569746F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA873703C95724C01E7235BD5', 1, 1, 1795956910195291, 3627743230648002668, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA8877CFB8205B39EE282166C', 1, 1, 1795956910216016, -8678174342602764394, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA8D17F22868363D83AF48622', 1, 1, 1795956910290210, -3264130462777938162, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA8D17F22868363D83AF48622', 1, 2, 1795956910322376, -2922970653593407942, 1, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA8D17F22868363D83AF48622', 1, 3, 1795956910322376, 1169253302740070592, NULL, NULL, NULL, 13, NULL, NULL, NULL, X'32');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A2275FA8D17F22868363D83AF48622', 2, 1, 1795956910332455, 3861868227533605316, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A2275FA71E7631AA87DAABD8A22541', 1, 1795956909903380, 3461614776509880796, 1, 'scanned', '01a2275f-a74f-72a3-ad1a-667e318feed2', NULL, X'224D616C6DC3B622', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A2275FA767794BB0141B93DDB13A78', 1, 1795956909987090, 3770984408679288376, 2, NULL, '~cancel', 'failure', X'7B2274797065223A22726570726973652E43616E63656C6C6564222C226D657373616765223A226E6F742077616E746564222C227065726D616E656E74223A747275657D', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A2275FA827746A97CDD4ADF71DF02F', 1, 1795956910151460, -5343049962008024825, 3, 'redirect', '~update/first', NULL, X'224E69636522', NULL, NULL, 1, X'224C796F6E22', NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A2275FA8AE710DA09FB7981776F49A', 1, 1795956910283326, 652013194488116945, 1, 'scanned', '01a2275f-a8cb-7492-9312-afa8acf64ba8', NULL, X'224C696E7A22', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A2275FA8D17F22868363D83AF48622', 1, 1795956910300650, 4450455898686593921, 1, 'scanned', '01a2275f-a8db-7448-99fa-bd09131198c7', NULL, X'22666972737422', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_audit (number, at, run_id, actor, verb, workflow, reason, detail) VALUES (1, 1795956910053243, X'01A2275FA7CC7F3A8CDB008CDE9594F1', 'root@vm', 'terminate', 'upgrade.parcel', 'no such street', '');
CREATE UNIQUE INDEX reprise_runs_key_idx      ON reprise_runs (key) WHERE holds_key = 1;
CREATE INDEX reprise_runs_old_key_idx  ON reprise_runs (key) WHERE holds_key = 0 AND key IS NOT NULL;
CREATE INDEX reprise_runs_workflow_idx ON reprise_runs (workflow, id);
CREATE INDEX reprise_tasks_claim_idx ON reprise_tasks (queue, workflow, version, priority, visible_at)
    WHERE owner = 0 AND state < 2 AND visible_at IS NOT NULL;
CREATE INDEX reprise_tasks_owner_idx ON reprise_tasks (owner, visible_at) WHERE owner > 0;
CREATE INDEX reprise_tasks_stuck_idx ON reprise_tasks (state, run_id) WHERE state > 0;
CREATE INDEX reprise_events_failed_idx ON reprise_events (kind, run_id) WHERE kind > 20;
CREATE UNIQUE INDEX reprise_inbox_key_idx ON reprise_inbox (run_id, key);
CREATE INDEX reprise_runs_parent_idx        ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL;
CREATE INDEX reprise_runs_open_children_idx ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL AND status = 0;
CREATE INDEX reprise_events_inbox_idx ON reprise_events (run_id, generation, inbox) WHERE inbox IS NOT NULL;
CREATE VIEW reprise_v_events AS
SELECT lower(substr(hex(e.run_id), 1, 8) || '-' || substr(hex(e.run_id), 9, 4) || '-' || substr(hex(e.run_id), 13, 4) || '-' ||
             substr(hex(e.run_id), 17, 4) || '-' || substr(hex(e.run_id), 21)) AS run_id,
       e.generation,
       e.seq,
       strftime('%Y-%m-%d %H:%M:%f', e.at / 1e6, 'unixepoch') AS at,
       CASE e.kind WHEN 1 THEN 'RunStarted' WHEN 2 THEN 'StepCompleted' WHEN 3 THEN 'StepFailed' WHEN 4 THEN 'TimerFired'
            WHEN 5 THEN 'SignalReceived' WHEN 6 THEN 'CancelRequested' WHEN 7 THEN 'ChildCompleted' WHEN 8 THEN 'ChildFailed'
            WHEN 9 THEN 'SignalSent' WHEN 10 THEN 'SignalRefused' WHEN 11 THEN 'UpdateReceived' WHEN 12 THEN 'MessageDropped'
            WHEN 13 THEN 'RunContinued' WHEN 20 THEN 'RunCompleted' WHEN 21 THEN 'RunFailed' WHEN 22 THEN 'RunCancelled'
            WHEN 23 THEN 'RunTerminated' ELSE 'Kind(' || e.kind || ')' END AS kind,
       e.name,
       e.cmd,
       e.attempt,
       e.inbox,
       CASE WHEN coalesce(e.encoding, m.encoding, 'failure') = 'failure' AND json_valid(CAST(coalesce(e.payload, m.payload) AS TEXT))
            THEN CAST(coalesce(e.payload, m.payload) AS TEXT)
            ELSE iif(coalesce(e.payload, m.payload) IS NULL, NULL, json_quote(quote(coalesce(e.payload, m.payload)))) END AS payload,
       e.issued,
       coalesce(e.encoding, m.encoding) AS encoding,
       iif(e.link = 0, NULL, printf('%016x', e.link)) AS link
FROM reprise_events e
LEFT JOIN reprise_inbox m ON m.run_id = e.run_id AND m.number = e.inbox;
CREATE VIEW reprise_v_inbox AS
SELECT lower(substr(hex(m.run_id), 1, 8) || '-' || substr(hex(m.run_id), 9, 4) || '-' || substr(hex(m.run_id), 13, 4) || '-' ||
             substr(hex(m.run_id), 17, 4) || '-' || substr(hex(m.run_id), 21)) AS run_id,
       m.number,
       strftime('%Y-%m-%d %H:%M:%f', m.at / 1e6, 'unixepoch') AS at,
       CASE m.kind WHEN 1 THEN 'signal' WHEN 2 THEN 'cancel' WHEN 3 THEN 'update' WHEN 4 THEN 'child completed'
            WHEN 5 THEN 'child failed' WHEN 6 THEN 'sent' WHEN 7 THEN 'refused' ELSE 'kind(' || m.kind || ')' END AS kind,
       m.name,
       m.key,
       CASE WHEN coalesce(m.encoding, 'failure') = 'failure' AND json_valid(CAST(m.payload AS TEXT))
            THEN CAST(m.payload AS TEXT) ELSE iif(m.payload IS NULL, NULL, json_quote(quote(m.payload))) END AS payload,
       EXISTS (SELECT 1 FROM reprise_events e WHERE e.run_id = m.run_id AND e.inbox = m.number AND e.generation = r.generation)
           OR coalesce(m.answered = 2, 0)
           OR m.number <= coalesce(r.inbox_seen, 0) AND m.number NOT IN (SELECT value FROM json_each(coalesce(r.carried, '[]')))
           AS consumed,
       m.encoding,
       m.cmd,
       m.generation,
       CASE m.answered WHEN 1 THEN 'replied' WHEN 2 THEN 'rejected' END AS answered,
       CASE WHEN coalesce(m.answer_encoding, 'failure') = 'failure' AND json_valid(CAST(m.answer AS TEXT))
            THEN CAST(m.answer AS TEXT) ELSE iif(m.answer IS NULL, NULL, json_quote(quote(m.answer))) END AS answer,
       m.answer_encoding
FROM reprise_inbox m
LEFT JOIN reprise_runs r ON r.id = m.run_id;
CREATE VIEW reprise_v_runs AS
SELECT lower(substr(hex(r.id), 1, 8) || '-' || substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4) || '-' ||
             substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)) AS id,
       r.key,
       r.workflow,
       r.version,
       CASE r.status WHEN 0 THEN 'open' WHEN 1 THEN 'completed' WHEN 2 THEN 'failed' WHEN 3 THEN 'cancelled'
            WHEN 4 THEN 'terminated' ELSE 'status(' || r.status || ')' END AS status,
       r.queue,
       r.priority,
       r.labels,
       r.generation,
       strftime('%Y-%m-%d %H:%M:%f', r.created_at / 1e6, 'unixepoch') AS created_at,
       strftime('%Y-%m-%d %H:%M:%f', coalesce(r.start_at, r.created_at) / 1e6, 'unixepoch') AS start_at,
       strftime('%Y-%m-%d %H:%M:%f', r.closed_at / 1e6, 'unixepoch') AS closed_at,
       CASE WHEN coalesce(r.input_encoding, 'failure') = 'failure' AND json_valid(CAST(r.input AS TEXT))
            THEN CAST(r.input AS TEXT) ELSE iif(r.input IS NULL, NULL, json_quote(quote(r.input))) END AS input,
       CASE WHEN coalesce(e.encoding, 'failure') = 'failure' AND json_valid(CAST(e.payload AS TEXT))
            THEN CAST(e.payload AS TEXT) ELSE iif(e.payload IS NULL, NULL, json_quote(quote(e.payload))) END AS outcome,
       r.holds_key,
       r.input_encoding,
       r.trace,
       CASE WHEN r.parent_run IS NOT NULL THEN
             lower(substr(hex(r.parent_run), 1, 8) || '-' || substr(hex(r.parent_run), 9, 4) || '-' || substr(hex(r.parent_run), 13, 4) || '-' ||
             substr(hex(r.parent_run), 17, 4) || '-' || substr(hex(r.parent_run), 21)) END AS parent,
       r.parent_generation,
       r.parent_cmd,
       CASE r.parent_policy WHEN 0 THEN 'cancel' WHEN 1 THEN 'terminate' WHEN 2 THEN 'abandon'
            ELSE iif(r.parent_policy IS NULL, NULL, 'policy(' || r.parent_policy || ')') END AS parent_policy,
       r.inbox_seen,
       r.carried,
       strftime('%Y-%m-%d %H:%M:%f', (coalesce(r.start_at, r.created_at) + r.timeout) / 1e6, 'unixepoch') AS deadline,
       r.on_failure,
       r.headers
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;
CREATE INDEX reprise_audit_run_idx ON reprise_audit (run_id, number);
CREATE VIEW reprise_v_tasks AS
SELECT lower(substr(hex(t.run_id), 1, 8) || '-' || substr(hex(t.run_id), 9, 4) || '-' || substr(hex(t.run_id), 13, 4) || '-' ||
             substr(hex(t.run_id), 17, 4) || '-' || substr(hex(t.run_id), 21)) AS run_id,
       r.key,
       t.workflow,
       t.version,
       t.queue,
       t.priority,
       CASE WHEN t.state = 1 THEN 'blocked'
            WHEN t.state = 2 THEN 'quarantined'
            WHEN t.state = 3 THEN 'paused'
            WHEN t.state > 3 THEN 'pausing'
            WHEN t.owner > 0 THEN 'owned'
            WHEN t.visible_at IS NULL THEN 'waiting'
            WHEN t.visible_at > unixepoch() * 1000000 THEN 'scheduled'
            ELSE 'due' END AS state,
       strftime('%Y-%m-%d %H:%M:%f', t.visible_at / 1e6, 'unixepoch') AS visible_at,
       nullif(t.owner, 0) AS owner,
       n.name AS node,
       t.waiting,
       CAST(t.attempts AS TEXT) AS attempts,
       t.problem,
       t.strikes,
       t.generation,
       t.turn,
       t.fence,
       t.inbox_last
FROM reprise_tasks t
LEFT JOIN reprise_runs r ON r.id = t.run_id
LEFT JOIN reprise_nodes n ON n.id = t.owner;
