package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// safeSQL tells, where sessions are anybody's, whether the server keeps what it has acknowledged
// when its machine loses power.
const safeSQL = `SELECT (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint, current_setting('fsync'), current_setting('full_page_writes')`

// found is what a session has led to.
type found struct {
	identity
	fsync, pages string // whether the server keeps what it has acknowledged
}

// warned are the servers, by address and start time, of which this process has been warned.
var warned sync.Map

// warnUnsafe says, once in a process, that a server is set to lose what it has acknowledged. It is
// no reason to refuse: such servers are made for tests.
func (n *sessions) warnUnsafe(ctx context.Context, c *pgx.Conn, at *found) {
	if at.fsync == "on" && at.pages == "on" {
		return
	}
	address := c.PgConn().Conn().RemoteAddr().String()
	if _, before := warned.LoadOrStore(address+" "+at.server.String(), true); !before {
		n.s.o.Logger.WarnContext(ctx, "the server may lose what it has acknowledged, or its whole database, when its machine stops; "+
			"set fsync and full_page_writes to on", "server", address, "fsync", at.fsync, "full_page_writes", at.pages)
	}
}

// askUnsafe asks what enter is told of sessions that last.
func (n *sessions) askUnsafe(ctx context.Context, c *pgx.Conn) error {
	var at found
	var server int64
	if err := c.QueryRow(ctx, safeSQL).Scan(&server, &at.fsync, &at.pages); err != nil {
		return err
	}
	at.server = time.UnixMicro(server)
	n.warnUnsafe(ctx, c, &at)
	return nil
}
