package clustertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

// Patience bounds every wait; nothing is expected to take nearly as long.
const Patience = 2 * time.Minute

// Until polls a condition that something else brings about.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(Patience)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Context returns a context for all calls of a test. It ends with the test, or when the test's
// patience does.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	t.Cleanup(cancel)
	return ctx
}

// Passed waits until the store's clock has passed a time.
func (c *Cluster) Passed(client *runtime.Client, at time.Time) {
	c.T.Helper()
	Until(c.T, "the store's clock has passed "+at.String(), func() bool {
		_, err := client.List(Context(c.T), journal.ListFilter{Limit: 1}) // stamps the estimate of the clock
		return err == nil && driver.Of(c.Journal).Now().After(at)
	})
}

// Described waits until the description of a run satisfies ok, and returns it.
func Described(t testing.TB, client *runtime.Client, run journal.RunID, what string, ok func(d *runtime.Description) bool) *runtime.Description {
	t.Helper()
	var d *runtime.Description
	ctx := Context(t)
	Until(t, what, func() bool {
		var err error
		d, err = client.Describe(ctx, run)
		return err == nil && ok(d)
	})
	return d
}

// Parked waits until a run waits for something and no node owns it.
func Parked(t testing.TB, client *runtime.Client, run journal.RunID) *runtime.Description {
	t.Helper()
	return Described(t, client, run, "the run is parked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.Owner == 0 && len(d.Waiting) > 0
	})
}

// Kinds returns what happened in a run, in order.
func Kinds(t testing.TB, client *runtime.Client, run journal.RunID) (list []journal.Kind) {
	t.Helper()
	events, err := client.History(Context(t), run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		list = append(list, events[i].Kind)
	}
	return list
}

// Count returns how often v is in list.
func Count[T comparable](list []T, v T) (n int) {
	for _, x := range list {
		if x == v {
			n++
		}
	}
	return n
}

// Query returns the one value that a statement selects.
func Query[T any](t testing.TB, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(Context(t), sql, args...).Scan(&v); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return v
}

// MustStart wraps a call of runtime.Start that has to succeed.
func MustStart[T any](t testing.TB, run *runtime.Run[T], err error) *runtime.Run[T] {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// MustResult waits for a run that has to complete.
func MustResult[T any](t testing.TB, run *runtime.Run[T]) T {
	t.Helper()
	got, err := run.Result(Context(t))
	if err != nil {
		t.Fatalf("run %s: %v", run.ID(), err)
	}
	return got
}

// WantError returns the error of type T in err, which has to be there.
func WantError[T error](t testing.TB, err error) T {
	t.Helper()
	got, ok := errors.AsType[T](err)
	if !ok {
		t.Fatalf("got error %v (%T), want a %T", err, err, got)
	}
	return got
}
