package postgres_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// A message to a run whose start is committed after the tasks were locked, and before the message
// is written, gets its number all the same, also in a transaction of the caller's, and whoever is
// in its batch too.
func TestSendToARunThatAppears(t *testing.T) {
	t.Parallel()
	for name, inside := range map[string]bool{"alone": false, "in a transaction": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			j := driver.New(open(t, dsn, nil), nil)
			look := connect(t, dsn)
			p := &playwright{t: t, dsn: dsn, look: look}
			signal := func(run journal.RunID, key string) journal.Message {
				return journal.Message{Run: run, Kind: journal.MessageSignal, Name: "s", Key: key}
			}
			present := start(t, j, journal.Start{Workflow: "flow"}).Run
			holder, starter, first, mine := p.begin(), p.begin(), p.begin(), p.begin()
			if _, err := holder.Exec(t.Context(), "SELECT FROM reprise.tasks WHERE run_id = $1 FOR UPDATE", present); err != nil {
				t.Fatal(err)
			}
			started, err := j.Start(t.Context(), postgres.InTx(starter), []journal.Start{{Workflow: "flow"}})
			if err != nil {
				t.Fatal(err)
			}
			appears := started[0].Run
			var tx journal.Tx
			if inside {
				tx = postgres.InTx(mine)
			}
			type answer struct {
				sent []journal.Sent
				err  error
			}
			sent := make(chan answer, 1)
			go func() {
				got, err := j.Send(t.Context(), tx, []journal.Message{signal(present, "a"), signal(appears, "b")})
				sent <- answer{got, err}
			}()
			p.waits("the sender locks what it sees", holder)
			p.end(starter)
			if _, err := j.Send(t.Context(), postgres.InTx(first), []journal.Message{signal(appears, "c")}); err != nil {
				t.Fatal(err)
			}
			p.end(holder)
			p.waits("the sender finds that the first one has its number", first)
			p.end(first)
			got := <-sent
			if got.err != nil || got.sent[0].Err != nil || got.sent[1].Err != nil || got.sent[0].Number != 1 || got.sent[1].Number != 2 {
				t.Fatalf("sent %+v, %v", got.sent, got.err)
			}
			p.end(mine)
			if n := query[int](t, look, "SELECT count(*)::int FROM reprise.inbox"); n != 3 {
				t.Errorf("%d messages, want 3", n)
			}
			pgtest.Check(t, dsn, pgtest.Schema)
		})
	}
}
