package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// action is what a child process does until it is killed. It travels as JSON.
type action struct {
	Verb     string // of verbs
	DSN      string // for transactions of the caller's own
	Node     journal.NodeID
	Runs     []journal.RunID // that it is about
	Starts   []journal.Start
	Messages []journal.Message
	Commits  []driver.Commit
	Stale    int // the number of the commit that is refused, from 1
	Admin    driver.AdminAction
}

// verbs carry actions out. Each may be repeated after a crash, as its caller would.
var verbs = map[string]func(ctx context.Context, j *driver.Journal, a *action) error{
	"start": func(ctx context.Context, j *driver.Journal, a *action) error {
		out, err := j.Start(ctx, nil, a.Starts)
		for i := range out {
			err = errors.Join(err, out[i].Err)
		}
		return err
	},
	"start in a transaction": startInTx,
	"send": func(ctx context.Context, j *driver.Journal, a *action) error {
		out, err := j.Send(ctx, nil, a.Messages)
		for i := range out {
			err = errors.Join(err, out[i].Err)
		}
		return err
	},
	"claim": func(ctx context.Context, j *driver.Journal, a *action) error {
		// The server may not have noticed yet that the session before is gone, and its locks make
		// claims skip the tasks.
		var c driver.Claim
		var err error
		eventuallyQuietly(func() bool {
			c, err = j.Claim(ctx, driver.ClaimRequest{Node: a.Node, Routes: []journal.Route{flowRoute}, Max: 10, Reconcile: true})
			return err != nil || len(c.Tasks) == len(a.Runs)
		})
		if err == nil && len(c.Tasks) != len(a.Runs) {
			err = fmt.Errorf("claimed %d tasks, want %d", len(c.Tasks), len(a.Runs))
		}
		return err
	},
	"commit": func(ctx context.Context, j *driver.Journal, a *action) error {
		out, err := j.Commit(ctx, a.Commits)
		for i := range out {
			if i != a.Stale-1 {
				err = errors.Join(err, out[i].Err)
			} else if out[i].Err == nil {
				err = errors.Join(err, errors.New("a stale commit was accepted"))
			}
		}
		return err
	},
	"commit a step's transaction": commitStepTx,
	"admin": func(ctx context.Context, j *driver.Journal, a *action) error {
		_, err := j.Admin(ctx, a.Admin)
		if errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrNotFound) {
			return nil // it was carried out before the crash
		}
		return err
	},
	"live and leave": liveAndLeave,
	"reap":           reapDead,
}

func startInTx(ctx context.Context, j *driver.Journal, a *action) error {
	conn, err := pgx.Connect(ctx, a.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO effects VALUES ($1) ON CONFLICT DO NOTHING", a.Starts[0].Key)
		if err != nil {
			return err
		}
		out, err := j.Start(ctx, postgres.InTx(tx), a.Starts)
		return errors.Join(err, out[0].Err)
	})
}

// commitStepTx does what an owner does that does not know whether it has run the step: it looks.
func commitStepTx(ctx context.Context, j *driver.Journal, a *action) error {
	c := a.Commits[0]
	h, err := j.Load(ctx, []driver.LoadRequest{{Run: c.Run}})
	if err != nil || len(h[0].Events) >= int(c.Events[0].Seq) {
		return err
	}
	if c.Tx, err = j.Begin(ctx); err != nil {
		return err
	}
	if _, err := c.Tx.Value().(pgx.Tx).Exec(ctx, "INSERT INTO effects VALUES ($1)", c.Run.String()); err != nil {
		return err
	}
	out, err := j.Commit(ctx, []driver.Commit{c})
	return errors.Join(err, out[0].Err)
}

// liveAndLeave is the whole life of a node.
func liveAndLeave(ctx context.Context, j *driver.Journal, a *action) error {
	m, err := j.Join(ctx, journal.Node{Name: "child", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		return err
	}
	if _, err := j.Claim(ctx, driver.ClaimRequest{Node: m.ID(), Routes: []journal.Route{flowRoute}, Max: 10}); err != nil {
		return err
	}
	if _, err := m.Renew(ctx); err != nil {
		return err
	}
	return m.Leave(ctx)
}

// reapDead joins, frees the tasks of dead nodes, and leaves.
func reapDead(ctx context.Context, j *driver.Journal, a *action) error {
	m, err := j.Join(ctx, journal.Node{Name: "reaper", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	if err != nil {
		return err
	}
	if _, err := m.Reap(ctx, nil); err != nil {
		return err
	}
	return m.Leave(ctx)
}

func init() {
	jobs["act"] = func(ctx context.Context, s *postgres.Store, input []byte) (any, error) {
		var a action
		if err := json.Unmarshal(input, &a); err != nil {
			return nil, err
		}
		if a.Node != 0 {
			if err := s.Adopt(ctx, a.Node); err != nil {
				return nil, err
			}
		}
		return "done", verbs[a.Verb](ctx, driver.New(s, nil), &a)
	}
}

// crashWorld is the database of one sweep.
type crashWorld struct {
	*txWorld
	dsn  string
	link *pgtest.Link
}

// sweep kills a child after each statement that an action sends, repeats the action, and compares
// the final state with that of an action that nothing disturbed.
func sweep(t *testing.T, prepare func(w *crashWorld) action) {
	t.Parallel()
	dsn := pgtest.New(t)
	w := &crashWorld{txWorld: newTxWorld(t, dsn), dsn: dsn, link: pgtest.Proxy(t, dsn)}
	mustExec(t, w.conn, "CREATE UNIQUE INDEX ON effects (what)")
	a := prepare(w)
	want := w.finish(&a)
	point, lived := 1, false
	for ; !lived; point++ {
		a := prepare(w)
		a.DSN = named(w.link.DSN())
		p := spawn(t, "act", a.DSN)
		lived = p.crash(w.link, point, a)
		if got := w.finish(&a); got != want {
			t.Fatalf("killed after statement %d of %q: the state is\n%s\nwant\n%s", point, a.Verb, got, want)
		}
		pgtest.Check(t, w.dsn, pgtest.Schema)
		if t.Failed() {
			t.Fatalf("killed after statement %d of %q", point, a.Verb)
		}
	}
	if t.Logf("%d crash points", point-2); point < 3 {
		t.Error("there was no statement to crash after: the test proves nothing")
	}
}

// crash lets a child work until it has sent its n-th statement, kills it there, and tells whether
// it had ended before.
func (p *process) crash(link *pgtest.Link, n int, input any) (lived bool) {
	p.t.Helper()
	var killed atomic.Bool
	link.CutWhen(func(at pgtest.Point) bool { return at.N == n }, func() {
		killed.Store(true)
		_ = p.cmd.Process.Kill()
	})
	p.begin(input)
	var done string
	lived = p.answer(&done)
	link.CutWhen(nil, nil)
	if !lived && !killed.Load() {
		p.t.Fatalf("the child failed by itself before its statement %d", n)
	}
	return lived
}

// finish repeats an action from this process, buries nodes that died, and tells the state.
func (w *crashWorld) finish(a *action) string {
	w.t.Helper()
	a.DSN = w.dsn
	if err := verbs[a.Verb](w.t.Context(), w.j, a); err != nil {
		w.t.Fatalf("%s, from another process: %v", a.Verb, err)
	}
	if a.Verb == "live and leave" || a.Verb == "reap" {
		w.bury()
	}
	return w.state(a.Runs)
}

// victim is the application name of children that are killed.
const victim = "victim"

// named is a DSN for children that are killed.
func named(dsn string) string {
	if strings.Contains(dsn, "?") {
		return dsn + "&application_name=" + victim
	}
	return dsn + "?application_name=" + victim
}

// bury ages the rows of all nodes but our own, and reaps until they are gone. A statement that the
// killed process has sent may still run: it is over when the process's sessions are.
func (w *crashWorld) bury() {
	w.t.Helper()
	m, err := w.j.Join(w.t.Context(), journal.Node{Name: "undertaker", Lease: time.Hour})
	if err != nil {
		w.t.Fatal(err)
	}
	eventually(w.t, "the sessions of the dead are over", func() bool {
		return query[int](w.t, w.conn, "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1", victim) == 0
	})
	mustExec(w.t, w.conn, "UPDATE reprise.nodes SET expires_at = now() - interval '1 s' WHERE id NOT IN ($1, $2)", int32(m.ID()), int32(w.node))
	eventually(w.t, "the dead are buried", func() bool {
		if _, err := m.Reap(w.t.Context(), nil); err != nil {
			w.t.Fatal(err)
		}
		return query[int](w.t, w.conn, "SELECT count(*)::int FROM reprise.nodes") == 2
	})
	if err := m.Leave(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

const stateSQL = `
SELECT coalesce(string_agg(x.line, E'\n' ORDER BY x.ord), '')
FROM (
    SELECT i.ord, concat_ws(' ', 'status', r.status, 'key', r.key IS NOT NULL AND r.holds_key, 'owner', t.owner, 'turn', t.turn,
        'inbox', t.inbox_last, 'generation', r.generation, 'labels', r.labels, r.start_labels, 'priority', r.priority, t.priority, 'state', t.state, 'visible', CASE WHEN t.visible_at = 'infinity' THEN 'never'
            WHEN t.visible_at > now() + interval '1 minute' THEN 'later' WHEN t.visible_at IS NOT NULL THEN 'now' END,
        'waiting', t.waiting, 'attempts', length(t.attempts) > 0,
        'events', (SELECT string_agg(concat(e.kind, ':', e.cmd, e.inbox), ',' ORDER BY e.generation, e.seq) FROM reprise.events e WHERE e.run_id = i.id),
        'messages', (SELECT string_agg(concat(regexp_replace(m.key, '[0-9a-f-]{36}', 'id'), ' ', m.kind, m.answered), ',' ORDER BY m.number) FROM reprise.inbox m WHERE m.run_id = i.id),
        'audit', (SELECT string_agg(concat(a.verb, ':', a.detail), ',' ORDER BY a.number) FROM reprise.audit a WHERE a.run_id = i.id AND a.verb <> 'resume'),
        'effects', (SELECT count(*) FROM effects f WHERE f.what IN (i.id::text, r.key))) AS line
    FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, ord)
    LEFT JOIN reprise.runs r ON r.id = i.id
    LEFT JOIN reprise.tasks t ON t.run_id = i.id) x`

func (w *crashWorld) state(ids []journal.RunID) string {
	w.t.Helper()
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return query[string](w.t, w.conn, stateSQL, "{"+strings.Join(list, ",")+"}")
}
