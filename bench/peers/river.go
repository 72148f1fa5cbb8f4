package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// plainRiver is River as what it is: a job queue. Its jobs journal no steps and no result; a job does the work of one
// step in memory.
type plainRiver struct{}

type riverSystem struct {
	client *river.Client[pgx.Tx]
}

const (
	riverPool     = 16
	riverWorkers  = 2000
	riverCooldown = 10 * time.Millisecond
	riverPoll     = 10 * time.Millisecond
)

var errQueueOnly = errors.New("a job queue has no results")

func (plainRiver) Name() string         { return "River" }
func (plainRiver) Module() string       { return "github.com/riverqueue/river" }
func (plainRiver) Does(w Workload) bool { return w == Backlog }
func (plainRiver) Queued(n int) int     { return n }

func (plainRiver) InFlight(Setup, int) int { return 0 } // it has no chain

func (plainRiver) Settings(Setup) string {
	return fmt.Sprintf("plain jobs without a journal, %d workers, pool of %d connections, fetch cooldown %s (default 100 ms), poll %s (default 1 s)",
		riverWorkers, riverPool, riverCooldown, riverPoll)
}

// Kind makes an Input the arguments of a job.
func (Input) Kind() string { return "chain" }

func (plainRiver) Open(ctx context.Context, s Setup) (System, error) {
	pool, err := newPool(ctx, s.DSN, riverPool)
	if err != nil {
		return nil, err
	}
	if err := riverMigrate(ctx, pool); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(riverWork))
	c, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		ID: s.Node, Logger: logger, Workers: workers,
		FetchCooldown: riverCooldown, FetchPollInterval: riverPoll,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: riverWorkers}},
	})
	return &riverSystem{client: c}, err
}

func riverMigrate(ctx context.Context, pool *pgxpool.Pool) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: logger})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func riverWork(_ context.Context, job *river.Job[Input]) error {
	v := job.Args.N
	for i := range job.Args.Steps {
		v = body.step(i, v)
	}
	return job.Args.check(v)
}

func (r *riverSystem) Work(ctx context.Context) error { return r.client.Start(ctx) }

func (r *riverSystem) Run(context.Context, Input) (int64, error) { return 0, errQueueOnly }

func (r *riverSystem) Start(ctx context.Context, in Input) error {
	_, err := r.client.Insert(ctx, in, nil)
	return err
}

func (r *riverSystem) Queue(ctx context.Context, ins []Input) error {
	for part := range chunks(ins, 5000) {
		params := make([]river.InsertManyParams, len(part))
		for i, in := range part {
			params[i].Args = in
		}
		if _, err := r.client.InsertManyFast(ctx, params); err != nil {
			return err
		}
	}
	return nil
}

func (plainRiver) ClosedSQL() string {
	return `SELECT count(*) FROM river_job WHERE state = 'completed'`
}

// StoredSQL has no output to show: that the job is completed says that its work was checked.
func (plainRiver) StoredSQL() string {
	return `SELECT args::text::bytea, ''::bytea FROM river_job WHERE state = 'completed'`
}

func (plainRiver) Decode(in, _ []byte) (n, result int64, err error) {
	var i Input
	err = json.Unmarshal(in, &i)
	return i.N, i.N + int64(i.Steps), err
}
