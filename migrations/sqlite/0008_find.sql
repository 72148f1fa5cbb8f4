-- additive
-- Runs by the time of their start, and closed ones by the time of their close and by duration, in microseconds, for
-- listings with a condition: see package journal/filter.

CREATE INDEX reprise_runs_created_idx ON reprise_runs (created_at, id);
CREATE INDEX reprise_runs_closed_idx ON reprise_runs (closed_at, id) WHERE closed_at IS NOT NULL;
CREATE INDEX reprise_runs_duration_idx
    ON reprise_runs (max(closed_at - coalesce(start_at, created_at), 0), id) WHERE closed_at IS NOT NULL;
