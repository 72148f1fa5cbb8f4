package main

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	_ "github.com/dbos-inc/dbos-transact-golang/dbos/driver/sqlite" // without it dbos refuses a SQLite handle
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// transact is DBOS Transact. It checkpoints each step in Postgres, or in SQLite, and runs workflows in the process that starts them;
// queued ones are polled for. It has no leases: runs of a dead process wait for one with the same executor id, or for
// the control plane, which is a separate service.
type transact struct{}

type transactSystem struct {
	pool *pgxpool.Pool // nil on SQLite
	app  dbos.Context
}

const (
	transactName        = "chain"
	transactQueue       = "backlog"
	transactPool        = 16
	transactFiles       = 2 // connections to a SQLite file
	transactPoll        = 5 * time.Millisecond
	transactConcurrency = 500
	transactVersion     = "bench" // the same in all processes, as with one build
)

func (transact) Name() string       { return "DBOS" }
func (transact) Module() string     { return "github.com/dbos-inc/dbos-transact-golang" }
func (transact) Does(Workload) bool { return true }

// InFlight, found by trying 32, 64, 256 and 1,000 with 3 steps, and all but the first with 1 and 10; on SQLite 16, 64 and
// 256 with 1, 2, 4 and 8 connections.
func (transact) InFlight(s Setup, steps int) int {
	if s.store() == storeSQLite {
		return 16
	}
	if steps >= longSteps {
		return 256
	}
	return 1_000
}

func (transact) Queued(n int) int { return n }

func (transact) Settings(s Setup) string {
	if s.store() == storeSQLite {
		return fmt.Sprintf("SQLite with synchronous FULL (default NORMAL, which may lose what it has acknowledged), %d connections (default 8)", transactFiles)
	}
	text := fmt.Sprintf("pool of %d connections (default 20)", transactPool)
	switch s.Workload {
	case Backlog:
		text += fmt.Sprintf(", queue polled every %s (default 1 s), %d at once, no global limits (their dequeue is the slower one)",
			transactPoll, transactConcurrency)
	case Recover:
		text += ", no leases to set, second worker with its own executor id"
	}
	return text
}

func (transact) Open(ctx context.Context, s Setup) (System, error) {
	t := &transactSystem{}
	config := dbos.Config{AppName: "peers", Logger: logger, ApplicationVersion: transactVersion, ExecutorID: s.Node}
	var err error
	if path, ok := sqliteFile(s.DSN); ok {
		config.SQLiteSystemDB, err = transactFile(path)
	} else {
		t.pool, err = newPool(ctx, s.DSN, transactPool)
		config.SystemDBPool = t.pool
	}
	if err != nil {
		return nil, err
	}
	if t.app, err = dbos.NewContext(ctx, config); err != nil {
		return nil, err
	}
	dbos.RegisterWorkflow(t.app, transactRun, dbos.WithWorkflowName(transactName))
	return t, nil
}

// transactFile opens the file as the library would, except that every commit is on disk before it is acknowledged, as
// with the other engines.
func transactFile(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+path+
		"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=foreign_keys(on)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(transactFiles)
	db.SetMaxIdleConns(transactFiles)
	return db, nil
}

func transactRun(ctx dbos.Context, in Input) (int64, error) {
	v := in.N
	for i := range in.Steps {
		next, err := dbos.RunAsStep(ctx, func(context.Context) (int64, error) { return body.step(i, v), nil }, dbos.WithStepName("add"))
		if err != nil {
			return 0, err
		}
		v = next
	}
	return v, nil
}

func (t *transactSystem) Work(context.Context) error { return dbos.Launch(t.app) }

func (t *transactSystem) Run(_ context.Context, in Input) (int64, error) {
	h, err := dbos.RunWorkflow(t.app, transactRun, in)
	if err != nil {
		return 0, err
	}
	return h.GetResult()
}

func (t *transactSystem) Start(_ context.Context, in Input) error {
	_, err := dbos.RunWorkflow(t.app, transactRun, in)
	return err
}

// Queue enqueues in transactions of many runs.
func (t *transactSystem) Queue(ctx context.Context, ins []Input) error {
	if _, err := dbos.RegisterQueue(t.app, transactQueue,
		dbos.WithQueueBasePollingInterval(transactPoll), dbos.WithWorkerConcurrency(transactConcurrency)); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for part := range chunks(ins, 500) {
		g.Go(func() error {
			return pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
				for _, in := range part {
					if _, err := dbos.Enqueue[int64](t.app, transactQueue, transactName, in, dbos.WithEnqueueTransaction(tx)); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	return g.Wait()
}

func (transact) ClosedSQL() string {
	return `SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'`
}

func (transact) StoredSQL() string {
	return `SELECT i.inputs::bytea, o.output::bytea FROM dbos.workflow_status s
		JOIN dbos.workflow_input i USING (workflow_uuid) JOIN dbos.workflow_output o USING (workflow_uuid)
		WHERE s.status = 'SUCCESS'`
}

func (transact) Decode(in, out []byte) (n, result int64, err error) {
	var i Input
	if in, err = base64.StdEncoding.AppendDecode(nil, in); err != nil {
		return 0, 0, err
	}
	if out, err = base64.StdEncoding.AppendDecode(nil, out); err != nil {
		return 0, 0, err
	}
	if err := json.Unmarshal(in, &i); err != nil {
		return 0, 0, err
	}
	result, err = strconv.ParseInt(string(out), 10, 64)
	return i.N, result, err
}
