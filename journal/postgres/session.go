package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
)

// ownSettings are what every session of the store has, whatever the server, the database, the role
// or the connection string says: the statements rely on fresh snapshots and on their plans (see
// "Plans" in the package story), and commits wait for the disk, and for the disk of a synchronous
// standby if there is one (J10). A setting that waits for more is kept.
//
// The server finds out within a minute that a machine is gone without a word, not within the two
// hours of a kernel's default: what a step on it had locked is locked until then. Shorter times are
// kept. The one for what was sent exists on Linux alone; other servers log that they have none.
const ownSettings = `(VALUES ` + settingValues + `) AS v(name, value)`

// textSettings are those of a session whose answers are text, see [Options.Unprepared]: times and
// bytes come in the forms that the driver reads.
const textSettings = `(VALUES ` + settingValues + `, ('datestyle', 'ISO'), ('bytea_output', 'hex')) AS v(name, value)`

const settingValues = `('default_transaction_isolation', 'read committed'), ('plan_cache_mode', 'force_generic_plan'),
    ('enable_seqscan', 'off'), ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off'), ('jit', 'off'),
    ('tcp_keepalives_idle', least(15, current_setting('tcp_keepalives_idle')::int)::text),
    ('tcp_keepalives_interval', least(5, current_setting('tcp_keepalives_interval')::int)::text),
    ('tcp_user_timeout', CASE WHEN version() LIKE '%linux%'
        THEN least(20000, coalesce(nullif(current_setting('tcp_user_timeout')::int, 0), 20000))::text ELSE '0' END),
    ('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END)`

// settingsSQL gives a session of the store its settings again, after RESET ALL.
const settingsSQL = `SELECT count(set_config(v.name, v.value, false)) FROM ` + ownSettings

// settingsTextSQL is settingsSQL for a session whose answers are text.
const settingsTextSQL = `SELECT count(set_config(v.name, v.value, false)) FROM ` + textSettings

// sessionSQL begins a session of the store, in one round trip, if the session is the connection's
// own. It is if the process that the server named when it let us in, $3, is the one that executes
// this: a pooler, whatever it pools, names one of its invention. Then nothing is touched, because
// the session may be anybody's in a moment, and answers false; $4 takes it all the same. The
// settings are no start-up parameters, because poolers refuse these.
//
// It takes the lock that shows that the store's process lives: session-level, shared, under the
// number of the store. Every session has it, so the lock is free when the last session has ended,
// and not when one of them, whichever, could not be opened again. When the process dies, the kernel
// closes its sockets, and the server frees the lock within a moment. Whoever looks whether the lock
// is free holds it for microseconds, see watchSQL; else nothing waits here.
//
// And it answers which server and database it has led to, see epoch, and whether that keeps what it
// has acknowledged. The answer is text, in which a time would follow DateStyle, so it is a number
// of microseconds.
const sessionSQL = sessionHead + ownSettings + sessionTail

// sessionTextSQL is sessionSQL for a session whose answers are text.
const sessionTextSQL = sessionHead + textSettings + sessionTail

const sessionHead = `
SELECT o.own, CASE WHEN o.own THEN pg_advisory_lock_shared($1::int, $2::int)::text END,
       (SELECT count(set_config(v.name, v.value, false)) FROM `

const sessionTail = ` WHERE o.own),
       (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
       current_setting('fsync'), current_setting('full_page_writes')
FROM (SELECT $4::boolean OR pg_backend_pid() = $3::bigint AS own OFFSET 0) o`

// identitySQL answers which server and database the pool leads to.
const identitySQL = `SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())`

// textFormsSQL tells how a session writes times and bytes as text.
const textFormsSQL = `SELECT current_setting('DateStyle'), current_setting('bytea_output')`

// sessionClass is the first key of the locks that show that a process lives; the second is the
// number of its store.
func sessionClass(schema string) int32 { return int32(lockClass(schema + "/session")) }

// sessions opens the store's connections, in the pool and beside it, and hears when one is
// answered. Those beside the pool, the listener's and the lifeline, are opened where
// [Options.ListenDSN] leads, if it is set.
type sessions struct {
	s       *Store
	process int32           // drawn; the number of the store
	beside  *pgx.ConnConfig // for connections beside the pool
	lasting bool            // whether connections beside the pool have sessions of their own
	silent  silence
	pooling *pooling
	strayed atomic.Int64 // when it was last said that ListenDSN leads elsewhere, in Unix seconds
}

// session is what the store knows of a connection. Whoever has the connection has it.
type session struct {
	opened   time.Time // when it had its lock; zero for a session without one
	answered time.Time // when the server last answered on it
}

// sessionKey is where a connection keeps its session.
const sessionKey = "reprise.session"

// sessionOf returns the session of a connection of the store's.
func sessionOf(c *pgx.Conn) *session {
	if n, ok := c.PgConn().CustomData()[sessionKey].(*session); ok {
		return n
	}
	n := &session{answered: time.Now()}
	c.PgConn().CustomData()[sessionKey] = n
	return n
}

// ofAStore tells whether a connection is one of a store's. User code has such a one as the body of
// a step only.
func ofAStore(c *pgx.Conn) bool {
	return c != nil && c.PgConn().CustomData()[sessionKey] != nil
}

// identity is a server, by its start, and a database of it.
type identity struct {
	server   time.Time
	database uint32
}

func (i identity) is(o identity) bool { return i.server.Equal(o.server) && i.database == o.database }

// heard notes that the server has answered a request: for the connection, and, if its session shows
// that the process lives, for every node of the store.
func (n *sessions) heard(c *pgx.Conn, sent time.Time) {
	s := sessionOf(c)
	if s.answered = time.Now(); !s.opened.IsZero() {
		n.s.roster.each(func(m *member) { m.contact.heard(s.opened, sent) })
	}
}

// configure is called before each connection is opened, with its own configuration.
func (n *sessions) configure(ctx context.Context, c *pgx.ConnConfig) error {
	if n.s.o.BeforeConnect != nil {
		if err := n.s.o.BeforeConnect(ctx, c); err != nil {
			return err
		}
	}
	c.DialFunc = oncePlain(c, &n.s.traffic)
	return nil
}

// begin is called with every connection of the pool before its first use, unless the pool is behind
// a transaction pooler.
func (n *sessions) begin(ctx context.Context, c *pgx.Conn) error {
	return n.enter(ctx, c, func(at found) error {
		n.warnUnsafe(ctx, c, &at)
		return nil
	})
}

// enter begins a session that lasts. check may refuse where it has led to.
func (n *sessions) enter(ctx context.Context, c *pgx.Conn, check func(found) error) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	sql := sessionSQL
	if n.s.o.Unprepared {
		sql = sessionTextSQL
	}
	take := func(anyway bool) (own bool, at found, err error) {
		var server int64
		err = c.QueryRow(ctx, sql, pgx.QueryExecModeExec, sessionClass(n.s.o.Schema), n.process, int64(c.PgConn().PID()), anyway).
			Scan(&own, nil, nil, &server, &at.database, &at.fsync, &at.pages)
		at.server = time.UnixMicro(server)
		return own, at, err
	}
	own, at, err := take(false)
	if err == nil && !own {
		if err = n.pooling.check(ctx, c); err == nil {
			_, at, err = take(true)
		}
	}
	if err == nil {
		err = check(at)
	}
	if err != nil {
		return err
	}
	sessionOf(c).opened = time.Now()
	n.s.roster.each(func(m *member) { m.epoch.connected(at.server, at.database) })
	return nil
}

// connect opens a connection beside the pool, with a session of its own.
func (n *sessions) connect(ctx context.Context) (*pgx.Conn, error) {
	config := n.beside.Copy()
	if err := n.configure(ctx, config); err != nil {
		return nil, err
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	check := func(found) error { return nil }
	if n.s.o.ListenDSN != "" {
		check = func(at found) error { return n.together(ctx, at.identity) }
	}
	if err = n.enter(ctx, c, check); err != nil {
		hangUp(c)
		if n.s.o.ListenDSN != "" && (errors.Is(err, errPooled) || errors.Is(err, errPooledStatements)) {
			err = errListenPooled
		}
		return nil, err
	}
	return c, nil
}

// together tells whether a connection beside the pool has led to the pool's server and database.
// Whoever renewed leases elsewhere would be dead here.
func (n *sessions) together(ctx context.Context, beside identity) error {
	var pool identity
	err := n.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var server int64
		err := c.QueryRow(ctx, identitySQL, pgx.QueryExecModeExec).Scan(&server, &pool.database)
		pool.server = time.UnixMicro(server)
		return err
	})
	if err != nil || pool.is(beside) {
		return err
	}
	now := time.Now().Unix()
	if last := n.strayed.Load(); now-last >= int64(strayedEvery.Seconds()) && n.strayed.CompareAndSwap(last, now) {
		n.s.o.Logger.WarnContext(ctx, "postgres.Options.ListenDSN leads to another server or database than the connection string; "+
			"hints between processes are missing until both lead to the same")
	}
	return errStrayed
}

// usable is called before a connection of the pool is handed out, and tells whether it is: else the
// pool closes it and looks for another one.
func (n *sessions) usable(ctx context.Context, c *pgx.Conn) (bool, error) {
	s := sessionOf(c)
	if n.silent.covers(s.answered) {
		return false, nil
	}
	if time.Since(s.answered) < quietAfter {
		return true, nil
	}
	sent := time.Now()
	try, cancel := context.WithTimeout(ctx, silentAfter)
	defer cancel()
	err := c.Ping(try)
	switch {
	case err == nil:
		n.heard(c, sent)
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	n.silent.since(sent, time.Now())
	return false, nil
}

// discard closes a connection whose session is spent, so that the next call opens another one.
// Where one session is read-only the others of the pool are too: the address leads to another
// server now, or led to another one when they were opened. All of them are opened anew. Where a
// request that was sent then has got no answer for a while, those that have not answered since are
// not used any more either.
func (n *sessions) discard(c *pgx.Conn, sent time.Time, err error) {
	if timedOut(err) {
		n.silent.since(sent, time.Now())
	}
	if !spent(err) {
		return
	}
	hangUp(c)
	if readOnly(err) {
		n.s.pool.Reset()
	}
}

// endSessionSQL ends a session of the store that is in a transaction. It is one of the store's if
// its process has the lock of the store's sessions. The server may have given the number of the
// process to another session of the store by then, which would be ended in its place: its call is
// repeated, as after every lost connection.
const endSessionSQL = `
SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.pid = $1::bigint AND l.locktype = 'advisory' AND l.classid = $2::bigint::oid AND l.objid = $3::bigint::oid AND l.objsubid = 2
  AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND a.xact_start IS NOT NULL`

// end ends the session of a connection that is closed on this side, if the session is known:
// behind a pooler it is not, and the pooler looks after it. It asks until the server has answered:
// other connections may have fallen silent too, or the server refuses new ones for a while, and
// what a step has locked would stay locked against its next attempt.
func (n *sessions) end(c *pgx.Conn) {
	if sessionOf(c).opened.IsZero() {
		return
	}
	pid := int64(c.PgConn().PID())
	n.s.hints.spawn(func(ctx context.Context) {
		for ctx.Err() == nil && !n.endOnce(ctx, pid) {
			sleep(ctx, endPause)
		}
	})
}

// endOnce tells whether the server has answered.
func (n *sessions) endOnce(ctx context.Context, pid int64) bool {
	ctx, cancel := context.WithTimeout(ctx, endTimeout)
	defer cancel()
	err := n.s.call(ctx, func(ctx context.Context, other *pgx.Conn) error {
		_, err := other.Exec(ctx, endSessionSQL, pid, int64(uint32(sessionClass(n.s.o.Schema))), int64(uint32(n.process)))
		return err
	})
	return lasts(err) || !errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded)
}

// check is called when a store opens: an address that cannot serve is refused then, and not when
// work has begun.
func (n *sessions) check(ctx context.Context) error {
	err := n.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		if !n.s.o.Pooler {
			return nil // its session has begun, see enter
		}
		if err := begins(ctx, c); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, endSQL); err != nil {
			return err
		}
		if err := n.askUnsafe(ctx, c); err != nil {
			return err
		}
		return textForms(ctx, c)
	})
	if err == nil && n.s.o.ListenDSN != "" {
		var c *pgx.Conn
		if c, err = n.connect(ctx); err == nil {
			hangUp(c)
		}
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused // whoever tries again later finds the same
	}
	if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == "08P01" {
		return fmt.Errorf("%w (a pooler refuses most start-up parameters; leave them out of the connection string)", err)
	}
	return err
}

// textForms refuses sessions that write times or bytes in a form that cannot be read. Behind a
// pooler answers are text, and nothing may be set in a session that is anybody's in a moment.
// Sessions of the store's own answer in binary, and users' statements keep the settings that they
// have.
func textForms(ctx context.Context, c *pgx.Conn) error {
	var dates, bytes string
	if err := c.QueryRow(ctx, textFormsSQL, pgx.QueryExecModeExec).Scan(&dates, &bytes); err != nil {
		return err
	}
	for _, s := range []struct{ name, value, want string }{{"datestyle", dates, "ISO"}, {"bytea_output", bytes, "hex"}} {
		if !strings.HasPrefix(strings.ToLower(s.value), strings.ToLower(s.want)) {
			return &refusal{fmt.Sprintf("the sessions behind the pooler have %s = '%s', and only '%s' can be read there: "+
				"ALTER ROLE … SET %s = '%s' for the role of the journal, then let the pooler open its connections anew, or connect without a pooler",
				s.name, s.value, s.want, s.name, s.want)}
		}
	}
	return nil
}
