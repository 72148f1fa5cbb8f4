package sqlite

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// loadRunSQL reads a run and its task, by their primary keys.
const loadRunSQL = `
SELECT ` + taskColumns + `,
       ` + runColumns + `
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// loadEventsSQL reads the events of a generation, and the payloads of the messages that they
// consume: those are stored once, with the message. Events are a range of their primary key, in
// order, and each message is a probe of its own. The plus signs keep the plan for every generation
// and limit.
const loadEventsSQL = `
SELECT e.seq, e.kind, e.cmd, e.inbox, e.at, e.name, e.attempt, coalesce(e.encoding, m.encoding), coalesce(e.payload, m.payload),
       e.issued, e.link
FROM reprise_events e LEFT JOIN reprise_inbox m ON m.run_id = e.run_id AND m.number = e.inbox
WHERE e.run_id = ? AND e.generation = +? AND e.seq > ? ORDER BY e.seq LIMIT +?`

// A message is consumed if its number is not above the newest one that an event of the current
// generation names: messages are named in the order of their numbers (J5). Those that an earlier
// generation had seen are consumed unless they were carried over, and so are updates that were
// rejected.
//
// So what a generation has not consumed is one probe of an index and a range of the primary key,
// however many messages the generations before have seen.
const (
	messageColumns = `m.number, m.kind, m.name, m.key, m.encoding, m.payload, m.at, m.cmd, m.generation`

	loadNamedSQL = `
SELECT max(e.inbox) FROM reprise_events e WHERE e.run_id = ? AND e.generation = +? AND e.inbox IS NOT NULL`

	loadInboxSQL = `
SELECT ` + messageColumns + `
FROM reprise_inbox m WHERE m.run_id = ? AND m.number > ? AND m.answered IS NOT 2 ORDER BY m.number LIMIT +?`

	loadCarriedSQL = `
SELECT ` + messageColumns + `
FROM reprise_inbox m WHERE m.run_id = ? AND m.number = +? AND m.answered IS NOT 2`
)

// Load implements driver.Store. All requests see one snapshot, because a read is a transaction of
// its own; it neither waits for the writer nor holds it up, because the file is in WAL mode.
func (s *Store) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	out := make([]driver.History, len(requests))
	err := s.read(ctx, func(c *conn) error {
		for i := range requests {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := loadOne(c, s, &requests[i], &out[i]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// loadOne reads one history. What is not there leaves the fields empty; no run at all is
// ErrNotFound of this request, and the others are read all the same.
//
// What is damaged is told of as far as the rest can be read: nobody else's history is part of it.
func loadOne(q querier, s *Store, r *driver.LoadRequest, h *driver.History) error {
	h.Err = journal.ErrNotFound
	if r.Answer != 0 {
		return loadAnswer(q, r, h)
	}
	err := q.query(loadRunSQL, func(r row) error {
		h.Run, h.Err = runOf(r[taskWidth:]), nil
		addTask(&h.Run, r)
		return nil
	}, uuidArg(r.Run))
	if damaged(err) {
		h.Run, err = withoutRow(q, r.Run, "row", s.translate(err))
		h.Err = h.Run.Unreadable
	}
	if err != nil || errors.Is(h.Err, journal.ErrNotFound) {
		return err
	}
	if !r.InboxOnly && h.Run.Generation > 0 {
		err = loadEvents(q, r, h)
		if damaged(err) {
			last := r.AfterSeq
			if n := len(h.Events); n > 0 {
				last = h.Events[n-1].Seq
			}
			h.Err, err = driver.UnreadableEvent(r.Run, last+1, s.translate(err)), nil
		}
	}
	if err != nil || h.Err != nil || h.More || r.NoInbox() {
		return err
	}
	switch err = loadInbox(q, r, h); {
	case errors.Is(err, errPageFull):
		h.MoreInbox, err = true, nil
	case damaged(err):
		h.Err, err = &journal.UnreadableError{Run: r.Run, Part: "inbox", Err: s.translate(err)}, nil
	}
	return err
}

// errPageFull ends a query whose next row has no room on the page. That row has been read for
// nothing, but none behind it is.
var errPageFull = errors.New("the page is full")

// loadEvents reads the events after AfterSeq that a page has room for. What stands behind an event
// that cannot be read is left out: nobody can go on from it.
func loadEvents(q querier, req *driver.LoadRequest, h *driver.History) error {
	page := driver.NewPage(req, req.EventsMax())
	var broken error
	err := q.query(loadEventsSQL, func(r row) error {
		if broken != nil {
			return nil
		}
		ev := journal.Event{Seq: journal.Seq(r.int32(0)), Kind: journal.Kind(r.int16(1)), Cmd: journal.Cmd(r.int32(2)),
			Inbox: journal.InboxSeq(r.int(3)), Time: r.time(4), Name: r.text(5), Attempt: r.int32(6), Payload: r.payload(7, 8),
			Link: journal.Link(r.int(10))}
		issued, err := journal.DecodeIssued(r.text(9))
		if err != nil {
			broken = driver.UnreadableEvent(h.Run.ID, ev.Seq, err)
			h.Err = broken
			return nil
		}
		ev.Issued = issued
		if !page.Fits(driver.EventBytes(&ev)) {
			return errPageFull
		}
		h.Events = append(h.Events, ev)
		return nil
	}, uuidArg(req.Run), int64(req.GenerationOf(h.Run.Generation)), int64(req.AfterSeq), int64(req.EventsMax()+1))
	if errors.Is(err, errPageFull) {
		h.More, err = true, nil
	}
	return err
}

// loadInbox reads the messages that are not consumed: first those that were carried over, then
// those that came later. A task that names no newer message saves the statements.
func loadInbox(q querier, r *driver.LoadRequest, h *driver.History) error {
	after := r.AfterInbox
	if h.Run.Task != nil && h.Run.Task.InboxLast <= after {
		return nil // nothing has come since
	}
	var begin journal.Continue
	if h.Run.Continued != nil {
		begin = *h.Run.Continued
	}
	err := q.query(loadNamedSQL, func(in row) error { after = max(after, journal.InboxSeq(in.int(0))); return nil },
		uuidArg(r.Run), int64(h.Run.Generation))
	if err != nil {
		return err
	}
	page := driver.NewPage(r, journal.InboxLoadMax)
	read := func(in row) error {
		m := journal.Message{Run: r.Run, Number: journal.InboxSeq(in.int(0)), Kind: journal.MessageKind(in.int16(1)),
			Name: in.text(2), Key: in.text(3), Payload: in.payload(4, 5), Time: in.time(6), Cmd: journal.Cmd(in.int32(7)),
			Generation: journal.Generation(in.int32(8))}
		if !page.Fits(driver.MessageBytes(&m)) {
			return errPageFull
		}
		h.Inbox = append(h.Inbox, m)
		return nil
	}
	for _, n := range begin.Carried {
		if n <= after {
			continue
		}
		if err := q.query(loadCarriedSQL, read, uuidArg(r.Run), int64(n)); err != nil {
			return err
		}
	}
	return q.query(loadInboxSQL, read, uuidArg(r.Run), int64(max(after, begin.Seen)), int64(journal.InboxLoadMax+1-len(h.Inbox)))
}
