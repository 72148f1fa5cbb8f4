package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// reprise is the engine of this repository.
type reprise struct{}

type repriseSystem struct {
	node   *runtime.Node
	client *runtime.Client // of no node: what it starts is queued
}

const (
	repriseChain workflow.Name[Input, int64] = "chain"
	repriseShort                             = 2 * time.Second
)

func (reprise) Name() string       { return "Reprise" }
func (reprise) Module() string     { return "github.com/reprise-run/reprise" }
func (reprise) Does(Workload) bool { return true }
func (reprise) Queued(n int) int   { return n }

// InFlight: batches are full from about 1,000 on.
func (reprise) InFlight(Setup, int) int { return 1_000 }

func (reprise) Settings(s Setup) string {
	if s.Short {
		return fmt.Sprintf("lease %s", repriseShort)
	}
	return "defaults"
}

func (reprise) Open(ctx context.Context, s Setup) (System, error) {
	store, err := repriseStore(ctx, s.DSN)
	if err != nil {
		return nil, err
	}
	o := &runtime.NodeOptions{Name: s.Node, Logger: logger}
	if s.Short {
		o.Lease = repriseShort
	}
	j := journal.New(store, nil)
	r := &repriseSystem{node: runtime.NewNode(j, o), client: runtime.NewClient(j, &runtime.ClientOptions{Logger: logger})}
	runtime.Handle(r.node, repriseChain, repriseRun, nil)
	return r, nil
}

func repriseStore(ctx context.Context, dsn string) (journal.Store, error) {
	if path, ok := sqliteFile(dsn); ok {
		return sqlite.Open(ctx, path, nil)
	}
	return postgres.Open(ctx, dsn, nil)
}

func repriseRun(ctx workflow.Context, in Input) (int64, error) {
	v := in.N
	for i := range in.Steps {
		next, err := workflow.Step(ctx, "add", func(context.Context) (int64, error) { return body.step(i, v), nil }, nil)
		if err != nil {
			return 0, err
		}
		v = next
	}
	return v, nil
}

func (r *repriseSystem) Work(ctx context.Context) error {
	failed := make(chan error, 1)
	go func() { failed <- r.node.Run(ctx) }()
	return poll(ctx, func() (bool, error) {
		select {
		case err := <-failed:
			return false, fmt.Errorf("the node ended: %w", err)
		default:
			return r.node.ID() != 0, nil
		}
	})
}

func (r *repriseSystem) Run(ctx context.Context, in Input) (int64, error) {
	run, err := runtime.Start(ctx, r.node.Client(), repriseChain, in, nil)
	if err != nil {
		return 0, err
	}
	return run.Result(ctx)
}

func (r *repriseSystem) Start(ctx context.Context, in Input) error {
	_, err := runtime.Start(ctx, r.node.Client(), repriseChain, in, nil)
	return err
}

func (r *repriseSystem) Queue(ctx context.Context, ins []Input) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(256)
	for _, in := range ins {
		g.Go(func() error {
			_, err := runtime.Start(ctx, r.client, repriseChain, in, nil)
			return err
		})
	}
	return g.Wait()
}

func (reprise) ClosedSQL() string { return `SELECT count(*) FROM reprise.runs WHERE status = 1` }

func (reprise) StoredSQL() string {
	return `SELECT r.input, e.payload FROM reprise.runs r
		JOIN reprise.events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq
		WHERE r.status = 1`
}

func (reprise) Decode(in, out []byte) (n, result int64, err error) {
	var i Input
	if err := json.Unmarshal(in, &i); err != nil {
		return 0, 0, err
	}
	result, err = strconv.ParseInt(string(out), 10, 64)
	return i.N, result, err
}
