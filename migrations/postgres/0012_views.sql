-- additive
-- Addresses of pages that people have saved.

CREATE TABLE reprise.views (
    at      timestamptz NOT NULL,
    name    text        NOT NULL PRIMARY KEY,
    address text        NOT NULL,                  -- a path and a query below the pages
    actor   text        NOT NULL
);
