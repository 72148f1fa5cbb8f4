package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestJ10_WhatIsRecognisedWaitsForTheStandby: a start, a message or a commit that an earlier call
// wrote is not acknowledged while the synchronous standby is away, although it can be read, nor is
// the result of a run. It is as soon as the standby is back.
func TestJ10_WhatIsRecognisedWaitsForTheStandby(t *testing.T) {
	t.Parallel()
	server := privateServer(t)
	admin := connect(t, server.DSN("postgres"))
	j := driver.New(open(t, server.DSN("postgres"), nil), nil)
	node := join(t, j)
	c := owned(t, j, node)
	turn := commitOf(j, c, park, began("a"), stepDone(1, "a"))
	closed := owned(t, j, node)
	end := commitOf(j, closed, closing, began(), completed())
	byKey := journal.Start{Key: "k", Workflow: "flow"}
	byID := journal.Start{ID: journal.NewRunID(), Workflow: "flow"}
	message := journal.Message{Run: c.Run.ID, Kind: journal.MessageSignal, Name: "sig", Key: "m"}
	last := journal.Message{Run: closed.Run.ID, Kind: journal.MessageSignal, Name: "sig", Key: "m"}
	if err := sent(t.Context(), j, last); err != nil { // while the run is open
		t.Fatal(err)
	}
	many := []journal.Start{byKey, byID}
	calls := map[string]func(ctx context.Context) error{
		"a start by key":   func(ctx context.Context) error { return started(ctx, j, byKey) },
		"a start by id":    func(ctx context.Context) error { return started(ctx, j, byID) },
		"a batch of those": func(ctx context.Context) error { return started(ctx, j, many...) },
		"a message":        func(ctx context.Context) error { return sent(ctx, j, message) },
		"a turn": func(ctx context.Context) error {
			out, err := j.Commit(ctx, []driver.Commit{turn})
			return first(out, err, func(o driver.Outcome) error { return o.Err })
		},
		"the end of a run": func(ctx context.Context) error {
			out, err := j.Commit(ctx, []driver.Commit{end})
			return first(out, err, func(o driver.Outcome) error { return o.Err })
		},
	}
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Fatalf("%s, the first time: %v", name, err)
		}
	}
	calls["the end of a run, read"] = func(ctx context.Context) error {
		_, err := j.List(ctx, journal.ListFilter{IDs: []journal.RunID{closed.Run.ID}})
		return err
	}
	calls["the end of a run, waited for"] = func(ctx context.Context) error {
		_, err := j.Ends(ctx, []journal.RunID{closed.Run.ID})
		return err
	}
	calls["the answer to an update, read"] = func(ctx context.Context) error {
		_, err := j.Load(ctx, []driver.LoadRequest{{Run: closed.Run.ID, Answer: 1}})
		return err
	}
	// Of a run that is closed there is no task to lock, and a lock alone would have been written.
	calls["a message to a run that has closed"] = func(ctx context.Context) error { return sent(ctx, j, last) }
	standby(t, admin, "absent")
	for name, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		if err := call(ctx); err == nil {
			t.Errorf("%s was acknowledged without the standby", name)
		}
		cancel()
	}
	standby(t, admin, "")
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s, after the standby is back: %v", name, err)
		}
	}
}

// TestJ10_SessionsCommitSynchronously: what a database says weakens no session of the store. What
// waits for more is kept.
func TestJ10_SessionsCommitSynchronously(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{"off": "on", "local": "on", "remote_write": "on", "on": "on", "remote_apply": "remote_apply"} {
		dsn := pgtest.New(t)
		admin := connect(t, dsn)
		mustExec(t, admin, `ALTER DATABASE "`+admin.Config().Database+`" SET synchronous_commit = '`+setting+`'`)
		j := driver.New(open(t, dsn, nil), nil)
		tx, err := j.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := tx.Value().(pgx.Tx).QueryRow(t.Context(), `SHOW synchronous_commit`).Scan(&got); err != nil || got != want {
			t.Errorf("the database says %s: a session has %s, want %s (%v)", setting, got, want, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestJ10_StartInATransactionWaitsForTheStandby: the caller's own commit waits for the standby,
// also if the start in it found a run that exists.
func TestJ10_StartInATransactionWaitsForTheStandby(t *testing.T) {
	t.Parallel()
	server := privateServer(t)
	admin := connect(t, server.DSN("postgres"))
	j := driver.New(open(t, server.DSN("postgres"), nil), nil)
	if err := started(t.Context(), j, journal.Start{Key: "k", Workflow: "flow"}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, server.DSN("postgres"))
	standby(t, admin, "absent")
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := j.Start(t.Context(), postgres.InTx(tx), []journal.Start{{Key: "k", Workflow: "flow"}})
	if err != nil || out[0].Err != nil || out[0].Created {
		t.Fatal(err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if err := tx.Commit(ctx); err == nil {
		t.Error("the caller's transaction committed without the standby")
	}
	standby(t, admin, "")
}

func started(ctx context.Context, j *driver.Journal, starts ...journal.Start) error {
	out, err := j.Start(ctx, nil, starts)
	return first(out, err, func(o journal.Started) error { return o.Err })
}

func sent(ctx context.Context, j *driver.Journal, m journal.Message) error {
	out, err := j.Send(ctx, nil, []journal.Message{m})
	return first(out, err, func(o journal.Sent) error { return o.Err })
}

// first returns the error of a call, or of the first member that has one.
func first[T any](out []T, err error, of func(T) error) error {
	for i := 0; err == nil && i < len(out); i++ {
		err = of(out[i])
	}
	return err
}

// standby names the synchronous standby, none if the name is empty, and waits until commits know.
func standby(t *testing.T, admin *pgx.Conn, name string) {
	t.Helper()
	mustExec(t, admin, `ALTER SYSTEM SET synchronous_standby_names = '`+name+`'`)
	mustExec(t, admin, `SELECT pg_reload_conf()`)
	probe := admin.Config()
	eventually(t, "commits to heed the standby", func() bool {
		conn, err := pgx.ConnectConfig(t.Context(), probe)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = conn.Exec(ctx, `SELECT pg_logical_emit_message(true, 'probe', '')`)
		return (err != nil) == (name != "")
	})
}
