// Command tutorial is a travel agency: an HTTP service that books trips, has expensive ones
// approved, keeps a ledger, and sends statements every night. docs/tutorial.md explains it.
//
//	go run .                                        # everything is in trips.db
//	go run . -db postgres://localhost/trips         # or in Postgres
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-run/reprise/runtime"
)

type config struct {
	db, listen, partners string
	patience, night      time.Duration
}

func main() {
	var c config
	flag.StringVar(&c.db, "db", "trips.db", "a SQLite `file`, or the URL of a Postgres database")
	flag.StringVar(&c.listen, "listen", "localhost:8080", "`address` of the service")
	flag.StringVar(&c.partners, "partners", "", "`URL` of the partners; default: toys in this process")
	flag.DurationVar(&c.patience, "patience", 24*time.Hour, "how long an expensive trip waits for its approval")
	flag.DurationVar(&c.night, "night", 24*time.Hour, "`time` from one night's statements to the next")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, c); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, c config) error {
	store, err := open(ctx, c.db)
	if err != nil {
		return err
	}
	defer store.Close()
	listener, err := net.Listen("tcp", c.listen)
	if err != nil {
		return err
	}
	if c.partners == "" {
		c.partners = "http://" + listener.Addr().String() + "/partners"
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())

	node := runtime.NewNode(store.journal, nil)
	register(node, &agency{ask: ask(c.partners), ledger: ledger{store.db}})

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return node.Run(ctx) }) // until ctx ends; then it drains
	server := &http.Server{
		Handler:     (&api{node: node, patience: c.patience}).routes(),
		BaseContext: func(net.Listener) context.Context { return ctx }, // who waits for a receipt does not hold up the end
	}
	group.Go(func() error { return server.Serve(listener) })
	group.Go(func() error {
		<-ctx.Done()
		return server.Shutdown(context.Background())
	})
	group.Go(func() error { // the key makes it one run, however often and wherever the program starts
		_, err := runtime.Start(ctx, node.Client(), EveryNight, Night{Every: c.night}, &runtime.StartOptions{Key: "night"})
		return err
	})
	if err := group.Wait(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// register says which code the node executes.
func register(node *runtime.Node, a *agency) {
	runtime.Handle(node, BookTrip, a.trip, nil)
	runtime.Handle(node, EveryNight, a.night, nil)
	runtime.Handle(node, Settle, a.settle, nil)
}
