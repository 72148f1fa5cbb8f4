-- additive
-- Each run without a key paid for an entry of this index, which helps only where few runs have none. Whoever looks for these makes it,
-- see docs/operating-postgres.md.

DROP INDEX reprise.runs_no_key_idx;
