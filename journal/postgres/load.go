package postgres

import (
	"context"
	"math"
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

// loadEventsSQL reads the events of the current generation, or of another one that is asked for,
// and the payloads of the messages that they consume: those are stored once, with the message.
// Events are a range of their primary key, in order. The message is found by the whole primary key,
// in the form that forces that index; see "Plans".
//
// A page ends where the sum of its bytes is too large. Sizes of values that are stored outside of
// their rows are in the rows, so nothing of an event that is left out is fetched. What is looked at
// is bounded by max, one row more than a page may have, which tells whether there is more. The
// first event comes in any case, without what it holds if a lean page has no room for it; that it
// is there tells that there is more.
const loadEventsSQL = `
SELECT i.ord, e.upto <= i.bytes OR NOT i.lean, e.more, e.seq, e.kind, coalesce(e.cmd, 0), coalesce(e.inbox, 0), e.at, coalesce(e.name, ''),
       coalesce(e.attempt, 0), coalesce(e.encoding, e.message_encoding, ''),
       CASE WHEN e.upto <= i.bytes OR NOT i.lean THEN coalesce(e.payload, e.message_payload) END,
       CASE WHEN e.upto <= i.bytes OR NOT i.lean THEN coalesce(e.issued, '') ELSE '' END, e.link
FROM unnest($1::uuid[], $2::int[], $3::int[], $4::bigint[], $5::bool[], $6::int[]) WITH ORDINALITY AS i(id, after, max, bytes, lean, generation, ord)
CROSS JOIN LATERAL (SELECT coalesce(i.generation, r.generation) AS generation FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
CROSS JOIN LATERAL (
    SELECT e.*, sum(e.size) OVER (ORDER BY e.seq ROWS UNBOUNDED PRECEDING) AS upto, lead(e.seq) OVER (ORDER BY e.seq) IS NOT NULL AS more
    FROM (
        SELECT e.*, m.payload AS message_payload, m.encoding AS message_encoding,
               128 + coalesce(octet_length(e.payload), octet_length(m.payload), 0) + coalesce(octet_length(e.issued), 0) AS size
        FROM reprise.events e
        LEFT JOIN LATERAL (
            -- Asking for an order leaves the planner of a small table no index but the primary key.
            SELECT m.payload, m.encoding FROM reprise.inbox m
            WHERE m.run_id = i.id AND m.number BETWEEN e.inbox AND e.inbox ORDER BY m.number LIMIT 1) m ON true
        WHERE e.run_id = i.id AND e.generation = r.generation AND e.seq > i.after ORDER BY e.seq LIMIT i.max) e) e
WHERE (e.upto <= i.bytes OR e.upto = e.size) AND e.seq < i.after + i.max
ORDER BY i.ord, e.seq`

// loadInboxSQL reads the messages that are not consumed (J5): those that the generation carried
// over, and those after what it began with, in this order, except what its own events name and what
// was rejected.
//
// A generation names messages in order, so the newest that it names is enough, and one probe of
// events_inbox_idx finds it. What earlier generations consumed is not looked at, so the cost is
// that of the messages returned, however long the run has lived. Both parts are limited before they
// are joined, as the caller comes back for more; a page ends as one of events does.
const loadInboxSQL = `
SELECT i.ord, m.upto <= i.bytes OR NOT i.lean, m.more, m.number, m.kind, coalesce(m.name, ''), m.key, coalesce(m.encoding, ''),
       CASE WHEN m.upto <= i.bytes OR NOT i.lean THEN m.payload END, m.at, coalesce(m.cmd, 0), coalesce(m.generation, 0)
FROM unnest($1::uuid[], $2::bigint[], $4::bigint[], $5::bool[]) WITH ORDINALITY AS i(id, after, bytes, lean, ord)
CROSS JOIN LATERAL (
    SELECT r.inbox_seen AS seen, r.carried, greatest(i.after, (
        SELECT e.inbox FROM reprise.events e
        WHERE e.run_id = r.id AND e.generation = r.generation AND e.inbox IS NOT NULL ORDER BY e.inbox DESC LIMIT 1)) AS named
    FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
CROSS JOIN LATERAL (
    SELECT m.*, 128 + coalesce(octet_length(m.payload), 0) AS size, lead(m.number) OVER (ORDER BY m.number) IS NOT NULL AS more,
           sum(128 + coalesce(octet_length(m.payload), 0)) OVER (ORDER BY m.number ROWS UNBOUNDED PRECEDING) AS upto,
           row_number() OVER (ORDER BY m.number) AS place
    FROM (
        SELECT m.* FROM unnest(r.carried) AS c(number)
        CROSS JOIN LATERAL (
            SELECT m.* FROM reprise.inbox m
            WHERE m.run_id = i.id AND m.number BETWEEN c.number AND c.number ORDER BY m.number LIMIT 1) m
        WHERE c.number > r.named AND m.answered IS DISTINCT FROM 2
        UNION ALL
        (SELECT m.* FROM reprise.inbox m
         WHERE m.run_id = ANY (ARRAY[i.id]) AND m.number > greatest(r.named, r.seen) AND m.answered IS DISTINCT FROM 2
         ORDER BY m.number LIMIT $3::int)
        ORDER BY number LIMIT $3::int) m) m
WHERE (m.upto <= i.bytes OR m.upto = m.size) AND m.place < $3::int
ORDER BY i.ord, m.number`

// loadOwnedSQL is loadRunsSQL for owners, who have the rest: an input may be large, and so may what
// steps in retry have left.
const loadOwnedSQL = `
SELECT i.ord, r.generation, t.owner, t.fence, t.generation, t.inbox_last, t.state, r.freezes
FROM unnest($1::uuid[]) WITH ORDINALITY AS i(id, ord)
CROSS JOIN LATERAL (SELECT r.generation, r.freezes FROM reprise.runs r WHERE r.id = ANY (ARRAY[i.id])) r
LEFT JOIN LATERAL (SELECT t.owner, t.fence, t.generation, t.inbox_last, t.state FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.id])) t ON true`

// Load implements driver.Store. Histories come back in the order of the requests; what a run does
// not have leaves its fields empty.
func (s *Store) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	load := func(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
		return loadAll(ctx, s, requests)
	}
	out, err := load(ctx, requests)
	if len(requests) == 1 && requests[0].Answer == 0 && driver.IsDamaged(err) {
		return salvageOf(s).load(ctx, &requests[0], err, load)
	}
	return out, err
}

// loadAll is Load for what is not damaged. A request without events asks for none with a limit of
// 0, so that one text of the statement, and one plan, serves all.
func loadAll(ctx context.Context, s *Store, requests []driver.LoadRequest) ([]driver.History, error) {
	n := len(requests)
	if n == 0 {
		return nil, nil
	}
	ids, afterSeqs, maxes, afterInboxes := make([]pgtype.UUID, n), make([]int32, n), make([]int32, n), make([]int64, n)
	bytes, lean, generations := make([]int64, n), make([]bool, n), make([]*int32, n)
	for i := range requests {
		r := &requests[i]
		if r.Answer != 0 {
			continue // its id stays null, and finds nothing: see queueAnswers
		}
		ids[i], afterSeqs[i], afterInboxes[i] = uuidArg(r.Run), int32(r.AfterSeq), int64(r.AfterInbox)
		bytes[i], lean[i] = int64(r.BytesMax()), r.Lean
		if most := r.EventsMax(); most > 0 { // no more fit, and what is looked at is bounded
			maxes[i] = int32(min(most, r.BytesMax()/driver.LoadRowBytes+1) + 1)
		}
		if r.NoInbox() {
			afterInboxes[i] = math.MaxInt64
		}
		if r.Generation > 0 {
			generations[i] = new(int32(r.Generation))
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
		if slices.ContainsFunc(requests, func(q driver.LoadRequest) bool { return !q.Owned || q.Apart > 0 }) {
			p.query(s.sql.loadRuns, each(scanHistory(out)), ids)
		} else {
			p.query(s.sql.member.loadOwned, each(scanOwned(requests, out)), ids)
		}
		p.query(s.sql.loadEvents, each(scanEvents(out)), ids, afterSeqs, maxes, bytes, lean, generations)
		p.query(s.sql.loadInbox, each(scanInbox(requests, out)), ids, afterInboxes, journal.InboxLoadMax+1, bytes, lean)
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
	for i := range out {
		if out[i].More { // the inbox belongs to the end of the history
			out[i].Inbox, out[i].MoreInbox = nil, false
		}
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

// scanOwned reads what an owner compares.
func scanOwned(requests []driver.LoadRequest, out []driver.History) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var ord int64
		var generation int32
		var owner, of *int32
		var fence, last *int64
		var state *int16
		var freezes pgtype.FlatArray[pgtype.Timestamptz]
		if err := row.Scan(&ord, &generation, &owner, &fence, &of, &last, &state, &freezes); err != nil {
			return err
		}
		h := &out[ord-1]
		h.Err = nil
		h.Run.ID, h.Run.Generation = requests[ord-1].Run, journal.Generation(generation)
		if h.Run.Freezes, h.Err = freezesOf(freezes); h.Err != nil {
			driver.NoteUnreadable(&h.Run, "freezes", h.Err)
			h.Err = h.Run.Unreadable
		}
		if owner != nil {
			h.Run.Task = &journal.Task{Run: h.Run.ID, Generation: journal.Generation(*of), Owner: journal.NodeID(*owner),
				Fence: journal.Fence(*fence), InboxLast: journal.InboxSeq(*last), State: journal.TaskState(*state)}
		}
		return nil
	}
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
		var fits, more bool
		err := row.Scan(&ord, &fits, &more, &ev.Seq, &ev.Kind, &ev.Cmd, &ev.Inbox, &at, &ev.Name, &ev.Attempt, &ev.Payload.Encoding,
			&ev.Payload.Data, &issued, &ev.Link)
		if err != nil {
			return err
		}
		h := &out[ord-1]
		if h.Err != nil {
			return nil
		}
		if h.More = more || !fits; !fits {
			return nil
		}
		ev.Time, err = timeOf(at), finite(at)
		if err == nil {
			ev.Issued, err = journal.DecodeIssued(issued)
		}
		if err != nil {
			h.Err, h.More = driver.UnreadableEvent(h.Run.ID, ev.Seq, err), false
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
		var fits, more bool
		err := row.Scan(&ord, &fits, &more, &m.Number, &m.Kind, &m.Name, &m.Key, &m.Payload.Encoding, &m.Payload.Data, &at,
			&m.Cmd, &m.Generation)
		if err != nil {
			return err
		}
		h := &out[ord-1]
		if h.Err != nil {
			return nil
		}
		if h.MoreInbox = more || !fits; !fits {
			return nil
		}
		m.Run, m.Time = requests[ord-1].Run, timeOf(at)
		if err := finite(at); err != nil {
			h.Err, h.More, h.MoreInbox = driver.UnreadableMessage(m.Run, m.Number, err), false, false
			return nil
		}
		h.Inbox = append(h.Inbox, m)
		return nil
	}
}
