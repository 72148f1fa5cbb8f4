package postgres_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// A turn whose effects take longer than the server allows a statement is written in pieces, after a
// few tries.
func TestATurnIsWrittenInPieces(t *testing.T) {
	t.Parallel()
	const many = 400
	for name, ask := range map[string]func(c *driver.Commit, target journal.RunID){
		"children": func(c *driver.Commit, _ journal.RunID) {
			for i := range many {
				c.Starts = append(c.Starts, journal.Start{ID: journal.NewRunID(), Workflow: "flow",
					Parent: &journal.Parent{Run: c.Run, Generation: 1, Cmd: journal.Cmd(i + 1)}})
			}
		},
		"messages": func(c *driver.Commit, target journal.RunID) {
			for i := range many {
				c.Messages = append(c.Messages, journal.Message{Run: target, Kind: journal.MessageSignal, Name: "sig", Cmd: journal.Cmd(i + 1)})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			conn := connect(t, dsn)
			s := open(t, dsn+"&statement_timeout=1500", nil)
			j := driver.New(s, nil)
			node := join(t, j)
			c := commitOf(j, owned(t, j, node), keep, began())
			target, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, conn, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END';
				CREATE TRIGGER slow BEFORE INSERT ON reprise.runs FOR EACH ROW EXECUTE FUNCTION slow();
				CREATE TRIGGER slow BEFORE INSERT ON reprise.inbox FOR EACH ROW EXECUTE FUNCTION slow()`)
			ask(&c, target[0].Run)
			inPieces(t, func() error {
				out, err := j.Commit(t.Context(), []driver.Commit{c})
				if err != nil {
					return err
				}
				if out[0].Err != nil || len(out[0].Started)+len(out[0].Sent) != many {
					t.Errorf("%v, %d children and %d messages, want %d", out[0].Err, len(out[0].Started), len(out[0].Sent), many)
				}
				return nil
			})
			const count = "SELECT (SELECT count(*) FROM reprise.runs WHERE parent_run IS NOT NULL)::int + (SELECT count(*) FROM reprise.inbox WHERE name = 'sig' AND run_id = $1)::int"
			if got := query[int](t, conn, count, target[0].Run.String()); got != many {
				t.Errorf("%d are stored, want %d", got, many)
			}
		})
	}
}

// inPieces repeats what takes too long at first, a few times.
func inPieces(t *testing.T, do func() error) {
	t.Helper()
	for try := 1; ; try++ {
		err := do()
		if err == nil {
			if try == 1 {
				t.Error("nothing took too long")
			}
			return
		}
		if !errors.Is(err, driver.ErrTookLong) || try == 6 {
			t.Fatalf("try %d: %v", try, err)
		}
	}
}

// What becomes of the children of a run that ends is written in pieces too, whoever ends it.
func TestAFamilyEndsInPieces(t *testing.T) {
	t.Parallel()
	const many = 400
	for name, policy := range map[string]journal.ClosePolicy{"terminated": journal.CloseTerminate, "asked to cancel": journal.CloseCancel} {
		for _, byOperator := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by an operator %v", name, byOperator), func(t *testing.T) {
				t.Parallel()
				dsn := pgtest.New(t)
				conn := connect(t, dsn)
				j := driver.New(open(t, dsn+"&statement_timeout=1500", nil), nil)
				first := commitOf(j, owned(t, j, join(t, j)), keep, began())
				for i := range many {
					first.Starts = append(first.Starts, journal.Start{Workflow: "flow",
						Parent: &journal.Parent{Run: first.Run, Generation: 1, Cmd: journal.Cmd(i + 1), Policy: policy}})
				}
				commit(t, j, first)
				mustExec(t, conn, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END';
					CREATE TRIGGER slow BEFORE INSERT ON reprise.events FOR EACH ROW EXECUTE FUNCTION slow();
					CREATE TRIGGER slow BEFORE INSERT ON reprise.inbox FOR EACH ROW EXECUTE FUNCTION slow()`)
				first.Starts = nil
				last := after(first, closing, completed())
				last.Children = true
				inPieces(t, func() error {
					if byOperator {
						_, err := j.Admin(t.Context(), driver.AdminAction{Run: first.Run, Kind: driver.AdminTerminate})
						return err
					}
					out, err := j.Commit(t.Context(), []driver.Commit{last})
					if err == nil && out[0].Err != nil {
						t.Error(out[0].Err)
					}
					return err
				})
				const ended = `SELECT count(*)::int FROM reprise.runs r WHERE parent_run IS NOT NULL AND (status <> 0
					OR EXISTS (SELECT FROM reprise.inbox i WHERE i.run_id = r.id))`
				if got := query[int](t, conn, ended); got != many {
					t.Errorf("%d children have heard of it, want %d", got, many)
				}
			})
		}
	}
}
