-- additive
-- Addresses of pages that people have saved.

CREATE TABLE reprise_views (
    name    TEXT    NOT NULL PRIMARY KEY,
    address TEXT    NOT NULL,                      -- a path and a query below the pages
    at      INTEGER NOT NULL,
    actor   TEXT    NOT NULL
) STRICT, WITHOUT ROWID;
