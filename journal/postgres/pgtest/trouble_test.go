package pgtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A link that refuses log-ins answers as a server does, and leaves those alone that have one.
func TestLinkRefusesLogIns(t *testing.T) {
	link, conn := linked(t)
	for _, code := range []string{"28000", "28P01", "53300"} {
		link.RefuseWith(code)
		_, err := pgx.Connect(t.Context(), link.DSN())
		if pe, ok := errors.AsType[*pgconn.PgError](err); !ok || pe.Code != code {
			t.Errorf("got %v, want SQLSTATE %s", err, code)
		}
		exec(t, conn, "select 1")
	}
	link.RefuseWith("")
	again, err := pgx.Connect(t.Context(), link.DSN())
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A link with a delay makes a question late in both directions.
func TestLinkIsLate(t *testing.T) {
	link, conn := linked(t)
	exec(t, conn, "select 1")
	const delay = 50 * time.Millisecond
	link.Delay(delay)
	began := time.Now()
	exec(t, conn, "select 1")
	if took := time.Since(began); took < 2*delay {
		t.Errorf("an answer came in %s, want %s at the least", took, 2*delay)
	}
	link.Delay(0)
}
