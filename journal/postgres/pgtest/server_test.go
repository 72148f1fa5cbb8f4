package pgtest_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestSchemasAreUsedAgain: making the tables takes longer than most tests, so the tables of a test
// that has ended are the next one's, without what it wrote.
func TestSchemasAreUsedAgain(t *testing.T) {
	var first string
	t.Run("writes", func(t *testing.T) {
		var dsn string
		dsn, first = pgtest.NewSchema(t)
		s, err := postgres.Open(t.Context(), dsn, &postgres.Options{Schema: first})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		starts := []journal.Start{{ID: journal.NewRunID(), Workflow: "flow"}}
		j := driver.New(s, nil)
		if out, err := j.Start(t.Context(), nil, starts); err != nil || out[0].Err != nil {
			t.Fatal(err, out)
		}
		m, err := j.Join(t.Context(), journal.Node{Name: "node", Lease: time.Minute})
		if err == nil {
			err = m.Leave(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	dsn, next := pgtest.NewSchema(t)
	if next != first {
		t.Fatalf("the next test got schema %s, not %s, which was given back", next, first)
	}
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var runs int
	if err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+next+".runs").Scan(&runs); err != nil || runs != 0 {
		t.Errorf("%d runs are left, error %v", runs, err)
	}
	var numbered bool
	if err := conn.QueryRow(t.Context(), "SELECT is_called FROM "+next+".nodes_id_seq").Scan(&numbered); err != nil || numbered {
		t.Errorf("the numbers of nodes do not begin again: %v, error %v", numbered, err)
	}
}
