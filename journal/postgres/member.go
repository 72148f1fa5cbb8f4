package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// joinSQL makes a node: its lease and its membership. The id comes from a sequence. A database that
// was restored may give one out that an earlier process had, and may even hold that one's rows; the
// incarnation, which the node has drawn, is what nobody else has. The newest incarnation of an id
// gets the rows, and the earlier one's statements find nothing from then on. What the earlier one
// owned is the new one's then, which compares it first.
//
// If there are other nodes, the node is judged by its sessions from the beginning, see contact.
const joinSQL = `
WITH lease AS (
    INSERT INTO reprise.nodes (name, routes, lease, started_at, expires_at, server, grace, process)
    VALUES ($1::text, $2::text::jsonb, $3::bigint * interval '1 microsecond', now(), now() + $3::bigint * interval '1 microsecond',
            pg_postmaster_start_time(), $5::bigint * interval '1 microsecond',
            CASE WHEN EXISTS (SELECT FROM reprise.members m WHERE m.lost_at IS NULL) THEN $6::int END)
    ON CONFLICT (id) DO UPDATE
    SET name = excluded.name, routes = excluded.routes, lease = excluded.lease, started_at = excluded.started_at,
        expires_at = excluded.expires_at, server = excluded.server, grace = excluded.grace, process = excluded.process,
        renewals = nodes.renewals + 1
    RETURNING id, renewals, server, process IS NOT NULL AS judged
), membership AS (
    INSERT INTO reprise.members (node, incarnation) SELECT l.id, $4::uuid FROM lease l
    ON CONFLICT (node) DO UPDATE SET incarnation = excluded.incarnation, lost_at = NULL
    RETURNING node, recalled
)
SELECT l.id, l.renewals, l.server, (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()), m.recalled,
       EXISTS (SELECT FROM reprise.tasks t WHERE t.owner = l.id AND t.owner > 0), l.judged
FROM lease l CROSS JOIN membership m`

// joinUnblockSQL lets blocked runs be tried by the code that has just come: a node that joins may
// be of the release that knows what the blocked one did not. Rows that are locked are being worked
// on and are skipped. The limit bounds how long the others stay locked; locks are taken in the
// order of run ids, like everywhere.
const joinUnblockSQL = `
WITH stuck AS MATERIALIZED (
    -- Rows that are locked are being worked on, so they are skipped.
    SELECT t.run_id FROM reprise.tasks t
    WHERE t.state = 1 AND t.owner = 0 AND t.visible_at > now()
      AND EXISTS (SELECT FROM unnest($1::text[], $2::text[], $3::int[]) AS r(queue, workflow, version)
                  WHERE r.queue = t.queue AND r.workflow = t.workflow AND r.version = t.version)
    ORDER BY t.run_id LIMIT $4::int
    FOR UPDATE OF t SKIP LOCKED
)
UPDATE reprise.tasks t SET visible_at = now() FROM stuck s WHERE t.run_id = ANY (ARRAY[s.run_id])`

// nodesSQL lists the nodes whose lease has not run out. It locks nothing.
const nodesSQL = `
SELECT n.id, n.name, n.routes::text, (extract(epoch FROM n.lease) * 1000000)::bigint,
       (extract(epoch FROM n.grace) * 1000000)::bigint, n.started_at, n.expires_at,
       EXISTS (SELECT FROM reprise.members m WHERE m.node = n.id AND m.lost_at IS NULL AND m.drain)
FROM reprise.nodes n
WHERE n.expires_at > now() AND EXISTS (SELECT FROM reprise.members m WHERE m.node = n.id AND m.lost_at IS NULL)
ORDER BY n.id`

// renewSQL extends the node's lease (J9), by primary key, and answers what epoch wants to know,
// whether there are other nodes, and what tells whether operators want something new: pauses of
// scopes are few, and all of them are counted. $3 is the offer to be judged by sessions, see
// contact; null for none.
//
// It locks the row of the node's own lease and no other, so renewals wait for nobody but a reaper
// that is marking this very node. Whoever comes second sees what the first wrote: a renewal that
// waited finds a lease of -infinity and returns no row, and the node learns that it is lost; a
// reaper that waited finds a fresh lease and does nothing. The row of the membership is only read,
// so appends, which share it, never hold a renewal up.
const renewSQL = `
WITH member AS MATERIALIZED (
    SELECT m.recalled, m.heeded, m.drain FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL
), me AS (
    UPDATE reprise.nodes n
    SET expires_at = now() + n.lease, renewals = n.renewals + 1, server = pg_postmaster_start_time(), process = $3::int
    WHERE n.id = $1::int AND n.expires_at > '-infinity' AND EXISTS (SELECT FROM member)
    RETURNING n.renewals
), paused AS MATERIALIZED (
    SELECT count(*) AS scopes, coalesce(max(p.number), 0) AS newest FROM reprise.pauses p
)
SELECT (SELECT me.renewals FROM me), (SELECT member.recalled FROM member), pg_postmaster_start_time(),
    (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()), clock_timestamp(),
    EXISTS (SELECT FROM reprise.members m WHERE m.node <> $1::int AND m.lost_at IS NULL),
    (SELECT paused.scopes FROM paused), (SELECT paused.newest FROM paused),
    (SELECT member.drain FROM member), (SELECT member.heeded FROM member)`

// leaveSQL marks the node: from here on no start makes it the owner, because startSQL looks for a
// member that is not lost. It comes before the tasks are handed back, or a start in between would
// leave a task with a node that is gone. Like a reaper's mark it comes under the lock that appends
// share.
const leaveSQL = `
WITH lease AS (
    UPDATE reprise.nodes n SET expires_at = '-infinity'
    WHERE n.id = $1::int AND EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid)
)
UPDATE reprise.members m SET lost_at = coalesce(m.lost_at, now()) WHERE m.node = $1::int AND m.incarnation = $2::uuid
RETURNING m.node`

// leaveFreeSQL hands tasks back, a bounded number at a time to keep the locks short. No strike is
// counted: the node leaves in good order. Rows that are locked by somebody else are left for the
// next round, or for a reaper.
const leaveFreeSQL = `
WITH batch AS MATERIALIZED (
    SELECT t.run_id FROM reprise.tasks t
    WHERE t.owner = $1::int AND t.owner > 0
      AND EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid)
    LIMIT $3::int FOR UPDATE OF t SKIP LOCKED
)
UPDATE reprise.tasks t SET owner = 0, unproven = false, link = 0, visible_at = now(), state = least(t.state, 3) -- J11
FROM batch b WHERE t.run_id = ANY (ARRAY[b.run_id])`

// leaveDeleteSQL forgets the node, unless it still owns something: then a reaper will find the row
// and finish.
const leaveDeleteSQL = `
WITH lease AS (
    DELETE FROM reprise.nodes n
    WHERE n.id = $1::int AND EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid)
      AND NOT EXISTS (SELECT FROM reprise.tasks t WHERE t.owner = n.id AND t.owner > 0)
    RETURNING n.id
)
DELETE FROM reprise.members m USING lease l WHERE m.node = ANY (ARRAY[l.id])`

// Join implements driver.Store.
func (s *Store) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	routes, err := driver.EncodeRoutes(&n)
	if err != nil {
		return nil, err
	}
	m := &member{s: s, incarnation: uuid.New(), lease: n.Lease, marked: markKey(n.Routes), contact: contact{begun: make(chan struct{}, 1)}}
	m.queues, m.workflows, m.versions = routeArrays(n.Routes)
	s.lifeline.open()
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		sent := time.Now()
		var p pipeline
		p.query(s.sql.member.join, each(func(row pgx.CollectableRow) error {
			var server time.Time
			var database uint32
			var renewals, recalled int64
			var owns, judged bool
			err := row.Scan(&m.id, &renewals, &server, &database, &recalled, &owns, &judged)
			m.epoch.joined(server, database, renewals, recalled, owns)
			m.contact.joined(sent, judged)
			return err
		}), n.Name, routes, n.Lease.Microseconds(), m.me(), n.Grace.Microseconds(), m.offer(true))
		p.exec(s.sql.member.joinUnblock, m.queues, m.workflows, m.versions, joinRetriesMax)
		return p.send(ctx, c)
	})
	if err != nil {
		return nil, err
	}
	_, judged := m.contact.state()
	m.peers.Store(judged)
	s.roster.add(m)
	s.hints.Notify([]driver.Hint{{Kind: driver.HintNode}}) // the others offer their sessions as evidence
	return m, nil
}

// Nodes implements driver.Store.
func (s *Store) Nodes(ctx context.Context) ([]journal.Node, error) {
	var list []journal.Node
	err := s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		list = nil
		rows, err := c.Query(ctx, s.sql.member.nodes)
		if err != nil {
			return err
		}
		return each(func(row pgx.CollectableRow) error {
			var n journal.Node
			var routes string
			var lease, grace int64
			err := row.Scan(&n.ID, &n.Name, &routes, &lease, &grace, &n.StartedAt, &n.ExpiresAt, &n.Draining)
			if err != nil {
				return err
			}
			_ = driver.DecodeRoutes(routes, &n) // a newer release may write them otherwise; the node lives all the same
			n.Lease, n.Grace = time.Duration(lease)*time.Microsecond, time.Duration(grace)*time.Microsecond
			n.StartedAt, n.ExpiresAt = n.StartedAt.UTC(), n.ExpiresAt.UTC()
			list = append(list, n)
			return nil
		})(rows)
	})
	return list, err
}

// member is a node's membership. The lease is a row that Renew extends, the locks that tell others
// of its death are held by the store's sessions, and both are only ever evidence of life: the
// decision that a node is dead is a row too, which the node itself obeys (J9).
type member struct {
	s           *Store
	id          journal.NodeID
	incarnation uuid.UUID // drawn by this node; nobody else names it
	lease       time.Duration
	epoch       epoch
	contact     contact
	peers       atomic.Bool  // whether there are other nodes, as of the last renewal
	pinging     atomic.Bool  // a question on the pool is in flight
	alarmed     atomic.Bool  // another node seems to be dead
	nodes       atomic.Int64 // how many nodes there were when this one last looked at them; 0 before

	queues, workflows []string // of the routes it serves
	versions          []int32
	marked            string // the routes as marks name them

	mu       sync.Mutex
	answered orders                       // by Heed; guarded by mu
	silent   map[journal.NodeID]suspicion // guarded by mu; nodes that the last look found without a session
}

// ID implements driver.Membership.
func (m *member) ID() journal.NodeID { return m.id }

// me is the incarnation as a parameter.
func (m *member) me() pgtype.UUID { return pgtype.UUID{Bytes: m.incarnation, Valid: true} }

// lost is the error of a node that is no member any more.
func (m *member) lost() error { return fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost) }

// offer is the number of the store if the node is to be judged by its sessions, else null.
func (m *member) offer(judged bool) pgtype.Int4 {
	return pgtype.Int4{Int32: m.s.sessions.process, Valid: judged && m.s.sessions.lasting}
}

// Renew implements driver.Membership. A node that was declared dead cannot come back to life: it
// gets ErrNodeLost, also if the declaration was wrong, because its tasks may have other owners by
// now. If others have come, or all others have gone, it renews a second time, to offer its sessions
// as evidence or to take the offer back.
func (m *member) Renew(ctx context.Context) (driver.Renewal, error) {
	r, peers, err := m.renew(ctx)
	if err == nil && m.peers.Swap(peers) != peers && m.s.sessions.lasting {
		r, _, err = m.renew(ctx)
	}
	return r, err
}

// renew renews on the lifeline, and on the pool if there is none or it does not answer in time.
// Both tries end well before the lease: a connection that is silent is closed then, and the next
// renewal finds another one.
func (m *member) renew(ctx context.Context) (r driver.Renewal, peers bool, err error) {
	wait, cancel := context.WithTimeout(ctx, lifelineWait)
	c := m.s.lifeline.take(wait)
	cancel()
	if c != nil {
		sent := time.Now()
		try, cancel := context.WithTimeout(ctx, m.lease/renewalTries)
		r, peers, err = m.renewOn(try, c)
		late := err != nil && try.Err() != nil // perhaps before anything was sent, which costs no connection
		cancel()
		m.s.sessions.discard(c, sent, err)
		lost := c.IsClosed()
		m.s.lifeline.put(c)
		if !lost && !late {
			return r, peers, translate(ctx, err, false)
		}
	}
	limit := max(m.lease/renewalTries, renewalTryMin)
	try, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err = m.s.call(try, func(ctx context.Context, c *pgx.Conn) error {
		var err error
		r, peers, err = m.renewOn(ctx, c)
		return err
	})
	if err != nil && try.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: no answer in %s: %w", journal.ErrUnavailable, limit, err)
	}
	return r, peers, err
}

// renewOn sends a renewal. Several may be in flight.
func (m *member) renewOn(ctx context.Context, c *pgx.Conn) (r driver.Renewal, peers bool, err error) {
	offer, sent := m.offer(m.peers.Load()), time.Now()
	if offer.Valid {
		m.contact.offer(sent)
	}
	var renewals, recalled *int64
	var server time.Time
	var database uint32
	var wanted orders
	var drain *bool
	var heeded *int64
	err = c.QueryRow(ctx, m.s.sql.member.renew, int32(m.id), m.me(), offer).
		Scan(&renewals, &recalled, &server, &database, &r.Now, &peers, &wanted.pauses, &wanted.newest, &drain, &heeded)
	m.contact.renewed(sent, offer.Valid, err == nil && renewals != nil && recalled != nil)
	if err != nil {
		return driver.Renewal{}, false, err
	}
	if r.Now = r.Now.UTC(); renewals == nil || recalled == nil {
		return r, peers, m.lost()
	}
	r.Compare = m.epoch.renewed(server, database, *renewals, *recalled)
	wanted.drain = *drain
	r.Heed = wanted != m.orders() || *heeded < wanted.newest
	return r, peers, nil
}

// Leave implements driver.Membership. It marks the node first, frees its tasks in pieces until no
// more are found, and forgets the node last; a failure on the way leaves the rest to a reaper.
func (m *member) Leave(ctx context.Context) error {
	err := m.s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		m.s.exclude.node(&p, m.id)
		left := false // not if another node has the id now, which a database that has gone back has given it
		p.query(m.s.sql.member.leave, each(func(row pgx.CollectableRow) error {
			left = true
			return row.Scan(nil)
		}), int32(m.id), m.me())
		names, err := m.s.limitLocks.names(ctx, c, &p, m.id, pgtype.Int8{})
		if err != nil {
			return err
		}
		p = pipeline{}
		if left {
			m.s.limitLocks.free(&p, m.id, names)
		}
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	for n := int64(reapBatch); err == nil && n > 0; {
		err = m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
			tag, err := c.Exec(ctx, m.s.sql.member.leaveFree, int32(m.id), m.me(), reapBatch)
			n = tag.RowsAffected()
			return err
		})
	}
	if err != nil {
		return err
	}
	m.s.roster.remove(m)
	return m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, m.s.sql.member.leaveDelete, int32(m.id), m.me())
		return err
	})
}

// Heed implements driver.Membership.
func (m *member) Heed(ctx context.Context, heeded int64) (o driver.Orders, err error) {
	alive := false
	err = m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		o = driver.Orders{}
		var p pipeline
		if heeded > 0 {
			p.exec(m.s.sql.admin.scope.heed, int32(m.id), m.me(), heeded)
		}
		p.query(m.s.sql.admin.scope.member, each(func(row pgx.CollectableRow) error {
			alive = true
			return row.Scan(&o.Drain)
		}), int32(m.id), m.me())
		p.query(m.s.sql.admin.scope.list, each(func(row pgx.CollectableRow) error {
			pause, err := scanPause(row)
			pause.Unheeded = nil
			o.Pauses = append(o.Pauses, pause)
			return err
		}))
		return p.send(ctx, c)
	})
	if err == nil && !alive {
		return driver.Orders{}, m.lost()
	}
	if err == nil {
		answered := orders{pauses: len(o.Pauses), drain: o.Drain}
		for i := range o.Pauses {
			answered.newest = max(answered.newest, o.Pauses[i].Number)
		}
		m.mu.Lock()
		m.answered = answered
		m.mu.Unlock()
	}
	return o, err
}

// orders tell apart what operators want of a node at one time and at another. A pause that is taken
// away leaves one less, and one that comes has a number above all others.
type orders struct {
	pauses int
	newest int64
	drain  bool
}

// orders returns what the last answer to Heed said.
func (m *member) orders() orders {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered
}
