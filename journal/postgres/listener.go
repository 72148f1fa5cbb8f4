package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// lockClearSQL says that the locks of these nodes are not held right now, so their being free means
// nothing. It comes first on every new connection of the listener: the session before may have died
// with its locks while this process lives on, and the others must wait for the lease then.
const lockClearSQL = `UPDATE reprise.nodes n SET locked_on = NULL WHERE n.id = ANY ($1::int[])`

// lockAcquireSQL takes the session-level lock that tells other nodes that this process lives. It
// does not wait. It fails while the server has not noticed yet that an earlier session of this
// process is gone; the next round of the listener tries again.
const lockAcquireSQL = `SELECT pg_try_advisory_lock($1::int, $2::int)`

// lockRecordSQL says that the node's lock is held, and on which start of the server. Only from here
// on does a free lock mean death, because a restart of the server frees all locks without anybody
// having died. A node that was declared dead stays so.
const lockRecordSQL = `UPDATE reprise.nodes n SET locked_on = pg_postmaster_start_time() WHERE n.id = $1::int AND n.expires_at > '-infinity'`

// lockReleaseSQL lets go of the lock of a node that has left.
const lockReleaseSQL = `SELECT pg_advisory_unlock($1::int, $2::int)`

// holdLock makes the listener hold a node's lock from now on. It returns at once; until the lock is
// recorded, others judge the node by its lease.
func (h *hints) holdLock(node journal.NodeID) {
	if h.s.o.Pooler {
		return
	}
	h.changeMembers(func() { h.members[node] = true })
	h.startLoop(&h.listenOnce, h.listenLoop)
}

// releaseLock makes the listener let go of it.
func (h *hints) releaseLock(node journal.NodeID) { h.changeMembers(func() { delete(h.members, node) }) }

// changeMembers changes the wanted nodes and interrupts the listener's wait. The counter makes a
// change visible that comes between the listener's look at the nodes and its wait.
func (h *hints) changeMembers(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fn()
	h.changes++
	if h.wake != nil {
		h.wake()
	}
}

// listenLoop keeps one connection for hints and locks, with a pause between tries that grows while
// none succeeds. A connection that lasted resets the pause, so that one break is answered quickly
// and a server that is gone is not asked all the time.
func (h *hints) listenLoop(ctx context.Context) {
	pause := time.Duration(reconnectMin)
	for ctx.Err() == nil {
		began := time.Now()
		h.listenSession(ctx)
		if time.Since(began) > reconnectMax {
			pause = reconnectMin
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		pause = min(2*pause, reconnectMax)
	}
}

// session is one connection of the listener. Its locks are the server's session-level ones, so they
// end exactly when the session does: when the process dies, the kernel closes the socket, and the
// server frees them within a moment. This is how others learn of a death before the lease has run
// out.
//
// Only listenLoop's goroutine uses it.
type session struct {
	h    *hints
	conn *pgx.Conn
	held map[journal.NodeID]bool
	seen int // the changes of the wanted nodes that syncLocks has acted on
}

// listenSession listens until the connection fails or ctx ends. The scan comes after LISTEN, so
// whatever is announced is either found by the scan or heard.
func (h *hints) listenSession(ctx context.Context) {
	conn, err := pgx.ConnectConfig(ctx, h.s.pool.Config().ConnConfig)
	if err != nil {
		return
	}
	se := &session{h: h, conn: conn, held: map[journal.NodeID]bool{}}
	defer se.close()
	if se.prepare(ctx) != nil {
		return
	}
	h.setListening(true)
	defer h.setListening(false)
	h.publish(driver.Hint{Kind: driver.HintScan}) // whatever was sent before LISTEN is lost
	for se.syncLocks(ctx) == nil && se.wait(ctx) == nil {
	}
}

// setListening notes whether the listener is connected, for Watch.
func (h *hints) setListening(listening bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listening = listening
}

func (se *session) close() {
	ctx, cancel := context.WithTimeout(context.Background(), listenPingTimeout)
	defer cancel()
	_ = se.conn.Close(ctx)
}

// prepare listens first: what is published from here on is heard. Then it says that no lock is held
// on this session yet. All its statements must be answered in time, because the connection may be
// dead.
func (se *session) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if _, err := se.conn.Exec(ctx, `LISTEN "`+se.h.channel+`"`); err != nil {
		return err
	}
	var ids []int32
	for _, n := range se.wanted() {
		ids = append(ids, int32(n))
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := se.conn.Exec(ctx, se.h.s.sql.lockClear, ids)
	return err
}

// wanted lists the nodes whose locks are to be held, and notes as of which change.
func (se *session) wanted() []journal.NodeID {
	se.h.mu.Lock()
	defer se.h.mu.Unlock()
	se.seen = se.h.changes
	list := make([]journal.NodeID, 0, len(se.h.members))
	for n := range se.h.members {
		list = append(list, n)
	}
	return list
}

// syncLocks takes the locks that are wanted and frees those that no longer are. A lock that cannot
// be had is not waited for: the loop comes back.
func (se *session) syncLocks(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, listenPingTimeout)
	defer cancel()
	class := int32(lockClass(se.h.s.o.Schema))
	wanted := map[journal.NodeID]bool{}
	for _, n := range se.wanted() {
		wanted[n] = true
		if se.held[n] {
			continue
		}
		var taken bool
		if err := se.conn.QueryRow(ctx, lockAcquireSQL, class, int32(n)).Scan(&taken); err != nil {
			return err
		}
		if !taken {
			continue
		}
		se.held[n] = true
		if _, err := se.conn.Exec(ctx, se.h.s.sql.lockRecord, int32(n)); err != nil {
			return err
		}
	}
	for n := range se.held {
		if wanted[n] {
			continue
		}
		if _, err := se.conn.Exec(ctx, lockReleaseSQL, class, int32(n)); err != nil {
			return err
		}
		delete(se.held, n)
	}
	return nil
}

// wait returns after a notification, a change of the wanted locks, or a silence that the server
// broke when asked. A connection whose other end is gone without a word fails here.
func (se *session) wait(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, listenPing)
	defer cancel()
	if !se.interruptible(cancel) {
		return nil
	}
	n, err := se.conn.WaitForNotification(waiting)
	se.h.mu.Lock()
	se.h.wake = nil
	se.h.mu.Unlock()
	switch {
	case err == nil:
		se.h.receive(n.Payload)
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case waiting.Err() == nil || se.conn.IsClosed():
		return err
	}
	ping, cancelPing := context.WithTimeout(ctx, listenPingTimeout)
	defer cancelPing()
	return se.conn.Ping(ping)
}

// interruptible publishes cancel as the way to interrupt the wait, unless the wanted nodes have
// changed since wanted looked: under the same mutex, so no change falls between the look and the
// wait.
func (se *session) interruptible(cancel context.CancelFunc) bool {
	se.h.mu.Lock()
	defer se.h.mu.Unlock()
	if se.seen != se.h.changes {
		return false
	}
	se.h.wake = cancel
	return true
}
