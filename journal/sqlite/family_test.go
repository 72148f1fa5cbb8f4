package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/migrations"
)

// TestMigrateARunThatKnowsNoFamilies: a run with a history and messages from before the third
// migration goes on, has a child, and begins its next generation.
func TestMigrateARunThatKnowsNoFamilies(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	w := &world{t: t, path: path, db: database(t, path)}
	list, err := migrations.SQLiteFiles()
	if err != nil {
		t.Fatal(err)
	}
	w.exec(`CREATE TABLE reprise_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL,
		additive INTEGER NOT NULL, applied_at INTEGER NOT NULL) STRICT`)
	for _, f := range list[:2] {
		w.exec(f.SQL)
		w.exec(`INSERT INTO reprise_schema_migrations VALUES (?, ?, ?, 1, 0)`, f.Version, f.Name, f.Checksum)
	}
	run := journal.NewRunID()
	w.exec(`INSERT INTO reprise_runs (id, created_at, version, priority, holds_key, workflow, queue) VALUES (?, 1, 1, 3, 0, 'flow', 'default')`, run[:])
	w.exec(`INSERT INTO reprise_tasks (run_id, visible_at, turn, inbox_last, version, priority, queue, workflow)
		VALUES (?, 1, 1, 2, 1, 3, 'default', 'flow')`, run[:])
	w.exec(`INSERT INTO reprise_inbox VALUES (?1, 1, 1, 1, 1, 's', 'a', NULL, NULL), (?1, 2, 1, 1, 1, 's', 'b', NULL, NULL)`, run[:])
	w.exec(`INSERT INTO reprise_events VALUES (?1, 1, 1, 1, 7, NULL, NULL, NULL, 1, NULL, NULL, NULL, NULL),
		(?1, 1, 2, 1, 8, 1, NULL, NULL, 5, 's', NULL, NULL, NULL)`, run[:])
	w.s = open(t, path, &sqlite.Options{Shared: true})
	w.j = driver.New(w.s, nil)
	if h := w.history(run); len(h.Events) != 2 || len(h.Inbox) != 1 || h.Run.Parent != nil || h.Run.Continued != nil {
		t.Errorf("%+v", h)
	}
	w.node = w.join()
	c, err := w.j.Claim(t.Context(), driver.ClaimRequest{Node: w.node, Routes: []journal.Route{flowRoute}, Max: 1})
	if err != nil || len(c.Tasks) != 1 {
		t.Fatal(c, err)
	}
	parent := &journal.Parent{Run: run, Generation: 1, Cmd: 1, Policy: journal.CloseAbandon}
	w.commit(sqlite.Chain(driver.Commit{
		Run: run, Node: w.node, Fence: c.Tasks[0].Task.Fence, Turn: 1, Generation: 1, Head: journal.Head{Seq: 2, Link: 8},
		Events:    []journal.Event{{Kind: journal.RunContinued}},
		Starts:    []journal.Start{{Workflow: "flow", Parent: parent}},
		InboxSeen: 1, Continue: &journal.Continue{Version: 2, Seen: 1, Carried: []journal.InboxSeq{1}},
	}))
	h := w.history(run)
	if len(h.Events) != 0 || len(h.Inbox) != 2 || h.Run.Generation != 2 || h.Run.Version != 2 || h.Run.Task.Version != 2 {
		t.Errorf("%+v", h)
	}
	page, err := w.j.List(t.Context(), journal.ListFilter{Parent: run})
	if err != nil || len(page.Runs) != 1 || cmp.Diff(page.Runs[0].Parent, parent) != "" {
		t.Errorf("%+v, %v", page.Runs, err)
	}
}

// TestViewsOfFamilies: the views show who started a run, and which messages its generation has
// consumed.
func TestViewsOfFamilies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := w.owned(keep, began)
	var messages []journal.Message
	for range 5 {
		messages = append(messages, journal.Message{Run: c.Run, Kind: journal.MessageUpdate, Name: "u"})
	}
	if _, err := w.j.Send(t.Context(), nil, messages); err != nil {
		t.Fatal(err)
	}
	update := func(n journal.InboxSeq) journal.Event {
		return journal.Event{Kind: journal.UpdateReceived, Inbox: n, Name: "u"}
	}
	w.commit(c)
	c = sqlite.Then(c, keep, update(1), update(2), journal.Event{Kind: journal.RunContinued})
	c.Starts = []journal.Start{{Workflow: "flow", Parent: &journal.Parent{Run: c.Run, Generation: 1, Cmd: 1, Policy: journal.CloseTerminate}}}
	c.InboxSeen, c.Continue = 2, &journal.Continue{Version: 1, Seen: 2, Carried: []journal.InboxSeq{2}}
	w.commit(c)
	w.commit(driver.Commit{Run: c.Run, Node: w.node, Fence: c.Fence, Turn: 2, Generation: 2, InboxSeen: 3, Replies: []journal.Reply{
		{Number: 1, Payload: journal.Payload{Data: []byte(`7`)}}, {Number: 3, Payload: journal.Payload{Data: []byte(`8`)}, Rejected: true}}})
	for what, query := range map[string]string{
		"consumed":       `SELECT group_concat(number) = '1,3' FROM (SELECT number FROM reprise_v_inbox WHERE consumed ORDER BY number)`,
		"unconsumed":     `SELECT group_concat(number) = '2,4,5' FROM (SELECT number FROM reprise_v_inbox WHERE NOT consumed ORDER BY number)`,
		"answers":        `SELECT count(*) = 2 FROM reprise_v_inbox WHERE (number, answered, answer) IN (VALUES (1, 'replied', '7'), (3, 'rejected', '8'))`,
		"the child":      `SELECT count(*) = 1 FROM reprise_v_runs WHERE parent IS (SELECT id FROM reprise_v_runs WHERE generation = 2) AND parent_policy = 'terminate'`,
		"the parent":     `SELECT count(*) = 1 FROM reprise_v_runs WHERE parent IS NULL AND parent_policy IS NULL AND inbox_seen = 2 AND carried = '[2]'`,
		"the end of one": `SELECT count(*) = 1 FROM reprise_v_events WHERE kind = 'RunContinued' AND generation = 1`,
	} {
		if w.count(query) != 1 {
			t.Errorf("the views do not show %s", what)
		}
	}
}
