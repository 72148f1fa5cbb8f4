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
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (1, '0001_initial.sql', '8977f1c80f0627cb45283ef587a32389fc2ace31c21f5360b918d734e0e7db50', 1, 1795898967186291);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (2, '0002_views.sql', 'c3c01e809f0215d1c9372a66574d2880a11230f9dcb7d1d1b838b61cd04c43e1', 1, 1795898967186936);
INSERT INTO reprise_schema_migrations (version, name, checksum, additive, applied_at) VALUES (3, '0003_children.sql', 'bcf5c18800376bba9f6d8ea7dbd4cae2fe766b38687a45dbb0edc2565d3b036a', 1, 1795898967190688);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB849D721B8ACFA2D45C8B360C', 1795898967197222, NULL, 1795898967209347, 4, 1, 1, 3, 1, 1, 'upgrade.parcel', 'default', 'done', '{"world":"upgrade"}', X'7B22746F223A224F736C6F222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB84AA7259A5E2A8CCA4374086', 1795898967210269, NULL, 1795898967210880, 3, 1, 1, 3, 2, 1, 'upgrade.parcel', 'default', 'failed', '{"world":"upgrade"}', X'7B22746F223A224265726E222C226162726F6164223A66616C73652C2264616D61676564223A747275652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB84AB742D86B8A3E54CC454A0', 1795898967211331, NULL, 1795898967234011, 4, 1, 1, 3, 3, 1, 'upgrade.parcel', 'default', 'cancelled', '{"world":"upgrade"}', X'7B22746F223A22526F6D65222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB84C27AFD8FC4B601CEEAB195', 1795898967234781, NULL, 1795898967255940, 3, 1, 1, 3, 4, 1, 'upgrade.parcel', 'default', 'terminated', '{"world":"upgrade"}', X'7B22746F223A22547572696E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB84D878B6937D59940EA35EA5', 1795898967256634, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'waiting', '{"world":"upgrade"}', X'7B22746F223A225061726973222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB84ED763897A74B4FCB25004C', 1795898967277432, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'redirected', '{"world":"upgrade"}', X'7B22746F223A224C796F6E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB85067C49933FF6D8C0D90073', 1795898967302841, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'abroad', '{"world":"upgrade"}', X'7B22746F223A22517569746F222C226162726F6164223A747275652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB85077E0384E1A9B32499D87E', 1795898967303451, NULL, NULL, NULL, 1, 1, 3, 0, 0, 'upgrade.customs', 'default', NULL, NULL, X'22517569746F22', NULL, NULL, X'01A223EB85067C49933FF6D8C0D90073', 1, 2, 0, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB851C7277B562708CCADA4AF5', 1795898967324187, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'lost', '{"world":"upgrade"}', X'7B22746F223A224661726F222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A747275652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB85317B2A8339FF7A40A275F4', 1795898967345798, NULL, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'odd', '{"world":"upgrade"}', X'7B22746F223A224772617A222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A747275657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', 1795898967367837, NULL, NULL, NULL, 2, 1, 3, 0, 1, 'upgrade.rounds', 'default', 'rounds', NULL, X'31', NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL);
INSERT INTO reprise_runs (id, created_at, start_at, closed_at, closed_seq, generation, version, priority, status, holds_key, workflow, queue, key, labels, input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried) VALUES (X'01A223EB855D73A6978347F19CF2710A', 1795898967389278, 3372698967389278, NULL, NULL, 1, 1, 3, 0, 1, 'upgrade.parcel', 'default', 'later', NULL, X'7B22746F223A225769656E222C226162726F6164223A66616C73652C2264616D61676564223A66616C73652C226C6F7374223A66616C73652C226F6464223A66616C73657D', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB84D878B6937D59940EA35EA5', 3372698967257184, 1048576, 1, -5943813277195236902, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'signal scanned
timer 2076-11-15T20:49:27.257184Z scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB84ED763897A74B4FCB25004C', 3372698967279434, 2917942, 2, 6416872869196659245, 1, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'signal scanned
timer 2076-11-15T20:49:27.279434Z scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB85067C49933FF6D8C0D90073', NULL, 1048576, 1, -3881100856614086788, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, 'child upgrade.customs', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB85077E0384E1A9B32499D87E', NULL, 1048576, 1, 2349153630566177092, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.customs', NULL, 'signal cleared', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB851C7277B562708CCADA4AF5', 3443552779793101, 1048576, 1, -8773961148574762766, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', X'5B7B22636D64223A312C226E616D65223A226C6162656C222C226D616465223A312C226E657874223A22323037392D30322D31335432323A32363A31392E3739333130313130345A222C226661696C757265223A7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A226E6F7420666F756E64227D7D5D', 'step label', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB85317B2A8339FF7A40A275F4', 1795898968346593, 1048576, 1, 4959373930718069879, 1, 0, 1, 1, 0, 3, 1, 0, 'default', 'upgrade.parcel', NULL, NULL, 'workflow code panicked: an odd parcel at upgrade_test.register.func1 (world_test.go:67)');
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', NULL, 2594357, 3, -1343280441739371188, 1, 0, 2, 1, 0, 3, 0, 0, 'default', 'upgrade.rounds', NULL, 'signal scanned', NULL);
INSERT INTO reprise_tasks (run_id, visible_at, fence, turn, link, inbox_last, owner, generation, version, strikes, priority, state, unproven, queue, workflow, attempts, waiting, problem) VALUES (X'01A223EB855D73A6978347F19CF2710A', 3372698967389278, 0, 0, 0, 0, 0, 1, 1, 0, 3, 0, 0, 'default', 'upgrade.parcel', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB849D721B8ACFA2D45C8B360C', 1, 1, 1795898967197222, -3419716330904835765, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB849D721B8ACFA2D45C8B360C', 1, 2, 1795898967208239, -4991718201514384749, 1, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB849D721B8ACFA2D45C8B360C', 1, 3, 1795898967209103, 5130689953578252491, NULL, 1, 1, 2, 'label', NULL, NULL, X'226C6162656C206F66204F736C6F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB849D721B8ACFA2D45C8B360C', 1, 4, 1795898967209103, -420769843371610674, NULL, NULL, NULL, 20, NULL, NULL, NULL, X'226C6162656C206F66204F736C6F2C207363616E6E656420696E204D616C6DC3B62C20666F72204F736C6F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AA7259A5E2A8CCA4374086', 1, 1, 1795898967210269, 6865476254046686568, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AA7259A5E2A8CCA4374086', 1, 2, 1795898967210648, 628288605569053966, NULL, 1, 1, 3, 'label', 'failure', NULL, X'7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A227468652070617263656C2069732064616D61676564222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AA7259A5E2A8CCA4374086', 1, 3, 1795898967210648, -4515480488063274046, NULL, NULL, NULL, 21, NULL, 'failure', NULL, X'7B2274797065223A222A6572726F72732E6572726F72537472696E67222C226D657373616765223A227468652070617263656C2069732064616D61676564222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AB742D86B8A3E54CC454A0', 1, 1, 1795898967211331, -3603886311426434306, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AB742D86B8A3E54CC454A0', 1, 2, 1795898967211782, 7788437246457894272, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:49:27.211782Z scanned', X'226C6162656C206F6620526F6D6522');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AB742D86B8A3E54CC454A0', 1, 3, 1795898967233679, -825930174383582050, 1, NULL, NULL, 6, NULL, NULL, 'cancel 2', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84AB742D86B8A3E54CC454A0', 1, 4, 1795898967233679, -4794970188668033357, NULL, NULL, NULL, 22, NULL, 'failure', NULL, X'7B2274797065223A222A666D742E777261704572726F72222C226D657373616765223A226E65766572207363616E6E65643A2063616E63656C6C65643A206E6F742077616E746564222C226361757365223A7B2274797065223A22726570726973652E43616E63656C6C6564222C226D657373616765223A2263616E63656C6C65643A206E6F742077616E746564227D7D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84C27AFD8FC4B601CEEAB195', 1, 1, 1795898967234781, 6714994590020408258, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84C27AFD8FC4B601CEEAB195', 1, 2, 1795898967235304, -4850446327624087045, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:49:27.235304Z scanned', X'226C6162656C206F6620547572696E22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84C27AFD8FC4B601CEEAB195', 1, 3, 1795898967255940, 0, NULL, NULL, NULL, 23, NULL, 'failure', NULL, X'7B2274797065223A22726570726973652E5465726D696E61746564222C226D657373616765223A226E6F207375636820737472656574222C227065726D616E656E74223A747275657D');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84D878B6937D59940EA35EA5', 1, 1, 1795898967256634, 6986209425188875534, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84D878B6937D59940EA35EA5', 1, 2, 1795898967257184, -5943813277195236902, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:49:27.257184Z scanned', X'226C6162656C206F6620506172697322');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84ED763897A74B4FCB25004C', 1, 1, 1795898967277432, 7495161655359124153, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84ED763897A74B4FCB25004C', 1, 2, 1795898967279434, -5415172135779463193, NULL, 1, 1, 2, 'label', NULL, 'timer 2076-11-15T20:49:27.279434Z scanned', X'226C6162656C206F66204C796F6E22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB84ED763897A74B4FCB25004C', 1, 3, 1795898967301904, 6416872869196659245, 1, NULL, NULL, 11, 'redirect', NULL, 'reply 	1', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85067C49933FF6D8C0D90073', 1, 1, 1795898967302841, 4769077249563395141, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85067C49933FF6D8C0D90073', 1, 2, 1795898967303306, -3881100856614086788, NULL, 1, 1, 2, 'label', NULL, 'child upgrade.customs', X'226C6162656C206F6620517569746F22');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85077E0384E1A9B32499D87E', 1, 1, 1795898967303451, 2349153630566177092, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB851C7277B562708CCADA4AF5', 1, 1, 1795898967324187, -8773961148574762766, NULL, NULL, NULL, 1, NULL, NULL, 'step label', NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', 1, 1, 1795898967367837, 7532942892334972399, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', 1, 2, 1795898967369501, 569461264648425400, 1, NULL, NULL, 5, 'scanned', NULL, NULL, NULL);
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', 1, 3, 1795898967369501, -5095639232683305406, NULL, NULL, NULL, 13, NULL, NULL, NULL, X'32');
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', 2, 1, 1795898967370188, -1343280441739371188, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223EB849D721B8ACFA2D45C8B360C', 1, 1795898967198185, 2310353623081657439, 1, 'scanned', '01a223eb-849e-7280-bed7-0b0e7395c797', NULL, X'224D616C6DC3B622', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223EB84AB742D86B8A3E54CC454A0', 1, 1795898967232046, 3770984408679288376, 2, NULL, '~cancel', 'failure', X'7B2274797065223A22726570726973652E43616E63656C6C6564222C226D657373616765223A226E6F742077616E746564222C227065726D616E656E74223A747275657D', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223EB84ED763897A74B4FCB25004C', 1, 1795898967300316, -5343049962008024825, 3, 'redirect', '~update/first', NULL, X'224E69636522', NULL, NULL, 1, X'224C796F6E22', NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223EB85317B2A8339FF7A40A275F4', 1, 1795898967367373, 4151909511137062304, 1, 'scanned', '01a223eb-8547-7561-b229-8339a5096c1b', NULL, X'224C696E7A22', NULL, NULL, NULL, NULL, NULL);
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation, answered, answer, answer_encoding) VALUES (X'01A223EB85477BE3B2CEFF8B2F608347', 1, 1795898967368445, -7201981454914620905, 1, 'scanned', '01a223eb-8548-7466-8b08-65d619c758de', NULL, X'22666972737422', NULL, NULL, NULL, NULL, NULL);
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
