package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
)

// watchSQL tells whether one of the other nodes that have offered their sessions as evidence has no
// session left. Few of many nodes ask it, see watches.
//
// The lock of each node's sessions is tried and let go inside one expression, so it is held for
// microseconds, and by no transaction. To wait for a lock instead would be heard at once and need
// no questions, but a statement that waits has a snapshot, and the horizon of the whole database
// would stand still with it: no dead row could be removed. Postgres knows no way to wait without
// one.
//
// What it reads grows with the number of nodes: 200 take a fifth of a millisecond. The subquery
// keeps the server from trying locks of nodes that have offered nothing.
const watchSQL = `
SELECT EXISTS (
    SELECT FROM (
        SELECT n.process FROM reprise.nodes n
        WHERE n.id <> $1::int AND n.process <> $3::int AND n.server = pg_postmaster_start_time() AND n.expires_at > now()
        ORDER BY n.id OFFSET 0) n
    WHERE CASE WHEN pg_try_advisory_lock($2::int, n.process) THEN pg_advisory_unlock($2::int, n.process) ELSE false END)`

// seen is the answer to a question.
type seen struct {
	look bool
	err  error
}

// Contact implements driver.Membership.
func (m *member) Contact() (last time.Time, judged bool) { return m.contact.state() }

// Judged implements driver.Membership.
func (m *member) Judged() <-chan struct{} { return m.contact.begun }

// Ask implements driver.Membership. It asks on the lifeline. If that is new it renews the lease:
// until then no answer on it counts, see contact. If the lifeline is not free, because there is
// none or an earlier request has got no answer, a node that needs a sign of life asks on the
// listener and the pool instead.
//
// A question outlives the call. What is late for the caller is not late for the connection, which
// would be closed if the question were given up.
func (m *member) Ask(ctx context.Context, need bool) (bool, error) {
	if m.s.hints.ctx.Err() != nil {
		return false, journal.ErrStoreClosed
	}
	watch := m.watches()
	if !need && !watch {
		return false, nil
	}
	done := make(chan seen, 1)
	c := m.s.lifeline.taken()
	switch {
	case c != nil:
		began := m.s.hints.spawn(func(life context.Context) {
			defer m.s.lifeline.put(c)
			life, cancel := context.WithTimeout(life, lifelineTimeout)
			defer cancel()
			done <- m.askOn(life, c, watch)
		})
		if !began {
			m.s.lifeline.put(c)
		}
	case need:
		m.s.hints.ping()
		m.ping(done)
	default:
		return false, nil
	}
	select {
	case a := <-done:
		return a.look, translate(ctx, a.err, true)
	case <-ctx.Done():
		return false, fmt.Errorf("%w: %w", journal.ErrUnavailable, context.Cause(ctx))
	}
}

// watches draws whether the node looks after the others now.
//
// Each look finds whoever has died, so it does not matter who looks, and that about watchesPerAsk
// of all nodes look between two questions is as soon as if each did. The count of nodes is that of
// the last look at them; a node that has not counted yet, or is one of few, always looks.
func (m *member) watches() bool { return rand.Float64()*float64(m.nodes.Load()) < watchesPerAsk }

// askOn asks on the lifeline. Every answer is a sign of life.
func (m *member) askOn(ctx context.Context, c *pgx.Conn, watch bool) (a seen) {
	sent := time.Now()
	switch {
	case !m.contact.proves(sessionOf(c).opened):
		_, _, a.err = m.renewOn(ctx, c)
	case watch:
		a.look, a.err = m.watch(ctx, c)
	default:
		if a.err = c.Ping(ctx); a.err == nil {
			m.s.sessions.heard(c, sent)
		}
	}
	m.s.sessions.discard(c, sent, a.err)
	return a
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
func (m *member) ping(done chan<- seen) {
	if !m.pinging.CompareAndSwap(false, true) {
		return
	}
	began := m.s.hints.spawn(func(ctx context.Context) {
		defer m.pinging.Store(false)
		done <- seen{err: m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error { return c.Ping(ctx) })}
	})
	if !began {
		m.pinging.Store(false)
	}
}
