package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

const (
	silent    = time.Second // after which calls of these tests are given up
	slowBytes = 4 << 20     // takes four times as long on a link of slowRate
	slowRate  = 1 << 20
)

// slowWorld is a node behind a link, with a run that it owns.
func slowWorld(t *testing.T) (*pgtest.Link, *driver.Journal, driver.Claimed) {
	t.Helper()
	link := pgtest.Proxy(t, pgtest.New(t))
	s := open(t, link.DSN(), &postgres.Options{BeforeConnect: smallBuffers})
	s.SetSilence(silent)
	j := driver.New(s, &journal.Options{PayloadBytesMax: 2 * slowBytes})
	return link, j, owned(t, j, join(t, j))
}

// smallBuffers lets a connection feel how slow the link is: the system would take all of a test's
// megabytes at once.
func smallBuffers(_ context.Context, config *pgx.ConnConfig) error {
	dial := config.DialFunc
	config.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if tcp, ok := c.(*net.TCPConn); ok {
			err = tcp.SetWriteBuffer(64 << 10)
		}
		return c, err
	}
	return nil
}

func noise(t *testing.T, n int) journal.Payload {
	t.Helper()
	p := journal.Payload{Data: make([]byte, n)}
	if _, err := rand.Read(p.Data); err != nil { // so that nothing can be compressed
		t.Fatal(err)
	}
	return p
}

// A call may take much longer than a silence as long as bytes move, in either direction: what is
// large comes through on a slow network, also if the program dials in its own way.
func TestACallThatMovesIsNotGivenUp(t *testing.T) {
	link, j, c := slowWorld(t)
	const pieces = 16
	list := []journal.Event{began(slices.Repeat([]string{"large"}, pieces)...)}
	for i := range pieces {
		ev := stepDone(journal.Cmd(i+1), "large")
		ev.Payload = noise(t, slowBytes/pieces)
		list = append(list, ev)
	}
	turn := commitOf(j, c, driver.Next{Kind: driver.NextKeep}, list...)
	link.Throttle(slowRate)
	timed := func(what string, call func() error) {
		t.Helper()
		began := time.Now()
		if err := call(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if took := time.Since(began); took < 2*silent {
			t.Errorf("%s took %s, which is no test", what, took)
		}
	}
	timed("a large commit", func() error {
		out, err := j.Commit(t.Context(), []driver.Commit{turn})
		if err == nil {
			err = out[0].Err
		}
		return err
	})
	timed("a large history", func() error {
		list, err := j.Load(t.Context(), []driver.LoadRequest{{Run: c.Run.ID}})
		if err == nil && len(list[0].Events) != pieces+1 {
			err = fmt.Errorf("%d events", len(list[0].Events))
		}
		return err
	})
}

// A call on whose connection nothing moves is given up, and says that it took too long; so does one
// whose statement the server ends. One that gets no connection does not: it has not been tried.
func TestASilentCallTookTooLong(t *testing.T) {
	link, j, c := slowWorld(t)
	load := func() error {
		_, err := j.Load(t.Context(), []driver.LoadRequest{{Run: c.Run.ID}})
		return err
	}
	link.Stall()
	began := time.Now()
	err := load()
	if !errors.Is(err, driver.ErrTookLong) || !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("a silent call: %v", err)
	}
	if took := time.Since(began); took < silent {
		t.Errorf("it was given up after %s", took)
	}
	link.Hang(true)
	link.Cut()
	link.Resume()
	for range 3 {
		if err := load(); errors.Is(err, driver.ErrTookLong) || !errors.Is(err, journal.ErrUnavailable) {
			t.Errorf("a call without a connection: %v", err)
		}
	}
	link.Hang(false)
	eventually(t, "calls are answered again", func() bool { return load() == nil })
}

// A statement that the server ends by its statement_timeout took too long.
func TestAStatementTimeoutTookTooLong(t *testing.T) {
	dsn := pgtest.New(t)
	j := driver.New(open(t, dsn+"&statement_timeout=200", nil), nil)
	c := owned(t, j, join(t, j))
	tx, err := connect(t, dsn).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE reprise.events"); err != nil {
		t.Fatal(err)
	}
	turn := commitOf(j, c, driver.Next{Kind: driver.NextKeep}, began("a"))
	if _, err := j.Commit(t.Context(), []driver.Commit{turn}); !errors.Is(err, driver.ErrTookLong) || !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(t, j, turn)
}
