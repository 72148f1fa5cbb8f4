package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// loadBeginSQL begins the transaction of a load. It has one snapshot for all its statements, so
// every history is as of one moment: a run is not reported as open with its terminal event, nor
// with a message that its newest event consumes. It is sent as one pipeline and takes no locks, so
// it neither waits for commits nor holds them up.
const loadBeginSQL = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`

// loadRunsSQL reads the runs and their tasks, by their primary keys.
const loadRunsSQL = `
SELECT i.ord,
       ` + taskColumns + `,
       ` + runColumns + `
FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, ord)
CROSS JOIN LATERAL (SELECT * FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
LEFT JOIN LATERAL (SELECT * FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) t ON true`

// loadEventsSQL reads the events of the current generation, and the payloads of the messages that
// they consume: those are stored once, with the message. Events are a range of their primary key,
// in order. The message is found by the whole primary key, in the form that forces that index; see
// "Plans".
const loadEventsSQL = `
SELECT i.ord, e.seq, e.kind, coalesce(e.cmd, 0), coalesce(e.inbox, 0), e.at, coalesce(e.name, ''), coalesce(e.attempt, 0),
       coalesce(e.encoding, m.encoding, ''), coalesce(e.payload, m.payload), coalesce(e.issued, ''), e.link
FROM unnest($1::uuid[], $2::int[], $3::int[]) WITH ORDINALITY AS i(id, after, max, ord)
CROSS JOIN LATERAL (SELECT r.generation FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
CROSS JOIN LATERAL (
    SELECT * FROM reprise.events e
    WHERE e.run_id = i.id AND e.generation = r.generation AND e.seq > i.after ORDER BY e.seq LIMIT i.max) e
LEFT JOIN LATERAL (
    -- Asking for an order leaves the planner of a small table no index but the primary key.
    SELECT m.payload, m.encoding FROM reprise.inbox m
    WHERE m.run_id = i.id AND m.number BETWEEN e.inbox AND e.inbox ORDER BY m.number LIMIT 1) m ON true
ORDER BY i.ord, e.seq`

// loadInboxSQL reads the messages that are not consumed (J5): those that the generation carried
// over, and those after what it began with, in this order, except what its own events name and what
// was rejected.
//
// A generation names messages in order, so the newest that it names is enough, and one probe of
// events_inbox_idx finds it. What earlier generations consumed is not looked at, so the cost is
// that of the messages returned, however long the run has lived. Both parts are limited before they
// are joined, as the caller comes back for more.
const loadInboxSQL = `
SELECT i.ord, m.number, m.kind, coalesce(m.name, ''), m.key, coalesce(m.encoding, ''), m.payload, m.at, coalesce(m.cmd, 0),
       coalesce(m.generation, 0)
FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS i(id, after, ord)
CROSS JOIN LATERAL (
    SELECT r.inbox_seen AS seen, r.carried, greatest(i.after, (
        SELECT e.inbox FROM reprise.events e
        WHERE e.run_id = r.id AND e.generation = r.generation AND e.inbox IS NOT NULL ORDER BY e.inbox DESC LIMIT 1)) AS named
    FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
CROSS JOIN LATERAL (
    SELECT m.* FROM unnest(r.carried) AS c(number)
    CROSS JOIN LATERAL (
        SELECT m.* FROM reprise.inbox m
        WHERE m.run_id = i.id AND m.number BETWEEN c.number AND c.number ORDER BY m.number LIMIT 1) m
    WHERE c.number > r.named AND m.answered IS DISTINCT FROM 2
    UNION ALL
    (SELECT m.* FROM reprise.inbox m
     WHERE m.run_id = ANY (ARRAY[i.id]) AND m.number > greatest(r.named, r.seen) AND m.answered IS DISTINCT FROM 2
     ORDER BY m.number LIMIT $3::int)
    ORDER BY number LIMIT $3::int) m
ORDER BY i.ord, m.number`

// Load implements driver.Store. Histories come back in the order of the requests; what a run does
// not have leaves its fields empty. A request without events asks for none with a limit of 0, so
// that one text of the statement, and one plan, serves all.
func (s *Store) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	n := len(requests)
	if n == 0 {
		return nil, nil
	}
	ids, afterSeqs, maxes, afterInboxes := make([]pgtype.UUID, n), make([]int32, n), make([]*int32, n), make([]int64, n)
	for i, r := range requests {
		if r.Answer != 0 {
			continue // its id stays null, and finds nothing: see queueAnswers
		}
		ids[i], afterSeqs[i], afterInboxes[i] = uuidArg(r.Run), int32(r.AfterSeq), int64(r.AfterInbox)
		maxes[i] = nullInt(int32(r.Limit)) // null: no limit
		if r.InboxOnly {
			maxes[i] = new(int32)
		}
	}
	if !driver.IsForNode(ctx) {
		ctx = inShare(ctx, slowShare)
	}
	var out []driver.History
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		out = make([]driver.History, n)
		for i := range out {
			out[i].Err = journal.ErrNotFound
		}
		var p pipeline
		p.exec(loadBeginSQL)
		p.query(s.sql.loadRuns, each(scanHistory(out)), ids)
		p.query(s.sql.loadEvents, each(scanEvents(out)), ids, afterSeqs, maxes)
		p.query(s.sql.loadInbox, each(scanInbox(requests, out)), ids, afterInboxes, journal.InboxLoadMax)
		queueAnswers(&p, s.sql.waiting.answers, requests, out)
		p.exec(endSQL)
		if slices.ContainsFunc(requests, func(q driver.LoadRequest) bool { return q.Answer != 0 }) {
			p.exec(durableReadSQL) // the caller waits for the answers to these updates
		}
		return p.send(ctx, c)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Ends implements driver.Store.
func (s *Store) Ends(ctx context.Context, runs []journal.RunID) (ends []driver.End, err error) {
	ids := make([]pgtype.UUID, len(runs))
	for i, run := range runs {
		ids[i] = uuidArg(run)
	}
	err = s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		ends = nil
		var p pipeline
		p.query(s.sql.waiting.ends, each(scanEnds(runs, &ends)), ids, driver.EndsBytesMax)
		p.exec(durableReadSQL) // the caller waits for these ends
		return p.send(ctx, c)
	})
	return ends, err
}

// scanHistory reads a run with its task. ord is the position of the request, from 1.
func scanHistory(out []driver.History) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var ord int64
		var t taskRow
		var r runRow
		if err := row.Scan(append(append([]any{&ord}, t.targets()...), r.targets()...)...); err != nil {
			return err
		}
		run := r.run()
		t.addTo(&run)
		out[ord-1].Run, out[ord-1].Err = run, nil
		return nil
	}
}

// scanEvents reads an event. Rows come in the order of the requests and of the history. What stands
// behind an event that cannot be read is left out: nobody can go on from it.
func scanEvents(out []driver.History) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var ord int64
		var ev journal.Event
		var at pgtype.Timestamptz
		var issued string
		err := row.Scan(&ord, &ev.Seq, &ev.Kind, &ev.Cmd, &ev.Inbox, &at, &ev.Name, &ev.Attempt, &ev.Payload.Encoding,
			&ev.Payload.Data, &issued, &ev.Link)
		if err != nil {
			return err
		}
		h := &out[ord-1]
		if h.Err != nil {
			return nil
		}
		ev.Time, err = timeOf(at), finite(at)
		if err == nil {
			ev.Issued, err = journal.DecodeIssued(issued)
		}
		if err != nil {
			h.Err = driver.UnreadableEvent(h.Run.ID, ev.Seq, err)
			return nil
		}
		h.Events = append(h.Events, ev)
		return nil
	}
}

// scanInbox reads a message that is not consumed.
func scanInbox(requests []driver.LoadRequest, out []driver.History) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var ord int64
		var m journal.Message
		var at pgtype.Timestamptz
		err := row.Scan(&ord, &m.Number, &m.Kind, &m.Name, &m.Key, &m.Payload.Encoding, &m.Payload.Data, &at,
			&m.Cmd, &m.Generation)
		if err != nil {
			return err
		}
		h := &out[ord-1]
		if h.Err != nil {
			return nil
		}
		m.Run, m.Time = requests[ord-1].Run, timeOf(at)
		if err := finite(at); err != nil {
			h.Err = driver.UnreadableMessage(m.Run, m.Number, err)
			return nil
		}
		h.Inbox = append(h.Inbox, m)
		return nil
	}
}
