-- additive
-- Pauses of queues and workflows.

-- J11: no step of a run in the scope starts on a node that has heeded the pause. AUTOINCREMENT gives no number twice.
CREATE TABLE reprise_pauses (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    queue      TEXT    NOT NULL,                   -- empty: all
    workflow   TEXT    NOT NULL,                   -- empty: all
    version    INTEGER NOT NULL,                   -- 0: all
    interrupts INTEGER NOT NULL,                   -- whether attempts that are executed are interrupted
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    reason     TEXT    NOT NULL,
    UNIQUE (queue, workflow, version)
) STRICT;
