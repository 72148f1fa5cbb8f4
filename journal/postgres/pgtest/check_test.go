package pgtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// tampers break one guarantee each. "open", "closed" and "parked" stand for the ids of runs.
var tampers = []struct{ sql, rule string }{
	{"DELETE FROM reprise.events WHERE run_id = open AND seq = 1", "J1 a history is numbered"},
	{"UPDATE reprise.events SET seq = 9 WHERE run_id = open AND seq = 3", "J1 a history is numbered"},
	{"UPDATE reprise.events SET kind = 4, cmd = 1 WHERE run_id = open AND seq = 1", "J1 a history begins"},
	{"UPDATE reprise.events SET at = at - interval '1 h' WHERE run_id = open AND seq = 2", "J1 times"},
	{"UPDATE reprise.events SET generation = 2 WHERE run_id = open", "J1 a history belongs"},
	{"UPDATE reprise.events SET link = 0 WHERE run_id = open AND seq = 2", "J1 an event has a link"},
	{"UPDATE reprise.tasks SET fence = 0 WHERE run_id = open", "J3 an owned task"},
	{"UPDATE reprise.tasks SET fence = 1 WHERE run_id = open", "J3 an owned task"},
	{"UPDATE reprise.tasks SET link = 7 WHERE run_id = open", "J3 a task has the link"},
	{"UPDATE reprise.tasks SET link = 7 WHERE run_id = parked", "J3 a task has the link"},
	{"UPDATE reprise.tasks SET state = 2 WHERE run_id = open", "J3 a blocked or quarantined"},
	{"UPDATE reprise.tasks SET state = 3 WHERE run_id = open", "J11"},
	{"UPDATE reprise.tasks SET state = 4 WHERE run_id = parked", "J11"},
	{"UPDATE reprise.inbox SET number = 7 WHERE run_id = open AND number = 2", "J5 an inbox is numbered"},
	{"UPDATE reprise.tasks SET inbox_last = 9 WHERE run_id = open", "J5 a task knows"},
	{"UPDATE reprise.events SET inbox = 2 WHERE run_id = open AND seq = 2", "J5 messages are consumed without gaps"},
	{"UPDATE reprise.events SET kind = 5, inbox = 1, cmd = NULL, name = 's' WHERE run_id = open AND seq = 3", "J5 a generation consumes messages in order"},
	{"UPDATE reprise.runs SET inbox_seen = 1 WHERE id = open", "J5 a generation consumes what it began with"},
	{"UPDATE reprise.inbox SET answered = 1 WHERE run_id = open AND number = 1", "J5 a reply belongs"},
	{"UPDATE reprise.runs SET generation = 2 WHERE id = open", "J1 a generation ends"},
	{"UPDATE reprise.runs SET rewound = '{\"from\":1,\"seq\":1}' WHERE id = open", "J13 a generation that went back"},
	{"UPDATE reprise.events SET name = 'x' WHERE run_id = open AND seq = 2", "J5 a message is consumed by"},
	{"DELETE FROM reprise.runs WHERE id = open", "J5 a message belongs"},
	{"UPDATE reprise.tasks SET visible_at = 'infinity', owner = 0 WHERE run_id = open", "J6"},
	{"UPDATE reprise.runs SET status = 2 WHERE id = closed", "J7 a run is closed exactly"},
	{"UPDATE reprise.runs SET status = 0, closed_at = NULL, closed_seq = NULL WHERE id = closed", "J7 a run is closed exactly"},
	{"UPDATE reprise.events SET kind = 20 WHERE run_id = closed AND seq = 1", "J7 a generation has at most one"},
	{"DELETE FROM reprise.tasks WHERE run_id = open", "J7 a run has a task"},
	{"UPDATE reprise.tasks SET queue = 'x' WHERE run_id = open", "J7 a run has a task"},
	{"UPDATE reprise.runs SET holds_key = false WHERE id = parked", "J8"},
	{"UPDATE reprise.runs SET start_at = created_at - interval '1 h' WHERE id = parked", "J9"},
	{"UPDATE reprise.events SET cmd = 7 WHERE run_id = open AND seq = 3", "but only 2 were issued"},
	{"UPDATE reprise.events SET name = 'x' WHERE run_id = open AND seq = 3", `of command 1, which is "step a"`},
	{"UPDATE reprise.events SET issued = 'leap x' WHERE run_id = open AND seq = 3", "is not known to this release"},
	{"UPDATE reprise.events SET kind = 2, inbox = NULL, cmd = 1, name = 'a' WHERE run_id = open AND seq = 2", "a second outcome"},
	{"UPDATE reprise.tasks SET attempts = convert_to('[{\"cmd\":1,\"name\":\"a\"}]', 'UTF8') WHERE run_id = open", "has its outcome"},
	{"UPDATE reprise.tasks SET attempts = convert_to('[{\"cmd\":9,\"name\":\"a\"}]', 'UTF8') WHERE run_id = open", "never issued"},
}

// lawful is what looks like a broken guarantee and is none.
var lawful = []string{
	// The owners of this run died twice in a row: it is tried again after a while, whatever waits
	// for it.
	"UPDATE reprise.tasks SET owner = 0, unproven = false, strikes = 2, visible_at = now() + interval '1 h' WHERE run_id = open",
}

func TestCheckFindsWhatIsBroken(t *testing.T) {
	dsn := pgtest.Empty(t)
	ids := population(t, dsn)
	conn := connect(t, dsn)
	tables := []string{"runs", "tasks", "events", "inbox"}
	for _, table := range tables {
		exec(t, conn, "CREATE TABLE kept_"+table+" AS SELECT * FROM reprise."+table)
	}
	find := func() []string {
		found, err := pgtest.Violations(t.Context(), conn, pgtest.Schema)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if found := find(); len(found) > 0 {
		t.Fatalf("an intact database breaks %q", found)
	}
	restore := func() {
		for _, table := range tables {
			exec(t, conn, "TRUNCATE reprise."+table, "INSERT INTO reprise."+table+" SELECT * FROM kept_"+table)
		}
	}
	for _, c := range tampers {
		exec(t, conn, ids.Replace(c.sql))
		if found := find(); !strings.Contains(strings.Join(found, "\n"), c.rule) {
			t.Errorf("after %s: found %q, want %q", c.sql, found, c.rule)
		}
		restore()
	}
	for _, sql := range lawful {
		exec(t, conn, ids.Replace(sql))
		if found := find(); len(found) > 0 {
			t.Errorf("after %s: found %q", sql, found)
		}
		restore()
	}
}

// afterBegin calls its function once a connection has begun a transaction.
type afterBegin func()

func (afterBegin) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, beginKey{}, q.SQL)
}

func (f afterBegin) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryEndData) {
	if sql, _ := ctx.Value(beginKey{}).(string); strings.HasPrefix(sql, "begin") {
		f()
	}
}

type beginKey struct{} // of the statement that is traced

// TestCheckWhileMessagesCome: a message that comes between the beginning of a check and its
// snapshot has made its run visible at a time that is later than the beginning. It breaks nothing.
func TestCheckWhileMessagesCome(t *testing.T) {
	dsn := pgtest.Empty(t)
	ids := population(t, dsn)
	sender := connect(t, dsn)
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	came := false
	config.Tracer = afterBegin(func() {
		exec(t, sender, ids.Replace("UPDATE reprise.tasks SET owner = 0, unproven = false, visible_at = now() WHERE run_id = open"))
		came = true
	})
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if found, err := pgtest.Violations(t.Context(), conn, pgtest.Schema); err != nil || len(found) > 0 || !came {
		t.Errorf("found %q, %v; a message came: %v", found, err, came)
	}
}

// population makes an owned run with a history, a closed one and a parked one with a key.
func population(t *testing.T, dsn string) *strings.Replacer {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	j := driver.New(s, nil)
	m, err := j.Join(t.Context(), journal.Node{Name: "n", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	open, closed, parked := journal.NewRunID(), journal.NewRunID(), journal.NewRunID()
	_, err = j.Start(t.Context(), nil, []journal.Start{
		{ID: open, Workflow: "w", Owner: m.ID()}, {ID: closed, Workflow: "w", Owner: m.ID()},
		{ID: parked, Workflow: "w", Owner: m.ID(), Key: "key"},
	})
	if err == nil {
		_, err = j.Send(t.Context(), nil, []journal.Message{
			{Run: open, Kind: journal.MessageSignal, Name: "s"}, {Run: open, Kind: journal.MessageSignal, Name: "s"},
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	turn := func(run journal.RunID, seen journal.InboxSeq, next driver.NextKind, events ...journal.Event) driver.Commit {
		head := journal.Head{Link: journal.OriginOf(run, 1, 0, journal.Payload{})}
		link := head.Link
		for i := range events {
			events[i].Seq, events[i].Time = journal.Seq(i+1), j.Now()
			events[i].Link = events[i].LinkAfter(link)
			link = events[i].Link
		}
		return driver.Commit{Run: run, Node: m.ID(), Fence: journal.FenceAtBirth, Generation: 1, Head: head, InboxSeen: seen,
			Events: events, Next: driver.Next{Kind: next}}
	}
	began := journal.Event{Kind: journal.RunStarted, Issued: []journal.Issued{
		{Kind: journal.CommandStep, Name: "a"}, {Kind: journal.CommandStep, Name: "b"},
	}}
	out, err := j.Commit(t.Context(), []driver.Commit{
		turn(open, 1, driver.NextKeep, began, journal.Event{Kind: journal.SignalReceived, Inbox: 1, Name: "s"},
			journal.Event{Kind: journal.StepCompleted, Cmd: 1, Name: "a"}),
		turn(closed, 0, driver.NextClose, began, journal.Event{Kind: journal.RunCompleted}),
		turn(parked, 0, driver.NextPark, began),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range out {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
	}
	return strings.NewReplacer("= open", "= '"+open.String()+"'", "= closed", "= '"+closed.String()+"'", "= parked", "= '"+parked.String()+"'")
}
