package main

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/backend/monoprocess"
	gopostgres "github.com/cschleiden/go-workflows/backend/postgres"
	gosqlite "github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/worker"
	goworkflow "github.com/cschleiden/go-workflows/workflow"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// goWorkflows is go-workflows on its Postgres backend.
type goWorkflows struct{}

type goWorkflowsSystem struct {
	client *client.Client
	worker *worker.Worker

	// done has a channel for each run that Run waits for. The library's own wait polls with growing pauses, so Run
	// waits for the workflow function to return first: this only helps it.
	done sync.Map
}

// goSystem is this process's system: workflow functions find it here.
var goSystem *goWorkflowsSystem

const (
	goPool      = 64
	goPollers   = 4
	goPoll      = 20 * time.Millisecond
	goCache     = 4096
	goLease     = 5 * time.Second
	goHeartbeat = time.Second
)

func (goWorkflows) Name() string       { return "go-workflows" }
func (goWorkflows) Module() string     { return "github.com/cschleiden/go-workflows" }
func (goWorkflows) Does(Workload) bool { return true }

// InFlight, found by trying 32, 64, 256 and 1,000, on SQLite 16 instead of 32.
func (goWorkflows) InFlight(s Setup, _ int) int {
	if s.store() == storeSQLite {
		return 256
	}
	return 64
}

// Queued: it begins every queued run before it goes on with one, so only a whole drain says how fast it is. Fewer
// queued runs make its claims cheaper.
func (goWorkflows) Queued(n int) int { return max(n/25, 1) }

func (goWorkflows) Settings(s Setup) string {
	text := fmt.Sprintf("Postgres backend, pool of %d connections", goPool)
	if s.store() == storeSQLite {
		text = "SQLite backend, one connection (its default)"
	}
	text += fmt.Sprintf(", %d pollers of each kind (default 2), %d cached executors (default 128)", goPollersOf(s), goCache)
	if goMono(s) {
		text += ", monoprocess wrapper (signals inside the process)"
	} else {
		text += fmt.Sprintf(", polling every %s (default 200 ms)", goPoll)
	}
	if s.Short {
		text += fmt.Sprintf(", workflow and activity locks and stickiness %s, heartbeats %s", goLease, goHeartbeat)
	}
	return text
}

// goPollersOf: more pollers than there is work for only get into each other's way.
func goPollersOf(s Setup) int {
	if s.Workload == Latency {
		return 2
	}
	return goPollers
}

// goMono tells whether workers are signalled in process. With a second process they have to poll.
func goMono(s Setup) bool { return s.Workload != Recover }

func (goWorkflows) Open(_ context.Context, s Setup) (System, error) {
	options := []backend.BackendOption{backend.WithLogger(logger), backend.WithWorkerName(s.Node)}
	if s.Short {
		options = append(options, backend.WithStickyTimeout(goLease), backend.WithWorkflowLockTimeout(goLease),
			backend.WithActivityLockTimeout(goLease))
	}
	b, err := goBackend(s.DSN, options)
	if err != nil {
		return nil, err
	}
	if goMono(s) {
		b = monoprocess.NewMonoprocessBackend(b)
	}
	o := worker.DefaultOptions
	o.WorkflowPollers, o.ActivityPollers = goPollersOf(s), goPollersOf(s)
	o.WorkflowPollingInterval, o.ActivityPollingInterval = goPoll, goPoll
	o.WorkflowExecutorCacheSize = goCache
	if s.Short {
		o.WorkflowHeartbeatInterval, o.ActivityHeartbeatInterval = goHeartbeat, goHeartbeat
	}
	g := &goWorkflowsSystem{client: client.New(b), worker: worker.New(b, &o)}
	goSystem = g
	if err := g.worker.RegisterWorkflow(goRun); err != nil {
		return nil, err
	}
	return g, g.worker.RegisterActivity(goStep)
}

func goBackend(dsn string, options []backend.BackendOption) (backend.Backend, error) {
	if path, ok := sqliteFile(dsn); ok {
		return goSQLite(path, options)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	// The back end would read an empty password as "the rest is the password", and then take another database.
	password := cmp.Or(config.Password, "none")
	return gopostgres.NewPostgresBackend(config.Host, int(config.Port), config.User, password, config.Database,
		gopostgres.WithBackendOptions(options...),
		gopostgres.WithPostgresOptions(func(db *sql.DB) {
			db.SetMaxOpenConns(goPool)
			db.SetMaxIdleConns(goPool)
		})), nil
}

// goSQLite opens the file as the library would, and says aloud that every commit is on disk before it is acknowledged.
func goSQLite(path string, options []backend.BackendOption) (backend.Backend, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return gosqlite.NewSqliteBackendWithDB(db, gosqlite.WithApplyMigrations(true), gosqlite.WithBackendOptions(options...)), nil
}

func goRun(ctx goworkflow.Context, in Input) (int64, error) {
	v := in.N
	for i := range in.Steps {
		next, err := goworkflow.ExecuteActivity[int64](ctx, goworkflow.DefaultActivityOptions, goStep, i, v).Get(ctx)
		if err != nil {
			return 0, err
		}
		v = next
	}
	if done, ok := goSystem.done.LoadAndDelete(goworkflow.WorkflowInstance(ctx).InstanceID); ok {
		close(done.(chan struct{}))
	}
	return v, nil
}

func goStep(_ context.Context, i int, v int64) (int64, error) { return body.step(i, v), nil }

func (g *goWorkflowsSystem) Work(ctx context.Context) error { return g.worker.Start(ctx) }

func (g *goWorkflowsSystem) Run(ctx context.Context, in Input) (int64, error) {
	done, id := make(chan struct{}), strconv.FormatInt(in.N, 10)
	g.done.Store(id, done)
	instance, err := g.client.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: id}, goRun, in)
	if err != nil {
		return 0, err
	}
	select {
	case <-done:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return client.GetWorkflowResult[int64](ctx, g.client, instance, time.Minute)
}

func (g *goWorkflowsSystem) Start(ctx context.Context, in Input) error {
	_, err := g.client.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: strconv.FormatInt(in.N, 10)}, goRun, in)
	return err
}

func (g *goWorkflowsSystem) Queue(ctx context.Context, ins []Input) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(goPool)
	for _, in := range ins {
		group.Go(func() error { return g.Start(ctx, in) })
	}
	return group.Wait()
}

func (goWorkflows) ClosedSQL() string {
	return `SELECT count(*) FROM instances WHERE completed_at IS NOT NULL`
}

// StoredSQL: event type 2 is the end of an execution.
func (goWorkflows) StoredSQL() string {
	return `SELECT i.instance_id::bytea, a.data FROM instances i
		JOIN history h ON h.instance_id = i.instance_id AND h.execution_id = i.execution_id AND h.event_type = 2
		JOIN attributes a ON a.instance_id = h.instance_id AND a.execution_id = h.execution_id AND a.event_id = h.event_id
		WHERE i.completed_at IS NOT NULL`
}

func (goWorkflows) Decode(in, out []byte) (n, result int64, err error) {
	if n, err = strconv.ParseInt(string(in), 10, 64); err != nil {
		return 0, 0, err
	}
	var end struct {
		Result []byte          `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(out, &end); err != nil {
		return 0, 0, err
	}
	if end.Error != nil {
		return 0, 0, fmt.Errorf("run %d failed: %s", n, end.Error)
	}
	result, err = strconv.ParseInt(string(end.Result), 10, 64)
	return n, result, err
}
