package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestStore: the store does all that a store has to, and the contract is checked with no more
// rights than docs/operating-postgres.md says that nodes and clients need. All is done behind a
// pooler that hands sessions on from check to check, as nothing of a session is different behind
// one in session mode: to begin a session, with all that it has to read of the catalogue, would
// take longer than most checks.
func TestStore(t *testing.T) {
	rights := documentedRights(t)
	o := pgserver.PoolerOptions{Mode: "session", Settings: map[string]string{"default_pool_size": "300"}}
	owner := pgtest.Bouncer(t, pgtest.Empty(t), o)
	app := pgtest.Bouncer(t, appDSN(t, pgtest.Empty(t)), o)
	journaltest.All(t, func(t *testing.T) driver.Store {
		dsn, schema := pgtest.NewSchema(t)
		pooler := owner
		if strings.Contains(t.Name(), "/Contract/") { // once is enough, and the rights take a moment
			grantApp(t, dsn, schema, rights)
			pooler = app
		}
		return aged(t, open(t, pooler.DSN(dsn), &postgres.Options{Schema: schema}), dsn, schema)
	})
}

// starter is the input of the job "start".
type starter struct {
	Callers int
	Key     string
}

func init() {
	jobs["start"] = func(ctx context.Context, s *postgres.Store, input []byte) (any, error) {
		var in starter
		if err := json.Unmarshal(input, &in); err != nil {
			return nil, err
		}
		return startTogether(ctx, s, in), nil
	}
}

// startTogether starts one key many times at once and returns what each caller got.
func startTogether(ctx context.Context, s *postgres.Store, in starter) []string {
	answers := make([]string, in.Callers)
	gate := make(chan struct{})
	var work sync.WaitGroup
	for i := range answers {
		work.Go(func() {
			<-gate
			out, err := driver.New(s, nil).Start(ctx, nil, []journal.Start{{Workflow: "flow", Key: in.Key}})
			switch {
			case err != nil:
				answers[i] = err.Error()
			case out[0].Err != nil:
				answers[i] = out[0].Err.Error()
			default:
				answers[i] = fmt.Sprintf("run %s created %v", out[0].Run, out[0].Created)
			}
		})
	}
	close(gate)
	work.Wait()
	return answers
}

func TestJ8_64ConcurrentStartsOneKeyFromTwoProcesses(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	in := starter{Callers: 32, Key: "one key"}
	p := spawn(t, "start", dsn)
	p.begin(in)
	answers := startTogether(t.Context(), s, in)
	var theirs []string
	if !p.answer(&theirs) {
		t.Fatal("the child failed")
	}
	created := map[bool]map[string]int{true: {}, false: {}}
	for _, a := range append(answers, theirs...) {
		run, isNew := strings.CutSuffix(a, " created true")
		created[isNew][strings.TrimSuffix(run, " created false")]++
	}
	if len(created[true]) != 1 || len(created[false]) != 1 {
		t.Fatalf("callers got %v", created)
	}
	for run, n := range created[true] {
		if n != 1 || created[false][run] != 63 {
			t.Errorf("callers got %v, want one new run and its id 63 times", created)
		}
	}
}

// TestViewsShowAnything: a support person's views never fail because of what somebody stored.
func TestViewsShowAnything(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	j := driver.New(open(t, dsn, nil), nil)
	node := join(t, j)
	odd := []journal.Payload{
		{}, {Data: []byte{}}, {Data: []byte{0}}, {Data: []byte("\xff\xfe")}, {Data: []byte(`"\u0000"`)}, {Data: []byte(`"\ud800"`)},
		{Data: []byte(`{"a":`)}, {Data: []byte(`NaN`)}, {Data: []byte(`1e999999`)}, {Encoding: "gzip", Data: []byte{31, 139, 0, 255}},
		{Encoding: journal.EncodingFailure, Data: []byte{255}}, {Data: []byte(strings.Repeat("[", 100_000))},
		{Data: []byte(`{"ok":"ünï"}`)},
	}
	for i, p := range odd {
		start(t, j, journal.Start{Key: fmt.Sprint(i), Input: p, Labels: map[string]string{"odd": "\u200b"}})
		c := claimOne(t, j, node)
		send(t, j, journal.Message{Run: c.Run.ID, Kind: journal.MessageSignal, Name: "sig", Payload: p})
		turn := commitOf(j, c, driver.Next{}, journal.Event{Kind: journal.RunStarted, Issued: steps("a", "b")},
			journal.Event{Kind: journal.SignalReceived, Inbox: 1, Name: "sig"},
			journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "a", Payload: p})
		turn.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 1, Heartbeat: &p, Failure: &journal.Failure{Message: "\x00\xff"}}}
		commit(t, j, turn)
	}
	conn := connect(t, dsn)
	for view, want := range map[string]int{
		"v_runs": len(odd), "v_tasks": len(odd), "v_inbox": len(odd), "v_events": 3 * len(odd),
	} {
		rows, err := conn.Query(t.Context(), "SELECT x::text FROM reprise."+view+" x")
		if err != nil {
			t.Fatal(err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(texts) != want {
			t.Errorf("%s: %d rows, want %d: %v", view, len(texts), want, err)
		}
	}
	if got := query[string](t, conn, `SELECT input->>'ok' FROM reprise.v_runs WHERE key = $1`, fmt.Sprint(len(odd)-1)); got != "ünï" {
		t.Errorf("JSON input is shown as %q", got)
	}
}

// open returns a store that is closed when the test ends.
func open(t *testing.T, dsn string, o *postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
