package postgres_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// damageWorld is a server of its own whose files are damaged while it is down.
type damageWorld struct {
	t      *testing.T
	server *pgserver.Server
	j      *driver.Journal
	conn   *pgx.Conn
	node   journal.NodeID
}

func newDamageWorld(t *testing.T) *damageWorld {
	w := &damageWorld{t: t, server: privateServer(t)}
	w.open()
	return w
}

func (w *damageWorld) open() {
	w.j, w.conn = driver.New(open(w.t, w.server.DSN("postgres"), nil), nil), connect(w.t, w.server.DSN("postgres"))
	w.node = join(w.t, w.j)
}

// page is a page of a table's file.
type page struct {
	file  string
	block int
}

// big is a payload that is stored outside of its row, on pages that nobody shares in their middle.
func big() journal.Payload {
	random := make([]byte, 30_000)
	_, _ = rand.Read(random)
	return journal.Payload{Data: []byte(`"` + base64.StdEncoding.EncodeToString(random) + `"`)}
}

// middle returns a page of a table's values, from the middle of one.
func (w *damageWorld) middle(table string, value journal.Payload) page {
	w.t.Helper()
	toast := query[string](w.t, w.conn, `SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid = $1::text::regclass`, "reprise."+table)
	part := value.Data[20_000:20_100] // a chunk has about 2000 bytes, so no other part is likely to be cut here
	for at := 20_000; at < 24_000; at += 50 {
		part = value.Data[at : at+50]
		if n := query[int](w.t, w.conn, `SELECT count(*) FROM `+toast+` WHERE position($1::bytea IN chunk_data) > 0`, part); n == 1 {
			break
		}
	}
	return page{query[string](w.t, w.conn, `SELECT pg_relation_filepath($1::text::regclass)`, toast),
		query[int](w.t, w.conn, `SELECT (ctid::text::point)[0]::int FROM `+toast+` WHERE position($1::bytea IN chunk_data) > 0`, part)}
}

// holding returns the page that holds the row of a run in a table.
func (w *damageWorld) holding(table, column string, run journal.RunID) page {
	w.t.Helper()
	return page{query[string](w.t, w.conn, `SELECT pg_relation_filepath($1::text::regclass)`, "reprise."+table),
		query[int](w.t, w.conn, `SELECT (ctid::text::point)[0]::int FROM reprise.`+table+` WHERE `+column+` = $1`, [16]byte(run))}
}

// damage writes over pages while the server is down: with zeros, which a server takes for a page
// without rows, or with nonsense, which it refuses.
func (w *damageWorld) damage(with byte, pages ...page) {
	w.t.Helper()
	folder := query[string](w.t, w.conn, `SHOW data_directory`)
	mustExec(w.t, w.conn, `CHECKPOINT`) // else the pages are written again from the log
	if err := w.server.Kill(); err != nil {
		w.t.Fatal(err)
	}
	for _, p := range pages {
		f, err := os.OpenFile(filepath.Join(folder, p.file), os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteAt(bytes.Repeat([]byte{with}, 8192), int64(p.block)*8192)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
	if err := w.server.Restart(context.Background()); err != nil {
		w.t.Fatal(err)
	}
	w.open()
}

// wantDamaged asserts that an error is about damage of a part of one run, and says what to do.
func (w *damageWorld) wantDamaged(what string, err error, run journal.RunID, part string) {
	w.t.Helper()
	unreadable, ok := errors.AsType[*journal.UnreadableError](err)
	if !ok || unreadable.Run != run || unreadable.Part != part || !errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrUnavailable) ||
		!strings.Contains(err.Error(), "XX001") || !strings.Contains(err.Error(), "docs/operating-postgres.md") {
		w.t.Errorf("%s: %v; want that %s of run %s is damaged", what, err, part, run)
	}
}

// damagedRuns are runs of which one value is lost each, and some that are whole.
type damagedRuns struct {
	input, event, outcome, inbox journal.RunID
	whole                        []journal.RunID
}

func (d *damagedRuns) all() []journal.RunID {
	return append(slices.Clone(d.whole), d.input, d.event, d.outcome, d.inbox)
}

// begin makes the runs, closes one of them, and damages a value of each.
func (w *damageWorld) begin() (d damagedRuns) {
	w.t.Helper()
	input, outcome, payload, message := big(), big(), big(), big()
	d.whole = append(d.whole, start(w.t, w.j, journal.Start{Key: "first"}).Run)
	d.event, d.outcome = start(w.t, w.j, journal.Start{}).Run, start(w.t, w.j, journal.Start{}).Run
	for _, c := range claim(w.t, w.j, w.node, 10) {
		switch c.Run.ID {
		case d.event:
			ended := stepDone(1, "a")
			ended.Payload = payload
			commit(w.t, w.j, commitOf(w.j, c, driver.Next{Kind: driver.NextPark, At: w.j.Now()}, began("a", "b"), ended, stepDone(2, "b")))
		case d.outcome:
			ended := completed()
			ended.Payload = outcome
			commit(w.t, w.j, commitOf(w.j, c, closing, began(), ended))
		default:
			commit(w.t, w.j, commitOf(w.j, c, driver.Next{Kind: driver.NextPark, At: w.j.Now()}, began()))
		}
	}
	d.input = start(w.t, w.j, journal.Start{Input: input}).Run
	d.inbox = start(w.t, w.j, journal.Start{}).Run
	send(w.t, w.j, journal.Message{Run: d.inbox, Kind: journal.MessageSignal, Name: "s", Payload: message})
	d.whole = append(d.whole, start(w.t, w.j, journal.Start{Key: "last", Input: journal.Payload{Data: []byte("1")}}).Run)
	w.damage(0, w.middle("runs", input), w.middle("events", payload), w.middle("events", outcome), w.middle("inbox", message))
	return d
}

// A value of one run that the server cannot read back is that run's matter. Everybody else's runs
// are claimed, loaded, listed and written, and those who wait for their ends hear of them.
func TestJ2_DamagedValuesOfOneRun(t *testing.T) {
	t.Parallel()
	w := newDamageWorld(t)
	d := w.begin()
	for _, reconcile := range []bool{false, true} {
		c, err := w.j.Claim(t.Context(), driver.ClaimRequest{Node: w.node, Routes: []journal.Route{flowRoute}, Max: 10, Reconcile: reconcile})
		if err != nil {
			t.Fatal(err)
		}
		w.claimed(&d, &c)
	}
	w.loaded(&d)
	w.listed(&d)
	w.ended(&d)
	out, err := w.j.Admin(t.Context(), driver.AdminAction{Run: d.input, Kind: driver.AdminTerminate, Actor: "a", Reason: "its input is lost"})
	if err != nil {
		t.Errorf("terminate: %+v, %v", out, err)
	}
}

// claimed asserts that a claim has all open runs, and what it says of the damaged one.
func (w *damageWorld) claimed(d *damagedRuns, c *driver.Claim) {
	w.t.Helper()
	if len(c.Tasks) != 5 || c.Now.IsZero() {
		w.t.Errorf("claimed %d runs at %s, want 5", len(c.Tasks), c.Now)
	}
	for _, task := range c.Tasks {
		switch id := task.Run.ID; {
		case id == d.input:
			w.wantDamaged("a claim", task.Run.Unreadable, id, "column input")
		case task.Run.Unreadable != nil || task.Run.CreatedAt.IsZero():
			w.t.Errorf("claimed %+v", task.Run)
		case task.Run.Key == "last" && string(task.Run.Input.Data) != "1":
			w.t.Errorf("claimed with the input %s", task.Run.Input.Data)
		}
		if task.Task.Owner != w.node || task.Task.Fence == 0 || task.Run.Workflow != "flow" || task.Task.Run != task.Run.ID {
			w.t.Errorf("claimed %+v of %+v", task.Task, task.Run)
		}
	}
}

// loaded asserts what loads together and alone say.
func (w *damageWorld) loaded(d *damagedRuns) {
	w.t.Helper()
	var requests []driver.LoadRequest
	for _, id := range d.all() {
		requests = append(requests, driver.LoadRequest{Run: id})
	}
	list, err := w.j.Load(w.t.Context(), requests)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range list {
		switch id := h.Run.ID; id {
		case d.input:
			w.wantDamaged("a load", h.Err, id, "column input")
			if h.Run.Workflow != "flow" || h.Run.Task == nil || len(h.Run.Input.Data) > 0 {
				w.t.Errorf("loaded without its input: %+v", h.Run)
			}
		case d.event:
			w.wantDamaged("a load", h.Err, id, "event 2")
			if len(h.Events) != 1 || h.More {
				w.t.Errorf("loaded %d events before the damaged one, more: %v", len(h.Events), h.More)
			}
		case d.outcome:
			w.wantDamaged("a load", h.Err, id, "event 2")
		case d.inbox:
			w.wantDamaged("a load", h.Err, id, "inbox")
		default:
			if h.Err != nil || !slices.Contains(d.whole, id) {
				w.t.Errorf("loaded %s: %v", id, h.Err)
			}
		}
	}
}

// listed asserts that listings of all kinds have all runs that they select, in their order.
func (w *damageWorld) listed(d *damagedRuns) {
	w.t.Helper()
	open := journal.Open
	for what, f := range map[string]journal.ListFilter{
		"all":       {},
		"ids":       {IDs: d.all()},
		"workflow":  {Workflow: "flow", Limit: 2},
		"condition": {Where: `version = 1 order by created desc`, Limit: 4},
		"several":   {Where: `status in ("open", "failed")`},
		"status":    {Status: &open, Limit: 2},
	} {
		var got []journal.Run
		for {
			page, err := w.j.List(w.t.Context(), f)
			if err != nil {
				w.t.Fatalf("%s: %v", what, err)
			}
			got = append(got, page.Runs...)
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
		want := 6
		if what == "status" || what == "several" {
			want = 5
		}
		if len(got) != want || !slices.IsSortedFunc(got, func(a, b journal.Run) int { return bytes.Compare(b.ID[:], a.ID[:]) }) {
			w.t.Errorf("%s: %d runs, want %d, newest first: %v", what, len(got), want, got)
		}
		for _, run := range got {
			switch {
			case run.ID == d.input || run.ID == d.outcome:
				w.wantDamaged("list of "+what, run.Unreadable, run.ID, "row, task or terminal event")
			case run.Unreadable != nil:
				w.t.Errorf("%s: %v", what, run.Unreadable)
			}
			if run.Workflow != "flow" || run.CreatedAt.IsZero() || run.Status.Closed() != (run.ID == d.outcome) {
				w.t.Errorf("%s: listed %+v", what, run)
			}
		}
	}
}

// ended asserts what those hear who wait for ends, and that all runs can be written.
func (w *damageWorld) ended(d *damagedRuns) {
	w.t.Helper()
	var batch []driver.Commit
	c, err := w.j.Claim(w.t.Context(), driver.ClaimRequest{Node: w.node, Reconcile: true})
	if err != nil || len(c.Tasks) != 5 {
		w.t.Fatal(err, len(c.Tasks))
	}
	for _, task := range c.Tasks {
		next := driver.Next{Kind: driver.NextBlock, Problem: "damaged", At: w.j.Now()}
		switch task.Run.ID {
		case d.whole[1]:
			batch = append(batch, commitOf(w.j, task, closing, began(), completed()))
			continue
		case d.whole[0]:
			next = park
		}
		batch = append(batch, driver.Commit{Run: task.Run.ID, Node: w.node, Fence: task.Task.Fence, Turn: task.Task.Turn, Generation: 1, Next: next})
	}
	out, err := w.j.Commit(w.t.Context(), batch)
	for i := range out {
		if out[i].Err != nil {
			w.t.Errorf("commit of %s: %v", batch[i].Run, out[i].Err)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
	ends, err := w.j.Ends(w.t.Context(), d.all())
	if err != nil || len(ends) != 2 {
		w.t.Fatal(ends, err)
	}
	for _, e := range ends {
		if e.Run == d.outcome {
			w.wantDamaged("an end", e.Err, e.Run, "end")
		} else if e.Run != d.whole[1] || e.Err != nil || string(e.Terminal.Payload.Data) != `"done"` {
			w.t.Errorf("an end: %+v", e)
		}
	}
}
