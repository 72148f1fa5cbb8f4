package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// sessionSQL begins a session of the store, in one round trip.
//
// It takes the lock that shows that the store's process lives: session-level, shared, under the
// number of the store. Every session has it, so the lock is free when the last session has ended,
// and not when one of them, whichever, could not be opened again. When the process dies, the kernel
// closes its sockets, and the server frees the lock within a moment. Whoever looks whether the lock
// is free holds it for microseconds, see watchSQL; else nothing waits here.
//
// It makes commits wait for the disk, and for the disk of a synchronous standby if there is one,
// whatever the server, the database or the role says (J10). A setting that waits for more is kept.
//
// And it answers which server and database it has led to: see epoch.
const sessionSQL = `
SELECT pg_advisory_lock_shared($1::int, $2::int), pg_postmaster_start_time(),
       (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
       CASE WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
            THEN set_config('synchronous_commit', 'on', false) END`

// safeSQL tells whether the server keeps what it has acknowledged when its machine loses power.
const safeSQL = `SELECT current_setting('fsync'), current_setting('full_page_writes'), pg_postmaster_start_time()::text`

// sessionClass is the first key of the locks that show that a process lives; the second is the
// number of its store.
func sessionClass(schema string) int32 { return int32(lockClass(schema + "/session")) }

// sessions opens the store's connections, in the pool and beside it, and hears when one is
// answered.
type sessions struct {
	s       *Store
	process int32 // drawn; the number of the store
}

// openedKey is where a session keeps the time at which it had its lock.
const openedKey = "reprise.opened"

// openedAt returns that time, zero for a session that holds no lock.
func openedAt(c *pgx.Conn) time.Time {
	at, _ := c.PgConn().CustomData()[openedKey].(time.Time)
	return at
}

// heard notes for every node of the store that the server has answered a request.
func (n *sessions) heard(c *pgx.Conn, sent time.Time) {
	if opened := openedAt(c); !opened.IsZero() {
		n.s.roster.each(func(m *member) { m.contact.heard(opened, sent) })
	}
}

// begin is called with every connection that is not behind a pooler, before its first use.
func (n *sessions) begin(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var server time.Time
	var database uint32
	err := c.QueryRow(ctx, sessionSQL, pgx.QueryExecModeExec, sessionClass(n.s.o.Schema), n.process).Scan(nil, &server, &database, nil)
	if err != nil {
		return err
	}
	c.PgConn().CustomData()[openedKey] = time.Now()
	n.s.roster.each(func(m *member) { m.epoch.connected(server, database) })
	return nil
}

// connect opens a connection beside the pool.
func (n *sessions) connect(ctx context.Context) (*pgx.Conn, error) {
	config := n.s.pool.Config().ConnConfig // a copy
	if n.s.o.BeforeConnect != nil {
		if err := n.s.o.BeforeConnect(ctx, config); err != nil {
			return nil, err
		}
	}
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if n.s.o.Pooler {
		return c, nil
	}
	if err := n.begin(ctx, c); err != nil {
		hangUp(c)
		return nil, err
	}
	return c, nil
}

// discard closes a connection whose session is spent, so that the next call opens another one.
// Where one session is read-only the others of the pool are too: the address leads to another
// server now, or led to another one when they were opened. All of them are opened anew.
func (n *sessions) discard(c *pgx.Conn, err error) {
	if !spent(err) {
		return
	}
	hangUp(c)
	if readOnly(err) {
		n.s.pool.Reset()
	}
}

// hangUp closes a connection, whose other end may not answer.
func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), hangUpTimeout)
	defer cancel()
	_ = c.Close(ctx)
}

// warned are the servers, by address and start time, of which this process has been warned.
var warned sync.Map

// warnUnsafe says, once in a process, that a server is set to lose what it has acknowledged. It is
// no reason to refuse: such servers are made for tests.
func (n *sessions) warnUnsafe(ctx context.Context) error {
	var fsync, pages, address, began string
	err := n.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		address = c.PgConn().Conn().RemoteAddr().String()
		return c.QueryRow(ctx, safeSQL).Scan(&fsync, &pages, &began)
	})
	if err != nil || fsync == "on" && pages == "on" {
		return err
	}
	if _, before := warned.LoadOrStore(address+" "+began, true); !before {
		n.s.o.Logger.WarnContext(ctx, "the server may lose what it has acknowledged, or its whole database, when its machine stops; "+
			"set fsync and full_page_writes to on", "server", address, "fsync", fsync, "full_page_writes", pages)
	}
	return nil
}
