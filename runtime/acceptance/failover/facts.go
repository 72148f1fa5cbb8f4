package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// facts is all that the audit looks at: what the processes have written down, and what the database
// says when everything is over.
type facts struct {
	entries    []entry
	runs       map[string]history  // by key
	inboxes    map[string][]string // keys of messages, by run
	effects    []effect
	stuck      []string // what the queue says about some runs that are still open
	violations []string // of the project's own checker
	// cut is the time before which everything that was acknowledged must be in the database: the
	// copy that the database goes on from was made no earlier. It is zero if nothing may be lost.
	cut time.Time
}

// history is a run and all of its events.
type history struct {
	run    journal.Run
	events []journal.Event
}

// effect is a row that a transactional step has written.
type effect struct {
	Key   string
	Step  int
	Value string
}

// collect reads the diaries and the database. All clients have ended by then. The nodes may still
// live: what they hold back is what must show.
func collect(ctx context.Context, dir, dsn string, cut time.Time) (*facts, error) {
	f := &facts{runs: map[string]history{}, inboxes: map[string][]string{}, cut: cut}
	var err error
	if f.entries, err = readDiaries(dir); err != nil {
		return nil, err
	}
	store, err := postgres.Open(ctx, dsn, &postgres.Options{SkipMigrations: true})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if err := f.readRuns(ctx, driver.New(store, nil)); err != nil {
		return nil, err
	}
	if err := f.readTables(ctx, dsn); err != nil {
		return nil, err
	}
	f.violations = violations(dsn)
	return f, nil
}

// readRuns reads the runs with their histories as the engine would.
func (f *facts) readRuns(ctx context.Context, j *driver.Journal) error {
	filter := journal.ListFilter{Limit: journal.ListMax}
	for {
		page, err := j.List(ctx, filter)
		if err != nil {
			return err
		}
		requests := make([]driver.LoadRequest, len(page.Runs))
		for i, run := range page.Runs {
			requests[i].Run = run.ID
		}
		loaded, err := j.Load(ctx, requests)
		if err != nil {
			return err
		}
		for i, h := range loaded {
			run := page.Runs[i]
			if h.Err != nil {
				return fmt.Errorf("load run %s: %w", run.ID, h.Err)
			}
			f.runs[run.Key] = history{run, h.Events}
		}
		if filter.Cursor = page.Next; page.Next == "" {
			return nil
		}
	}
}

const (
	inboxKeysSQL = `select run_id::text, key from reprise.inbox order by run_id, number`
	effectsOfSQL = `select key, step, value from effects`
	stuckSQL     = `
select format('run %s (%s) is %s, owner %s (%s), visible at %s, since %s, %s %s', t.run_id, t.key, t.state, coalesce(t.owner, 0),
	coalesce(t.node, 'no such node'), t.visible_at, (select max(e.at) from reprise.events e where e.run_id = t.run_id),
	t.waiting, t.problem)
from reprise.v_tasks t order by t.run_id limit 3`
)

// readTables reads what the engine's own functions do not show.
func (f *facts) readTables(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var run, key string
	rows, _ := conn.Query(ctx, inboxKeysSQL) // ForEachRow reports the error
	_, err = pgx.ForEachRow(rows, []any{&run, &key}, func() error {
		f.inboxes[run] = append(f.inboxes[run], key)
		return nil
	})
	if err != nil {
		return err
	}
	rows, _ = conn.Query(ctx, effectsOfSQL)
	if f.effects, err = pgx.CollectRows(rows, pgx.RowToStructByPos[effect]); err != nil {
		return err
	}
	rows, _ = conn.Query(ctx, stuckSQL)
	f.stuck, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return err
}

// reporter takes what the checker of the journal's tests reports.
type reporter struct {
	testing.TB
	found []string
}

func (r *reporter) Helper() {}

func (r *reporter) Errorf(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

// violations asks the checker that all tests of the journal use.
func violations(dsn string) []string {
	var r reporter
	pgtest.Check(&r, dsn, pgtest.Schema)
	return r.found
}
