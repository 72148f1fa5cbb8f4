package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// lookSuspectsSQL looks for nodes to reap: declared dead but not forgotten, because rows were
// locked when their tasks were freed; lease run out; or no session left of a process that has
// offered its sessions as evidence. The last is told apart, with the number of renewals, because it
// needs a second look: see contact. It says nothing if the newest renewal was made on a server that
// has restarted since, or on another one: there is no session then of anybody. A node does not
// judge those of its own process.
//
// It locks nothing, and what it finds are only suspects; reapMarkSQL decides.
//
// What it reads grows with the number of nodes, so not all nodes look each time, see mustLook. It
// tries the locks of the sessions as watchSQL does; to list all locks of the server would cost
// several times as much.
const lookSuspectsSQL = `
SELECT s.id, s.ended, s.renewals, (extract(epoch FROM s.grace) * 1000000)::bigint
FROM (
    SELECT n.id, n.renewals, n.grace,
           n.expires_at < now() OR (SELECT m.lost_at FROM reprise.members m WHERE m.node = n.id) IS NOT NULL AS ended,
           CASE WHEN n.process <> $2::int AND n.server = pg_postmaster_start_time() THEN
               CASE WHEN pg_try_advisory_lock($3::int, n.process) THEN pg_advisory_unlock($3::int, n.process) ELSE false END
           ELSE false END AS silent
    FROM reprise.nodes n WHERE n.id <> $1::int) s
WHERE s.ended OR s.silent
ORDER BY s.id`

// lookNodesSQL counts the nodes.
const lookNodesSQL = `SELECT count(*) FROM reprise.members m`

// lookNextSQL tells when a claim by the node is worth it, by one probe of tasks_claim_idx for each
// route and priority and one of tasks_owner_idx: an idle node does not claim. The last parameter is
// where the search begins, see marks.
const lookNextSQL = `
SELECT least((
    SELECT min(x.visible_at)
    FROM unnest($2::text[], $3::text[], $4::int[]) AS r(queue, workflow, version)
    CROSS JOIN generate_series(1, 5) AS p(priority)
    CROSS JOIN LATERAL (
        SELECT t.visible_at FROM reprise.tasks t
        WHERE t.owner = 0 AND t.state < 2 AND t.visible_at < 'infinity' AND t.visible_at >= $5::timestamptz
          AND t.queue = r.queue AND t.workflow = r.workflow AND t.version = r.version AND t.priority = p.priority
        ORDER BY t.visible_at LIMIT 1) x
), (
    SELECT t.visible_at FROM reprise.tasks t
    WHERE t.owner = $1::int AND t.owner > 0 AND t.visible_at < 'infinity' ORDER BY t.visible_at LIMIT 1)), now()`

// suspicion is what a node has seen of another one that has no session left.
type suspicion struct {
	since    time.Time // local time at which the first look in a row was answered
	renewals int64     // of the suspect, as of that look
	grace    time.Duration
}

// Look implements driver.Membership.
func (m *member) Look(ctx context.Context) (driver.Look, error) {
	var l driver.Look
	silent := map[journal.NodeID]suspicion{}
	all, nodes := m.mustLook(), 0
	search := m.s.marks.begin(m.marked, 1)
	var next pgtype.Timestamptz
	var now time.Time
	err := m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		l = driver.Look{Polled: true}
		clear(silent)
		var p pipeline
		if all {
			p.query(m.s.sql.member.lookNodes, each(func(row pgx.CollectableRow) error { return row.Scan(&nodes) }))
			p.query(m.s.sql.member.lookSuspects, each(func(row pgx.CollectableRow) error {
				var id journal.NodeID
				var ended bool
				var renewals, grace int64
				if err := row.Scan(&id, &ended, &renewals, &grace); err != nil {
					return err
				}
				l.Suspects = append(l.Suspects, id)
				if !ended {
					silent[id] = suspicion{renewals: renewals, grace: time.Duration(grace) * time.Microsecond}
				}
				return nil
			}), int32(m.id), m.s.sessions.process, sessionClass(m.s.o.Schema))
		}
		p.query(m.s.sql.member.lookNext, each(func(row pgx.CollectableRow) error { return row.Scan(&next, &now) }),
			int32(m.id), m.queues, m.workflows, m.versions, search.after())
		return p.send(ctx, c)
	})
	if err != nil {
		if all {
			m.alarmed.Store(true)
		}
		return driver.Look{}, err
	}
	l.NextDue = timeOf(next)
	if search.end(now); !l.NextDue.IsZero() && l.NextDue.Before(now) {
		search.end(l.NextDue)
	}
	if all {
		m.nodes.Store(int64(nodes))
	}
	l.Wait = m.suspect(silent)
	if len(silent) < len(l.Suspects) {
		l.Wait = 0
	}
	return l, nil
}

// mustLook tells whether a look is to look at the other nodes.
//
// If every node did so each time, what it costs would grow with the square of their number. So each
// draws lots, such that about looksPerRound of all nodes look in the time in which each of them has
// the opportunity. Nobody has to be alive for another one to look, and who it is does not matter,
// since anybody may reap. A node that was never counted, or is one of few, always looks.
//
// Two things are not left to lots. A node that has heard of a death looks: by watchSQL the death of
// a process is noticed within a part of its grace, and no certain node has to be alive for that.
// And a node that has suspects goes on to look at them, because only looks in a row condemn. So
// lots are for what the questions do not tell: leases that run out, which take many renewals. The
// count may be out of date; the next look mends it, and behind a pooler, where there are no
// questions, every node looks.
func (m *member) mustLook() bool {
	alarmed := m.alarmed.Swap(false)
	m.mu.Lock()
	defer m.mu.Unlock()
	return alarmed || m.s.o.Pooler || len(m.silent) > 0 || rand.Float64()*float64(m.nodes.Load()) < looksPerRound
}

// suspect takes the nodes over that a look has found without a session, and returns the time until
// the grace of the first of them is over; a later look returns that of the next. Only looks in a
// row count: a node that was seen with a session, or has renewed its lease, starts anew.
func (m *member) suspect(silent map[journal.NodeID]suspicion) (wait time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, first := time.Now(), true
	for id, s := range silent {
		s.since = now
		if before, ok := m.silent[id]; ok && before.renewals == s.renewals {
			s.since = before.since
		}
		silent[id] = s
		if left := max(s.grace-now.Sub(s.since), 0); first || left < wait {
			wait, first = left, false
		}
	}
	m.silent = silent
	return wait
}

// condemned returns those suspects that have been without a session for their grace, and their
// renewals.
func (m *member) condemned(suspects []journal.NodeID) (ids []int32, renewals []int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids, renewals = []int32{}, []int64{}
	for _, id := range suspects {
		if s, ok := m.silent[id]; ok && time.Since(s.since) >= s.grace {
			ids, renewals = append(ids, int32(id)), append(renewals, s.renewals)
		}
	}
	return ids, renewals
}
