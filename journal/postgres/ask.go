package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
)

// watchSQL is the question for a sign of life, and a use is made of it: it tells whether the node's
// neighbour, the next one in a ring of all that have offered their sessions as evidence, has no
// session left. So each death is noticed by one node within a part of a grace, and no node asks
// about more than one.
//
// The lock of the neighbour's sessions is tried and let go inside one expression, so it is held for
// microseconds, and by no transaction. To wait for the lock instead would be heard at once and need
// no questions, but a statement that waits has a snapshot, and the horizon of the whole database
// would stand still with it: no dead row could be removed. Postgres knows no way to wait without
// one.
//
// The neighbour is the next row behind the node's own in the order of the primary key, or the first
// row of all, so the question costs the same however many nodes there are.
const watchSQL = `
SELECT coalesce((
    SELECT CASE WHEN pg_try_advisory_lock($2::int, n.process) THEN pg_advisory_unlock($2::int, n.process) ELSE false END
    FROM (SELECT coalesce((
        SELECT n.process FROM reprise.nodes n
        WHERE n.id > $1::int AND n.process <> $3::int AND n.server = pg_postmaster_start_time() AND n.expires_at > now()
        ORDER BY n.id LIMIT 1), (
        SELECT n.process FROM reprise.nodes n
        WHERE n.id < $1::int AND n.process <> $3::int AND n.server = pg_postmaster_start_time() AND n.expires_at > now()
        ORDER BY n.id LIMIT 1)) AS process) n), false)`

// answer is that to a question.
type answer struct {
	look bool
	err  error
}

// Contact implements driver.Membership.
func (m *member) Contact() (last time.Time, judged bool) { return m.contact.state() }

// Judged implements driver.Membership.
func (m *member) Judged() <-chan struct{} { return m.contact.begun }

// Ask implements driver.Membership. It asks on the lifeline. If that is new it renews the lease:
// until then no answer on it counts, see contact. If the lifeline is not free, because there is
// none or an earlier request has got no answer, it asks on the listener and the pool instead.
//
// A question outlives the call. What is late for the caller is not late for the connection, which
// would be closed if the question were given up.
func (m *member) Ask(ctx context.Context) (bool, error) {
	if m.s.hints.ctx.Err() != nil {
		return false, journal.ErrStoreClosed
	}
	done := make(chan answer, 1)
	c := m.s.lifeline.taken()
	if c != nil {
		began := m.s.hints.spawn(func(life context.Context) {
			defer m.s.lifeline.put(c)
			life, cancel := context.WithTimeout(life, lifelineTimeout)
			defer cancel()
			var a answer
			sent := time.Now()
			if m.contact.proves(sessionOf(c).opened) {
				a.look, a.err = m.watch(life, c)
			} else {
				_, _, a.err = m.renewOn(life, c)
			}
			m.s.sessions.discard(c, sent, a.err)
			done <- a
		})
		if !began {
			m.s.lifeline.put(c)
		}
	} else {
		m.s.hints.ping()
		m.ping(done)
	}
	select {
	case a := <-done:
		return a.look, translate(ctx, a.err, true)
	case <-ctx.Done():
		return false, fmt.Errorf("%w: %w", journal.ErrUnavailable, context.Cause(ctx))
	}
}

// watch sends watchSQL.
func (m *member) watch(ctx context.Context, c *pgx.Conn) (look bool, err error) {
	sent := time.Now()
	err = c.QueryRow(ctx, m.s.sql.member.watch, int32(m.id), sessionClass(m.s.o.Schema), m.s.sessions.process).Scan(&look)
	if err == nil {
		m.s.sessions.heard(c, sent)
	}
	if look {
		m.alarmed.Store(true)
	}
	return look, err
}

// ping asks on the pool, unless the last such question has not been answered yet.
func (m *member) ping(done chan<- answer) {
	if !m.pinging.CompareAndSwap(false, true) {
		return
	}
	began := m.s.hints.spawn(func(ctx context.Context) {
		defer m.pinging.Store(false)
		done <- answer{err: m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) })}
	})
	if !began {
		m.pinging.Store(false)
	}
}
