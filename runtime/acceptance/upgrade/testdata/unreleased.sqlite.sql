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
, parent_run BLOB, parent_generation INTEGER, parent_cmd INTEGER, parent_policy INTEGER, inbox_seen INTEGER, carried TEXT) STRICT, WITHOUT ROWID;
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
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (1, '0001_initial.sql', '8977f1c80f0627cb45283ef587a32389fc2ace31c21f5360b918d734e0e7db50', 1, 1795898324220466);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (2, '0002_views.sql', 'c3c01e809f0215d1c9372a66574d2880a11230f9dcb7d1d1b838b61cd04c43e1', 1, 1795898324221164);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (3, '0003_children.sql', 'bcf5c18800376bba9f6d8ea7dbd4cae2fe766b38687a45dbb0edc2565d3b036a', 1, 1795898324227859);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B50B75F49A2E4A8F0F81EF8B', 1795898324237069, NULL, 1795898324246953, 4, 1, 1, 3, 1, 1, 'upgrade.parcel', 'default', 'done', '{"world":"upgrade"}', X'7B22746F223A224F736C6F222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B518760C9F6D785869D4FCF1', 1795898324248429, NULL, 1795898324249695, 3, 1, 1, 3, 2, 1, 'upgrade.parcel', 'default', 'failed', '{"world":"upgrade"}', X'7B22746F223A224265726E222C226162726F6164223A66616C73652C2264616D61676564223A747275652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B51B7411AD55DEA21113E795', 1795898324251293, NULL, 1795898324280075, 4, 1, 1, 3, 3, 1, 'upgrade.parcel', 'default', 'cancelled', '{"world":"upgrade"}', X'7B22746F223A22526F6D65222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B5397BCDB762CF59B2E40D57', 1795898324281926, NULL, 1795898324306691, 3, 1, 1, 3, 4, 1, 'upgrade.parcel', 'default', 'terminated', '{"world":"upgrade"}', X'7B22746F223A22547572696E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B553744AB9D88C10296DC078', 1795898324307340, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'waiting', '{"world":"upgrade"}', X'7B22746F223A225061726973222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B569758B803C07BADA3517D1', 1795898324329403, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'redirected', '{"world":"upgrade"}', X'7B22746F223A224C796F6E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B5AB7EED8030E851D353106B', 1795898324396016, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'abroad', '{"world":"upgrade"}', X'7B22746F223A22517569746F222C226162726F6164223A747275652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B5AC7361BA527D288952CE4D', 1795898324397062, NULL, NULL, NULL, 1, 1, 3, 0, 0, 'upgrade.customs', 'default', NULL, NULL, X'22517569746F22', NULL, NULL, X'01A223E1B5AB7EED8030E851D353106B', 1, 2, 0, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B5C17BDEB801E1DAA8D80AEB', 1795898324418003, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'lost', '{"world":"upgrade"}', X'7B22746F223A224661726F222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A747275652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B5D97EACB0C273E1F22247AB', 1795898324442019, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'odd', '{"world":"upgrade"}', X'7B22746F223A224772617A222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A747275657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', 1795898324469298, NULL, NULL, NULL, 2, 1, 3, 0, 1, 'upgrade.rounds', 'default', 'rounds', NULL, X'31', NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223E1B60D7D84A7FA5D1A01860D16', 1795898324493920, 3372698324493920, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'later', NULL, X'7B22746F223A225769656E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B553744AB9D88C10296DC078', 3372698324308219, 1048576, 1, -4066686673871317825, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'signal scanned
timer 2076-11-15T20:38:44.308219Z scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B569758B803C07BADA3517D1', 3372698324330985, 2135305, 2, -6124861425646675894, 1, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'signal scanned
timer 2076-11-15T20:38:44.330985Z scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B5AB7EED8030E851D353106B', NULL, 1048576, 1, 2847099672501813241, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'child upgrade.customs', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B5AC7361BA527D288952CE4D', NULL, 1048576, 1, -7090939241428456794, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.customs', NULL, 'signal cleared', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B5C17BDEB801E1DAA8D80AEB', 3502570232324677, 1048576, 1, -7834362337522844362, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', X'5B7B22636D64223A312C226E616D65223A226C6162656C222C226D616465223A312C226E657874223A22323038302D31322D32385430303A31303A33322E33323436373734345A222C226661696C757265223A7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A226E6F7420666F756E64227D7D5D', 'step label', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B5D97EACB0C273E1F22247AB', 1795898325444595, 1048576, 1, -5285349475852753361, 1, 0, 1, 1, 0, 3, 1, 0, 'default', 'upgrade.parcel', NULL, NULL, 'workflow code panicked: an odd parcel at upgrade_test.register.func1 (world_test.go:67)');
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', NULL, 2639423, 3, -2559967305118323442, 1, 0, 2, 1, 0, 3, 0, 0, 'default', 'upgrade.rounds', NULL, 'signal scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223E1B60D7D84A7FA5D1A01860D16', 3372698324493920, 0, 0, 0, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B50B75F49A2E4A8F0F81EF8B', 1, 1, 1795898324237069, 4676784249134943526, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B50B75F49A2E4A8F0F81EF8B', 1, 2, 1795898324245172, -6453915115041291375, 1, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B50B75F49A2E4A8F0F81EF8B', 1, 3, 1795898324246804, -2686497481994966203, NULL, 1, 1, 2, 'label', NULL, NULL, X'226C6162656C206F66204F736C6F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B50B75F49A2E4A8F0F81EF8B', 1, 4, 1795898324246804, 2585426558202974513, NULL, NULL, NULL, 20, NULL, NULL, NULL, X'226C6162656C206F66204F736C6F2C207363616E6E656420696E204D616C6DC3B62C20666F72204F736C6F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B518760C9F6D785869D4FCF1', 1, 1, 1795898324248429, 5566905957225220178, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B518760C9F6D785869D4FCF1', 1, 2, 1795898324249549, -8955533259721990654, NULL, 1, 1, 3, 'label', 'failure', NULL, X'7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A227468652070617263656C2069732064616D61676564222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B518760C9F6D785869D4FCF1', 1, 3, 1795898324249549, -9107160915961256960, NULL, NULL, NULL, 21, NULL, 'failure', NULL, X'7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A227468652070617263656C2069732064616D61676564222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B51B7411AD55DEA21113E795', 1, 1, 1795898324251293, 143241298458552767, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B51B7411AD55DEA21113E795', 1, 2, 1795898324252504, -46163210403667659, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:38:44.252504Z scanned', X'226C6162656C206F6620526F6D6522');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B51B7411AD55DEA21113E795', 1, 3, 1795898324279864, -2548515767967674223, 1, NULL, NULL, 6, NULL, NULL, 'cancel 2', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B51B7411AD55DEA21113E795', 1, 4, 1795898324279864, -7846547981785299949, NULL, NULL, NULL, 22, NULL, 'failure', NULL, X'7B2274797065223A222A666D742E777261704572726F72222C226D657373616765223A226E65766572207363616E6E65643A2063616E63656C6C65643A206E6F742077616E746564222C226361757365223A7B2274797065223A22726570726973652E43616E63656C6C6564222C226D657373616765223A2263616E63656C6C65643A206E6F742077616E746564227D7D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5397BCDB762CF59B2E40D57', 1, 1, 1795898324281926, -9071531769540615078, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5397BCDB762CF59B2E40D57', 1, 2, 1795898324286402, -9179772179845553504, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:38:44.286402Z scanned', X'226C6162656C206F6620547572696E22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5397BCDB762CF59B2E40D57', 1, 3, 1795898324306691, 0, NULL, NULL, NULL, 23, NULL, 'failure', NULL, X'7B2274797065223A22726570726973652E5465726D696E61746564222C226D657373616765223A226E6F207375636820737472656574222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B553744AB9D88C10296DC078', 1, 1, 1795898324307340, -41987570506640405, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B553744AB9D88C10296DC078', 1, 2, 1795898324308219, -4066686673871317825, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:38:44.308219Z scanned', X'226C6162656C206F6620506172697322');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B569758B803C07BADA3517D1', 1, 1, 1795898324329403, -8773914911475330145, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B569758B803C07BADA3517D1', 1, 2, 1795898324330985, 6446372802188758300, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:38:44.330985Z scanned', X'226C6162656C206F66204C796F6E22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B569758B803C07BADA3517D1', 1, 3, 1795898324393554, -6124861425646675894, 1, NULL, NULL, 11, 'redirect', NULL, 'reply 	1', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5AB7EED8030E851D353106B', 1, 1, 1795898324396016, -4265253590541560660, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5AB7EED8030E851D353106B', 1, 2, 1795898324396924, 2847099672501813241, NULL, 1, 1, 2, 'label', NULL, 'child upgrade.customs', X'226C6162656C206F6620517569746F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5AC7361BA527D288952CE4D', 1, 1, 1795898324397062, -7090939241428456794, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5C17BDEB801E1DAA8D80AEB', 1, 1, 1795898324418003, -7834362337522844362, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', 1, 1, 1795898324469298, -8063491560416816001, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', 1, 2, 1795898324474063, 950301195173867353, 1, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', 1, 3, 1795898324474063, -8482467510053591850, NULL, NULL, NULL, 13, NULL, NULL, NULL, X'32');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', 2, 1, 1795898324479458, -2559967305118323442, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223E1B50B75F49A2E4A8F0F81EF8B', 1, 1795898324240193, 3157366677308821268, 1, 'scanned', '01a223e1-b510-725b-b826-a2b9afb95e11', NULL, X'224D616C6DC3B622', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223E1B51B7411AD55DEA21113E795', 1, 1795898324275880, 3770984408679288376, 2, NULL, '~cancel', 'failure', X'7B2274797065223A22726570726973652E43616E63656C6C6564222C226D657373616765223A226E6F742077616E746564222C227065726D616E656E74223A747275657D', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223E1B569758B803C07BADA3517D1', 1, 1795898324352834, -5343049962008024825, 3, 'redirect', '~update/first', NULL, X'224E69636522', NULL, NULL, 1, X'224C796F6E22', NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223E1B5D97EACB0C273E1F22247AB', 1, 1795898324465423, -8618815699230998112, 1, 'scanned', '01a223e1-b5f1-75a0-aefb-937f6679c76c', NULL, X'224C696E7A22', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223E1B5F57332B9E0A90DC5862E7B', 1, 1795898324471315, -1413293439465853873, 1, 'scanned', '01a223e1-b5f7-700a-8011-7cf06dfc821d', NULL, X'22666972737422', NULL, NULL, NULL, NULL, NULL);
CREATE UNIQUE INDEX reprise_runs_key_idx      ON reprise_runs (key) WHERE holds_key = 1;
CREATE INDEX reprise_runs_old_key_idx  ON reprise_runs (key) WHERE holds_key = 0 AND key IS NOT NULL;
CREATE INDEX reprise_runs_workflow_idx ON reprise_runs (workflow, id);
CREATE INDEX reprise_tasks_claim_idx ON reprise_tasks (queue, workflow, version, priority, visible_at)
    WHERE owner = 0 AND state <> 2 AND visible_at IS NOT NULL;
CREATE INDEX reprise_tasks_owner_idx ON reprise_tasks (owner, visible_at) WHERE owner > 0;
CREATE INDEX reprise_tasks_stuck_idx ON reprise_tasks (state, run_id) WHERE state > 0;
CREATE INDEX reprise_events_failed_idx ON reprise_events (kind, run_id) WHERE kind > 20;
CREATE UNIQUE INDEX reprise_inbox_key_idx ON reprise_inbox (run_id, key);
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
CREATE INDEX reprise_runs_parent_idx        ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL;
CREATE INDEX reprise_runs_open_children_idx ON reprise_runs (parent_run, id) WHERE parent_run IS NOT NULL AND status = 0;
CREATE INDEX reprise_events_inbox_idx ON reprise_events (run_id, generation, inbox) WHERE inbox IS NOT NULL;
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
       r.carried
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq;
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
