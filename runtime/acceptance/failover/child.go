package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
)

// childEnv makes this program a child: a node or a client. It holds the child's orders.
const childEnv = "REPRISE_FAILOVER_CHILD"

// orders are what a child is told at its start.
type orders struct {
	Name  string        `json:"name"` // of the process, its diary and its node
	Dir   string        `json:"dir"`  // of the diaries
	DSN   string        `json:"dsn"`
	Lease time.Duration `json:"lease"`
	Work  *work         `json:"work,omitempty"` // of a client; nil for a node
}

// work is what a client starts.
type work struct {
	Workflow string        `json:"workflow"`
	Runs     int           `json:"runs"`     // at most; 0: until it is told to close
	Parallel int           `json:"parallel"` // in flight
	Over     time.Duration `json:"over"`     // the first ones are spread over this time
	Each     order         `json:"each"`     // without the key
	Call     time.Duration `json:"call"`     // the patience of one call
}

const openTries = 200 * time.Millisecond

// asChild does the orders in the environment, and returns the exit status of the process. Its
// standard input is a pipe from the parent: a byte tells it to close, the end of the file that the
// parent is dead, and then so is the child.
func asChild() int {
	var o orders
	if err := json.Unmarshal([]byte(os.Getenv(childEnv)), &o); err != nil {
		fmt.Fprintln(os.Stderr, "failover: orders:", err)
		return 1
	}
	closing := make(chan struct{})
	go func() {
		if n, _ := os.Stdin.Read(make([]byte, 1)); n == 1 {
			close(closing)
		}
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	signal.Ignore(syscall.SIGINT) // Ctrl-C reaches the whole group; the parent decides
	if err := o.do(ctx, closing); err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		return 1
	}
	return 0
}

func (o *orders) do(ctx context.Context, closing <-chan struct{}) error {
	d, err := openDiary(o.Dir, o.Name)
	if err != nil {
		return err
	}
	d.write(entry{What: awake})
	store, err := openStore(ctx, o.DSN)
	if err != nil && ctx.Err() != nil {
		return d.close() // asked to end before it had begun
	}
	if err != nil {
		return errors.Join(err, d.close())
	}
	defer store.Close()
	j := journal.New(store, nil)
	if o.Work == nil {
		err = runNode(ctx, j, o, d)
	} else {
		err = runClient(ctx, j, o.Work, d, closing)
	}
	return errors.Join(err, d.close())
}

// openStore waits for a server that is away just now, as any service does.
func openStore(ctx context.Context, dsn string) (*postgres.Store, error) {
	for {
		store, err := postgres.Open(ctx, dsn, nil)
		if !errors.Is(err, journal.ErrUnavailable) {
			return store, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(openTries):
		}
	}
}
