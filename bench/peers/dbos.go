package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// transact is DBOS Transact. It checkpoints each step in Postgres and runs workflows in the process that starts them;
// queued ones are polled for. It has no leases: runs of a dead process wait for one with the same executor id, or for
// the control plane, which is a separate service.
type transact struct{}

type transactSystem struct {
	pool *pgxpool.Pool
	app  dbos.Context
}

const (
	transactName        = "chain"
	transactQueue       = "backlog"
	transactPool        = 16
	transactPoll        = 5 * time.Millisecond
	transactConcurrency = 500
	transactVersion     = "bench" // the same in all processes, as with one build
)

func (transact) Name() string       { return "DBOS" }
func (transact) Module() string     { return "github.com/dbos-inc/dbos-transact-golang" }
func (transact) Does(Workload) bool { return true }

// InFlight, found by trying 32, 64, 256 and 1,000 with 3 steps, and all but the first with 1 and 10.
func (transact) InFlight(_ Setup, steps int) int {
	if steps >= longSteps {
		return 256
	}
	return 1_000
}

func (transact) Queued(n int) int { return n }

func (transact) Settings(s Setup) string {
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
	pool, err := newPool(ctx, s.DSN, transactPool)
	if err != nil {
		return nil, err
	}
	app, err := dbos.NewContext(ctx, dbos.Config{
		AppName: "peers", SystemDBPool: pool, Logger: logger, ApplicationVersion: transactVersion, ExecutorID: s.Node,
	})
	if err != nil {
		return nil, err
	}
	dbos.RegisterWorkflow(app, transactRun, dbos.WithWorkflowName(transactName))
	return &transactSystem{pool: pool, app: app}, nil
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
