package postgres_test

import (
	"bytes"
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// metered is a connection that counts its bytes.
type metered struct {
	net.Conn
	sent, received *atomic.Int64
}

func (c metered) Write(p []byte) (int, error) {
	c.sent.Add(int64(len(p)))
	return c.Conn.Write(p)
}

func (c metered) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.received.Add(int64(n))
	return n, err
}

// TestWaitingSendsNamesOnly: a question about runs that are open sends a little more than their ids
// and gets next to nothing, whatever their inputs and the details of their steps are. At the pause
// between two polls, 1.5 s, 5,000 of them are below 100 kB/s.
func TestWaitingSendsNamesOnly(t *testing.T) {
	t.Parallel()
	const runs = journal.BatchMax
	var sent, received atomic.Int64
	s := open(t, pgtest.New(t), &postgres.Options{BeforeConnect: func(_ context.Context, c *pgx.ConnConfig) error {
		dial := c.DialFunc
		c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			return metered{conn, &sent, &received}, err
		}
		return nil
	}})
	j := driver.New(s, nil)
	large := journal.Payload{Data: bytes.Repeat([]byte("x"), 10<<10)}
	starts := make([]journal.Start, runs)
	for i := range starts {
		starts[i] = journal.Start{Workflow: "flow", Input: large}
	}
	started, err := j.Start(t.Context(), nil, starts)
	if err != nil {
		t.Fatal(err)
	}
	ids, updates := make([]journal.RunID, runs), make([]driver.LoadRequest, runs)
	for i, o := range started {
		ids[i], updates[i] = o.Run, driver.LoadRequest{Run: o.Run, Answer: 1}
	}
	for _, c := range []struct {
		what               string
		ask                func() error
		sentMax, answerMax int64 // for each run
	}{
		{"ends", func() error { _, err := j.Ends(t.Context(), ids); return err }, 24, 1},
		{"answers", func() error { _, err := j.Load(t.Context(), updates); return err }, 150, 150},
	} {
		for range 10 { // until every connection has prepared the statements
			if err := c.ask(); err != nil {
				t.Fatal(err)
			}
		}
		before, beforeAnswer := sent.Load(), received.Load()
		if err := c.ask(); err != nil {
			t.Fatal(err)
		}
		asked, answered := sent.Load()-before, received.Load()-beforeAnswer
		t.Logf("%s of %d open runs: %d bytes sent, %d received", c.what, runs, asked, answered)
		if asked > c.sentMax*runs || answered > c.answerMax*runs {
			t.Errorf("%s of %d open runs: %d bytes sent and %d received, want at most %d and %d each", c.what, runs, asked, answered, c.sentMax, c.answerMax)
		}
	}
}
