package postgres_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// plantSQL lets an insert into a table fail with a state, if the row is the one that is planted.
const plantSQL = `
CREATE TABLE planted (run uuid, code text);
GRANT ALL ON planted TO public;
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE state text;
BEGIN
	SELECT p.code INTO state FROM public.planted p WHERE p.run IS NULL OR p.run = (to_jsonb(NEW)->>TG_ARGV[0])::uuid;
	IF state IS NOT NULL THEN
		RAISE EXCEPTION 'planted' USING ERRCODE = state;
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER fail BEFORE INSERT ON reprise.runs FOR EACH ROW EXECUTE FUNCTION fail('id');
CREATE TRIGGER fail BEFORE INSERT ON reprise.events FOR EACH ROW EXECUTE FUNCTION fail('run_id')`

// passing are states that are about nothing that a caller has sent: of a server that cannot do now
// what it can do later, and of a database that somebody has to mend. The caller may repeat the call
// as it is (J4).
var passing = map[string]string{
	"08006": "connection failure",
	"25006": "read only: a standby",
	"25P03": "idle in a transaction",
	"40001": "serialization failure",
	"40003": "completion unknown",
	"40P01": "deadlock",
	"53100": "the disk is full",
	"53200": "out of memory",
	"53300": "too many connections",
	"55P03": "lock timeout",
	"57014": "cancelled",
	"57P01": "shutting down",
	"57P02": "crash of another session",
	"57P03": "starting up",
	"58000": "system error",
	"58030": "input or output failed",

	"0A000": "a prepared statement about columns that have changed",
	"21000": "a code that nobody has thought of",
	"25P02": "a transaction that has failed already",
	"25P04": "transaction_timeout",
	"26000": "a prepared statement that is gone",
	"3D000": "no such database",
	"3F000": "no such schema",
	"42501": "a right is missing",
	"42703": "no such column",
	"42P01": "no such table",
	"55000": "the database takes no connections",
	"57P05": "idle for too long",
}

// lasting are those about what the caller has sent, or about rows that it names: they would come
// back with every repetition. The value tells whether the caller
// is at fault.
var lasting = map[string]bool{
	"22021": true, "22P05": true, "54000": true,
	"23514": false, "P0001": false, "XX001": false,
}

// TestJ4_StatesOfTheServer: a call that fails for a while says that it may be repeated, and one
// that would fail again does not. Either keeps the server's word for it.
func TestJ4_StatesOfTheServer(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := connect(t, dsn)
	mustExec(t, conn, plantSQL)
	j := driver.New(open(t, dsn, nil), nil)
	try := func(code string, unavailable, invalid bool) {
		t.Helper()
		mustExec(t, conn, "INSERT INTO planted VALUES (NULL, $1)", code)
		out, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
		if err == nil {
			err = out[0].Err
		}
		if errors.Is(err, journal.ErrUnavailable) != unavailable || errors.Is(err, journal.ErrInvalid) != invalid {
			t.Errorf("%s: %v; want unavailable %v, invalid %v", code, err, unavailable, invalid)
		}
		if pe, ok := errors.AsType[*pgconn.PgError](err); !ok || pe.Code != code {
			t.Errorf("%s: the state is not in the chain of %v", code, err)
		}
		mustExec(t, conn, "DELETE FROM planted")
		start(t, j, journal.Start{})
	}
	for code := range passing {
		try(code, true, false)
	}
	for code, invalid := range lasting {
		try(code, false, invalid)
	}
}

// TestJ2_AMemberThatTheServerRefuses: what the server says of one member is that member's outcome,
// and the others are written. What it says of itself leaves the whole batch to be repeated.
func TestJ2_AMemberThatTheServerRefuses(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := connect(t, dsn)
	mustExec(t, conn, plantSQL)
	j := driver.New(open(t, dsn, nil), nil)
	node := join(t, j)
	for code, ofOne := range map[string]bool{
		"22021": true, "23514": true, "54000": true, "P0001": true, "XX001": true, // data, a constraint, a limit, a trigger, a damaged row
		"42501": false, "42P01": false, "25P04": false, "0A000": false, "53100": false, "55P03": false, "58030": false,
	} {
		batch := make([]driver.Commit, 3)
		for i := range batch {
			batch[i] = commitOf(j, owned(t, j, node), keep, began("a"))
		}
		mustExec(t, conn, "INSERT INTO planted VALUES ($1, $2)", [16]byte(batch[1].Run), code)
		out, err := j.Commit(t.Context(), batch)
		if (err == nil) != ofOne {
			t.Errorf("%s: the call says %v, outcomes %+v", code, err, out)
		}
		for i := range out {
			if pe, ok := errors.AsType[*pgconn.PgError](out[i].Err); ok != (i == 1) || ok && pe.Code != code || !ok && out[i].Err != nil {
				t.Errorf("%s: member %d: %v", code, i, out[i].Err)
			}
		}
		mustExec(t, conn, "DELETE FROM planted")
		again, err := j.Commit(t.Context(), batch) // as its owners would, and those that are written are recognised
		if err != nil {
			t.Fatal(err)
		}
		for i := range again {
			if again[i].Err != nil {
				t.Errorf("%s: member %d afterwards: %v", code, i, again[i].Err)
			}
		}
		if n := query[int](t, conn, "SELECT count(*)::int FROM reprise.events WHERE run_id = ANY ($1)",
			[][16]byte{batch[0].Run, batch[1].Run, batch[2].Run}); n != 3 {
			t.Errorf("%s: %d events, want one of each", code, n)
		}
	}
}

// TestJ4_LockTimeoutOfTheServer: an administrator may bound every wait for a lock. Who runs into
// that bound may ask again, and is served when the lock is free.
func TestJ4_LockTimeoutOfTheServer(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn, holder := connect(t, dsn), connect(t, dsn)
	mustExec(t, conn, fmt.Sprintf("ALTER DATABASE %s SET lock_timeout = '50ms'", query[string](t, conn, "SELECT quote_ident(current_database())")))
	j := driver.New(open(t, dsn, nil), nil)
	c := commitOf(j, owned(t, j, join(t, j)), keep, began("a"))
	mustExec(t, holder, "BEGIN")
	mustExec(t, holder, "SELECT FROM reprise.tasks WHERE run_id = $1 FOR UPDATE", [16]byte(c.Run))
	_, err := j.Commit(t.Context(), []driver.Commit{c})
	if pe, ok := errors.AsType[*pgconn.PgError](err); !errors.Is(err, journal.ErrUnavailable) || !ok || pe.Code != "55P03" {
		t.Errorf("while the row is locked: %v", err)
	}
	mustExec(t, holder, "ROLLBACK")
	commit(t, j, c)
}

// TestRestartOverASuspicion: a node was found without a session, and before its grace has passed
// the server starts again. Now nobody has a session of before, so the first look proves nothing any
// more: it takes its lease, or two looks at this server.
func TestRestartOverASuspicion(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), &pgserver.Options{NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	link := pgtest.Proxy(t, server.DSN("postgres"))
	const grace = 100 * time.Millisecond
	b, _ := memberOf(t, link.DSN(), nil, grace)
	a, _ := memberOf(t, server.DSN("postgres"), nil, grace)
	renew(t, b)
	link.Refuse(true)
	endSessions(t, connect(t, server.DSN("postgres")), b.ID())
	if got, want := suspects(t, a), fmt.Sprint([]journal.NodeID{b.ID()}); got != want {
		t.Fatalf("without a session: %s, want %s", got, want)
	}
	seen := time.Now()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other node is back", func() bool { _, err := a.Renew(t.Context()); return err == nil })
	eventually(t, "the grace has passed", func() bool { return time.Since(seen) > 2*grace })
	if got := reap(t, a, b.ID()); got != "[]" {
		t.Errorf("reaped after a restart: %s", got)
	}
	link.Refuse(false)
	eventually(t, "it is back too", func() bool { _, err := b.Renew(t.Context()); return err == nil })
}
