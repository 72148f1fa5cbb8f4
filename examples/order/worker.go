package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/runtime"
)

// A worker is this program again, with these set.
const (
	workerEnv  = "REPRISE_ORDER_WORKER"  // name of its node
	carrierEnv = "REPRISE_ORDER_CARRIER" // where the carrier listens
)

// worker is the main function of a worker process: a node that runs checkouts until it gets SIGTERM. Its
// standard input is a pipe that nobody writes to; when it ends, the parent is dead and so is the worker.
func worker() int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGINT) // Ctrl-C reaches the whole group; the parent decides
	if err := runWorker(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

func runWorker(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	dsn := os.Getenv(dsnEnv)
	var store *postgres.Store
	err := again(ctx, func() (err error) { // the database may be away just now
		store, err = postgres.Open(ctx, dsn, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer store.Close()
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return err
	}
	defer pool.Close()
	node := newNode(journal.New(store, nil), pool, os.Getenv(carrierEnv), os.Getenv(workerEnv), log)
	return node.Run(ctx)
}

// newNode returns a node that runs checkouts.
func newNode(j *journal.Journal, pool *pgxpool.Pool, carrier, name string, log *slog.Logger) *runtime.Node {
	node := runtime.NewNode(j, &runtime.NodeOptions{Name: name, Logger: log})
	s := &seller{bank: &bank{pool}, courier: newCourier(carrier)}
	runtime.Handle(node, Checkout, s.checkout, nil)
	return node
}
