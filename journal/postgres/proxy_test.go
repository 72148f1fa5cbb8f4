package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// proxied is a journal whose network fails on command, beside one that is not disturbed.
type proxied struct {
	*txWorld // through the link
	link     *pgtest.Link
	direct   *driver.Journal
}

func newProxied(t *testing.T) *proxied {
	t.Helper()
	dsn := pgtest.New(t)
	link := pgtest.Proxy(t, dsn)
	direct := open(t, dsn, nil)
	p := &proxied{txWorld: newTxWorld(t, link.DSN()), link: link, direct: driver.New(direct, nil)}
	if err := direct.Adopt(t.Context(), p.node); err != nil {
		t.Fatal(err)
	}
	p.conn = connect(t, dsn)
	return p
}

// breaks says what happens to the request that mentions a text, and whether the server carries it
// out.
var breaks = map[string]func(l *pgtest.Link, text string) <-chan struct{}{
	"the answer is lost":  func(l *pgtest.Link, text string) <-chan struct{} { return l.LoseAnswer(1, text) },
	"the request is lost": func(l *pgtest.Link, text string) <-chan struct{} { return l.LoseRequest(1, text) },
}

// each runs fn once for every way to break. call fails once, as unavailable, and then works when it
// is repeated as it is (J4).
func (p *proxied) each(text string, fn func(how string, broken func(call func() error))) {
	p.t.Helper()
	for how, arm := range breaks {
		fn(how, func(call func() error) {
			p.t.Helper()
			happened := arm(p.link, text)
			if err := call(); !errors.Is(err, journal.ErrUnavailable) {
				p.t.Errorf("%s: got %v, want ErrUnavailable", how, err)
			}
			<-happened
			if err := call(); err != nil {
				p.t.Errorf("%s, repeated: %v", how, err)
			}
		})
	}
}

func TestJ4_LostAckOfACommit(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	nexts := map[string]driver.Next{"keep": keep, "park": park, "close": closing,
		"release": {Kind: driver.NextRelease}, "block": {Kind: driver.NextBlock, At: p.j.Now().AddDate(1, 0, 0), Problem: "p"}}
	for name, next := range nexts {
		p.each("INSERT INTO reprise.events", func(how string, broken func(call func() error)) {
			events := []journal.Event{began("a"), stepDone(1, "a")}
			if next.Kind == driver.NextClose {
				events = append(events, completed())
			}
			batch := []driver.Commit{ // two runs, so that the batch is resolved as a whole
				commitOf(p.j, owned(t, p.j, p.node), next, events...), commitOf(p.j, owned(t, p.j, p.node), keep, began()),
			}
			broken(func() error {
				out, err := p.j.Commit(t.Context(), batch)
				if err == nil {
					err = errors.Join(out[0].Err, out[1].Err)
				}
				return err
			})
			p.wantEvents(name+", "+how, batch[0].Run, len(events))
			p.wantEvents(name+", "+how, batch[1].Run, 1)
			p.drain()
		})
	}
}

func (p *proxied) wantEvents(what string, run journal.RunID, want int) {
	p.t.Helper()
	if got := len(events(p.t, p.direct, run)); got != want {
		p.t.Errorf("%s: %d events, want %d", what, got, want)
	}
}

// drain takes what is due out of the way of the next test. The server may carry out a lost request
// only now: it changes nothing any more, but its locks make claims skip the tasks for a moment.
func (p *proxied) drain() {
	p.t.Helper()
	eventually(p.t, "nothing is due", func() bool {
		claim(p.t, p.direct, p.node, 10)
		return query[int](p.t, p.conn, "SELECT count(*)::int FROM reprise.tasks WHERE owner = 0 AND state < 2 AND visible_at <= now()") == 0
	})
}

func TestJ4_LostAckOfAStart(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	for _, keyed := range []bool{false, true} {
		p.each("INSERT INTO reprise.runs", func(how string, broken func(call func() error)) {
			batch := []journal.Start{{ID: journal.NewRunID(), Workflow: "flow"}, {ID: journal.NewRunID(), Workflow: "flow", Owner: p.node}}
			if keyed {
				batch[0].Key, batch[1].Key = "first, "+how, "second, "+how
			}
			before := runs(t, p.direct)
			broken(func() error {
				out, err := p.j.Start(t.Context(), nil, batch)
				for i := range out {
					if !out[i].Created || out[i].Run != batch[i].ID || out[i].Owned != (i == 1) {
						err = fmt.Errorf("start %d: %+v", i, out[i])
					}
				}
				return err
			})
			if got := runs(t, p.direct); got != before+2 {
				t.Errorf("%s, keyed %v: %d new runs, want 2", how, keyed, got-before)
			}
		})
	}
}

func TestJ4_LostAckOfAMessage(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	run := start(t, p.j, journal.Start{}).Run
	sent := 0
	p.each("INSERT INTO reprise.inbox", func(how string, broken func(call func() error)) {
		batch := []journal.Message{
			{Run: run, Kind: journal.MessageSignal, Name: "sig", Key: how + "1"},
			{Run: run, Kind: journal.MessageSignal, Name: "sig", Key: how + "2"},
		}
		broken(func() error {
			out, err := p.j.Send(t.Context(), nil, batch)
			for i := range out {
				if out[i].Err != nil || out[i].Number != journal.InboxSeq(sent+i+1) {
					err = fmt.Errorf("message %d: %+v", i, out[i])
				}
			}
			return err
		})
		sent += 2
		if got := query[int](t, p.conn, "SELECT count(*)::int FROM reprise.inbox"); got != sent {
			t.Errorf("%s: %d messages, want %d", how, got, sent)
		}
	})
}

func TestJ4_LostAckOfAClaim(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	p.each("SKIP LOCKED", func(how string, broken func(call func() error)) {
		for range 3 {
			start(t, p.direct, journal.Start{})
		}
		var got driver.Claim
		request := driver.ClaimRequest{Node: p.node, Routes: []journal.Route{flowRoute}, Max: 10}
		broken(func() (err error) {
			got, err = p.j.Claim(t.Context(), request)
			request.Reconcile = true
			return err
		})
		eventually(t, how+": the claim has its 3 tasks", func() bool { // see drain
			if len(got.Tasks) < 3 {
				var err error
				if got, err = p.j.Claim(t.Context(), request); err != nil {
					t.Fatal(err)
				}
			}
			return len(got.Tasks) == 3
		})
		for _, task := range got.Tasks {
			if task.Task.Owner != p.node || task.Task.Fence.Count() != 1 {
				t.Errorf("%s: %+v", how, task.Task)
			}
			commit(t, p.j, commitOf(p.j, task, closing, began(), completed()))
		}
	})
}

func TestJ4_LostAckOfAnOperator(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	for op, text := range map[driver.AdminKind]string{
		driver.AdminTerminate: "DELETE FROM reprise.tasks", driver.AdminDelete: "DELETE FROM reprise.runs",
		driver.AdminResume: "UPDATE reprise.tasks", driver.AdminSetLabels: "UPDATE reprise.runs", driver.AdminSetPriority: "UPDATE reprise.runs",
	} {
		p.each(text, func(how string, broken func(call func() error)) {
			c := owned(t, p.direct, p.node)
			commit(t, p.direct, commitOf(p.j, c, park, began()))
			if op == driver.AdminDelete {
				if _, err := p.direct.Admin(t.Context(), driver.AdminAction{Run: c.Run.ID, Kind: driver.AdminTerminate}); err != nil {
					t.Fatal(err)
				}
			}
			broken(func() error {
				_, err := p.j.Admin(t.Context(), driver.AdminAction{Run: c.Run.ID, Kind: op, Labels: map[string]*string{"a": new("1")}, Priority: 5})
				if errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrNotFound) {
					return nil // the first try was carried out
				}
				return err
			})
			p.drain()
		})
	}
}

// TestJ4_LostAckOfAStepTx: the store itself finds out what became of the COMMIT, and says so.
func TestJ4_LostAckOfAStepTx(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	for how, arm := range map[string]func(l *pgtest.Link) <-chan struct{}{
		// Settings mention it too: of this session, and of one that the pool opens meanwhile.
		"the answer is lost":  func(l *pgtest.Link) <-chan struct{} { return l.LoseAnswerOf("commit") },
		"the request is lost": func(l *pgtest.Link) <-chan struct{} { return l.LoseRequestOf("commit") },
	} {
		carriedOut := how == "the answer is lost"
		for _, next := range []driver.Next{keep, closing} {
			first := commitOf(p.j, owned(t, p.j, p.node), keep, began("a"))
			commit(t, p.j, first)
			done := []journal.Event{stepDone(1, "a")}
			if next.Kind == driver.NextClose {
				done = append(done, completed())
			}
			second := after(first, next, done...)
			before := p.effects()
			second.Tx = p.step()
			happened := arm(p.link)
			out, err := p.j.Commit(t.Context(), []driver.Commit{second})
			<-happened
			if err != nil {
				t.Fatalf("%s: %v", how, err)
			}
			if carriedOut && out[0].Err != nil || !carriedOut && !errors.Is(out[0].Err, journal.ErrTxLost) {
				t.Errorf("%s: got %v", how, out[0].Err)
			}
			want, effects := 1, 0
			if carriedOut {
				want, effects = 1+len(done), 1
			}
			p.wantEvents(how, first.Run, want)
			if got := p.effects() - before; got != effects {
				t.Errorf("%s: %d effects, want %d", how, got, effects)
			}
		}
	}
}

// slowCommit returns the turn of a step whose COMMIT sleeps for a minute.
func (p *proxied) slowCommit() driver.Commit {
	t := p.t
	t.Helper()
	mustExec(t, p.conn, `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN PERFORM pg_sleep(60); RETURN NULL;
		EXCEPTION WHEN query_canceled THEN -- the driver asks for that when it loses the connection
			PERFORM pg_sleep(60); RETURN NULL; END $$`)
	mustExec(t, p.conn, `CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON effects DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW EXECUTE FUNCTION slow()`)
	first := commitOf(p.j, owned(t, p.j, p.node), keep, began("a"))
	commit(t, p.j, first)
	second := after(first, keep, stepDone(1, "a"))
	second.Tx = p.step()
	return second
}

// TestJ4_StepTxThatHangsInItsCommit: the connection is lost, but the server has not noticed and the
// transaction is still open.
func TestJ4_StepTxThatHangsInItsCommit(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	second := p.slowCommit()
	go func() {
		eventuallyQuietly(func() bool {
			var n int
			err := p.conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event = 'PgSleep'`).Scan(&n)
			return err != nil || n > 0
		})
		p.link.Cut()
	}()
	began := time.Now()
	out, err := p.j.Commit(t.Context(), []driver.Commit{second})
	if err != nil || !errors.Is(out[0].Err, journal.ErrTxLost) || time.Since(began) > 30*time.Second {
		t.Errorf("got %v, %v after %s, want ErrTxLost soon", out, err, time.Since(began))
	}
	p.wantEvents("after the end", second.Run, 1)
}

// TestUserStatementThatLosesItsConnection: the step's own SQL sees the error, and the commit is
// refused.
func TestUserStatementThatLosesItsConnection(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	first := commitOf(p.j, owned(t, p.j, p.node), keep, began("a"))
	commit(t, p.j, first)
	second := after(first, keep, stepDone(1, "a"))
	second.Tx = p.step()
	p.link.Cut()
	if _, err := second.Tx.Value().(pgx.Tx).Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("a cut connection works")
	}
	out, err := p.j.Commit(t.Context(), []driver.Commit{second})
	if err != nil || !errors.Is(out[0].Err, journal.ErrTxLost) || p.effects() != 0 {
		t.Errorf("got %v, %v, %d effects", out, err, p.effects())
	}
	p.wantEvents("after the cut", first.Run, 1)
}
