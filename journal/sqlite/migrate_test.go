package sqlite_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/migrations"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

// reopen closes the store and opens the file again.
func (w *world) reopen() error {
	w.s.Close()
	s, err := sqlite.Open(w.t.Context(), w.path, nil)
	if err != nil {
		return err
	}
	w.t.Cleanup(s.Close)
	w.s, w.j = s, driver.New(s, nil)
	return nil
}

func TestMigrateRefusesAChangedFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.exec(`UPDATE reprise_schema_migrations SET checksum = 'other' WHERE version = 1`)
	err := w.reopen()
	if e, ok := errors.AsType[*migrations.ChecksumError](err); !ok || e.Name != "0001_initial.sql" {
		t.Errorf("got %v, want a ChecksumError about 0001_initial.sql", err)
	}
}

func TestMigrateBesideANewerRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.exec(`INSERT INTO reprise_schema_migrations VALUES (9001, '9001_more.sql', 'x', 1, 0)`)
	if err := w.reopen(); err != nil {
		t.Error(err)
	}
	w.exec(`INSERT INTO reprise_schema_migrations VALUES (9002, '9002_other.sql', 'x', 0, 0)`)
	err := w.reopen()
	if e, ok := errors.AsType[*migrations.NewerError](err); !ok || e.Name != "9002_other.sql" {
		t.Errorf("got %v, want a NewerError about 9002_other.sql", err)
	}
}

// TestMigrateLeavesNothingBehindWhenItFails: all files are one transaction.
func TestMigrateLeavesNothingBehindWhenItFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	w := &world{t: t, path: path, db: database(t, path)}
	w.exec(`CREATE TABLE reprise_inbox (x)`) // in the way of the first file, behind other tables
	if _, err := sqlite.Open(t.Context(), path, &sqlite.Options{Shared: true}); err == nil || !strings.Contains(err.Error(), "0001_initial.sql") {
		t.Fatalf("migrating over somebody else's table: %v", err)
	}
	if n := w.count(`SELECT count(*) FROM sqlite_schema`); n != 1 {
		t.Errorf("%d tables are left, want the one that was in the way", n)
	}
}

// TestSchemaFile compares migrations/sqlite/schema.sql with what the migrations make. -update
// writes it.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.exec(`DROP TABLE effects`)
	rows, err := w.db.QueryContext(t.Context(), `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type <> 'table', type, name`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	got := "-- What the migrations make of an empty database, for readers. A test writes and compares this file.\n"
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		got += "\n" + text + ";\n"
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "migrations", "sqlite", "schema.sql")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("schema.sql differs from what the migrations make; run with -update (-file +database):\n%s", d)
	}
}

// TestViewsKnowEveryKind compares the words of the view of events with those of the journal.
func TestViewsKnowEveryKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for kind, word := range journal.Kinds() {
		w.exec(`INSERT INTO reprise_events (run_id, generation, seq, at, link, kind) VALUES (zeroblob(16), 1, ?, 0, 0, ?)`, int(kind), int(kind))
		if n := w.count(`SELECT count(*) FROM reprise_v_events WHERE seq = ? AND kind = ?`, int(kind), word); n != 1 {
			t.Errorf("the view does not show kind %d as %q", kind, word)
		}
	}
}

// TestViewsShowAnything: a support person's views never fail because of what somebody stored.
func TestViewsShowAnything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	odd := []journal.Payload{
		{}, {Data: []byte{}}, {Data: []byte{0}}, {Data: []byte("\xff\xfe")}, {Data: []byte(`"\ud800"`)}, {Data: []byte(`{"a":`)},
		{Encoding: "gzip", Data: []byte{31, 139, 0, 255}}, {Encoding: journal.EncodingFailure, Data: []byte{255}},
		{Data: []byte(strings.Repeat("[", 100_000))}, {Data: []byte(`{"ok":"ünï"}`)},
	}
	var last driver.Commit
	for _, p := range odd {
		out := w.start(journal.Start{Input: p, Owner: w.node, Labels: map[string]string{"odd": "\u200b"}})[0]
		sent, err := w.j.Send(t.Context(), nil, []journal.Message{{Run: out.Run, Kind: journal.MessageSignal, Name: "sig", Payload: p}})
		if err != nil || sent[0].Err != nil {
			t.Fatal(err, sent)
		}
		events := []journal.Event{began, {Kind: journal.SignalReceived, Inbox: 1, Name: "sig"}, stepDone}
		for i := range events {
			events[i].Payload = p
		}
		c := sqlite.First(out.Run, w.node, p, driver.Next{}, events...)
		c.InboxSeen = 1
		c.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 1, Heartbeat: &p, Failure: &journal.Failure{Message: "\x00\xff"}}}
		w.commit(c)
		last = c
	}
	for view, want := range map[string]int{
		"reprise_v_runs": len(odd), "reprise_v_tasks": len(odd), "reprise_v_inbox": len(odd), "reprise_v_events": 3 * len(odd),
	} {
		if n := w.count(`SELECT count(*) FROM (SELECT * FROM ` + view + ` ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9)`); n != want {
			t.Errorf("%s has %d rows, want %d", view, n, want)
		}
	}
	if n := w.count(`SELECT count(*) FROM reprise_v_events WHERE link = ?`, fmt.Sprintf("%016x", uint64(last.NewHead().Link))); n != 1 {
		t.Errorf("%d events show the last link", n)
	}
	if n := w.count(`SELECT count(*) FROM reprise_v_runs WHERE input ->> 'ok' = 'ünï'`); n != 1 {
		t.Errorf("%d runs show their JSON input", n)
	}
}
