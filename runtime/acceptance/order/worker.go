package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/reprise-run/reprise/runtime"
)

// A worker is this program again, with these set.
const (
	workerEnv  = "REPRISE_ORDER_WORKER"  // name of its node
	carrierEnv = "REPRISE_ORDER_CARRIER" // where the carrier listens
)

// worker is the main function of a worker process: a node that runs checkouts until it gets
// SIGTERM. Its standard input is a pipe that nobody writes to; when it ends, the parent is dead and
// so is the worker.
func worker() int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGINT) // Ctrl-C reaches the whole group; the parent decides
	var err error
	if baton := os.Getenv(batonEnv); baton != "" {
		err = runRelayWorker(ctx, baton)
	} else {
		err = runWorker(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		return 1
	}
	return 0
}

func runWorker(ctx context.Context) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	db := &database{dsn: os.Getenv(dsnEnv)}
	defer db.Close()
	if err := again(ctx, func() error { return db.connect(ctx) }); err != nil { // the database may be away just now
		return err
	}
	return newNode(db, os.Getenv(carrierEnv), os.Getenv(workerEnv), log).Run(ctx)
}

// newNode returns a node that runs checkouts.
func newNode(db *database, carrier, name string, log *slog.Logger) *runtime.Node {
	node := runtime.NewNode(db.journal.Journal, &runtime.NodeOptions{Name: name, Logger: log})
	s := &seller{bank: &bank{db.outside}, courier: newCourier(carrier)}
	runtime.Handle(node, Checkout, s.checkout, nil)
	return node
}
