-- additive
-- Pauses of queues and workflows.

-- J11: no step of a run in the scope starts on a node that has heeded the pause.
CREATE SEQUENCE reprise.pauses_seq;
CREATE TABLE reprise.pauses (
    number     bigint      NOT NULL,               -- grows, and has chance in it, as fences do
    at         timestamptz NOT NULL,
    version    int         NOT NULL,               -- 0: all
    interrupts boolean     NOT NULL,               -- whether attempts that are executed are interrupted
    queue      text        NOT NULL,               -- empty: all
    workflow   text        NOT NULL,               -- empty: all
    actor      text        NOT NULL,
    reason     text        NOT NULL,
    PRIMARY KEY (queue, workflow, version)
);

-- The number of the newest pause that the node heeds.
ALTER TABLE reprise.members ADD COLUMN heeded bigint NOT NULL DEFAULT 0;

-- Whether an operator wants the node to leave.
ALTER TABLE reprise.members ADD COLUMN drain boolean NOT NULL DEFAULT false;
