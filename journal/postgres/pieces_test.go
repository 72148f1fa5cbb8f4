package postgres_test

import (
	"errors"
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
			s := open(t, dsn+"&statement_timeout=300", nil)
			j := driver.New(s, nil)
			node := join(t, j)
			c := commitOf(j, owned(t, j, node), keep, began())
			target, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
			if err != nil {
				t.Fatal(err)
			}
			mustExec(t, conn, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END';
				CREATE TRIGGER slow BEFORE INSERT ON reprise.runs FOR EACH ROW EXECUTE FUNCTION slow();
				CREATE TRIGGER slow BEFORE INSERT ON reprise.inbox FOR EACH ROW EXECUTE FUNCTION slow()`)
			ask(&c, target[0].Run)
			for try := 1; ; try++ {
				out, err := j.Commit(t.Context(), []driver.Commit{c})
				if err == nil && out[0].Err == nil {
					if len(out[0].Started)+len(out[0].Sent) != many {
						t.Errorf("%d children and %d messages, want %d", len(out[0].Started), len(out[0].Sent), many)
					}
					break
				}
				if !errors.Is(err, driver.ErrTookLong) || try == 6 {
					t.Fatalf("try %d: %v, %v", try, err, out)
				}
			}
			const count = "SELECT (SELECT count(*) FROM reprise.runs WHERE parent_run IS NOT NULL)::int + (SELECT count(*) FROM reprise.inbox WHERE name = 'sig' AND run_id = $1)::int"
			if got := query[int](t, conn, count, target[0].Run.String()); got != many {
				t.Errorf("%d are stored, want %d", got, many)
			}
		})
	}
}
