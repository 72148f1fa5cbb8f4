package postgres

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// previewSQL tells what would become of messages, without sending them. The answers to the senders
// are messages of the same batch, so they have to be known before the one list of messages is sent.
//
// It runs under the locks of the receivers' tasks, so that what it says stays true until they are
// sent: a task that is there cannot go away, and a key that is there stays. Only for a message to a
// run that nobody knew then is the outcome settled here: it is not sent, although the run may come
// into being a moment later.
const previewSQL = `
SELECT i.ord, (SELECT t.version FROM reprise.tasks t WHERE t.run_id = i.run_id) IS NOT NULL OR x.number IS NOT NULL,
       (SELECT r.version FROM reprise.runs r WHERE r.id = i.run_id) IS NOT NULL
FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS i(run_id, key, ord)
LEFT JOIN LATERAL (
    SELECT x.number FROM reprise.inbox x WHERE x.run_id = ANY (ARRAY[i.run_id]) AND x.key = i.key) x ON true`

// effects writes a batch of turns and carries out what the accepted ones do to others, inside one
// transaction (J2).
//
// The order of the phases is what makes it correct:
//
//   - lock takes the row locks of all tasks involved, in the order of run ids, before anything is
//     written. Two batches whose members send to each other queue up here instead of deadlocking.
//   - write decides which members are accepted (J3). Nothing of the others has any effect.
//   - start makes the children, and with them come the answers for those whose key belongs to
//     another run.
//   - preview finds out which messages will not arrive.
//   - findOrphans comes after start, so that children that a member of this very batch has started
//     are found when their parent closes in it as well.
//   - finish does the rest, whose outcomes decide nothing: replies, next generations, terminations,
//     and everything that is put into inboxes as one list, in the order of the members, as if each
//     had been committed alone. So it makes no difference whether a sender stands before its
//     receiver in the batch.
//
// A value serves one try; a try that is repeated after a deadlock begins with a new one.
type effects struct {
	s       *Store
	commits []driver.Commit
	order   []int // of the members, by run
	out     []driver.Outcome
	ownTx   bool // whether the transaction begins and ends with it

	locked   map[journal.RunID]bool // tasks that were there at the first look
	accepted []int                  // members, in the caller's order
	refused  map[messageAt]error    // messages that are not sent
	orphans  map[int]orphans        // by member
	late     []journal.Message      // to families of runs that were cancelled for children
}

// messageAt is a message, or a start, of a member: two indexes.
type messageAt struct{ member, index int }

// anyEffects tells whether a member does more than write its own run.
func anyEffects(commits []driver.Commit, order []int) bool {
	return slices.ContainsFunc(order, func(i int) bool { return commits[i].HasEffects() })
}

// run carries out the phases. It returns at the first error, and the transaction is rolled back
// then.
func (e *effects) run(ctx context.Context, q querier) (err error) {
	defer func() { e.s.pieces.note(err, e.most()) }()
	if err := e.lock(ctx, q); err != nil {
		return err
	}
	if err := newWriting(e.s, q, e.commits, e.out).full(ctx, e.order); err != nil {
		return err
	}
	for _, i := range e.order {
		if e.out[i].Err == nil {
			e.accepted = append(e.accepted, i)
		}
	}
	slices.Sort(e.accepted)
	if err := e.start(ctx, q); err != nil {
		return err
	}
	if err := e.preview(ctx, q); err != nil {
		return err
	}
	if err := e.findOrphans(ctx, q); err != nil {
		return err
	}
	return e.finish(ctx, q)
}

// most is how many rows there are of the kind that has most: children, messages, or children that
// are terminated with their parents.
func (e *effects) most() int {
	starts, messages, terminated := 0, 0, 0
	for i := range e.commits {
		starts, messages = starts+len(e.commits[i].Starts), messages+len(e.commits[i].Messages)
	}
	for _, o := range e.orphans {
		messages, terminated = messages+len(o.cancelled), terminated+len(o.terminated)
	}
	return max(starts, messages, terminated)
}

// closes tells whether a commit leaves children behind.
func closes(c *driver.Commit) bool { return c.Next.Kind == driver.NextClose && c.Children }

// lock takes the row locks of all tasks that the batch changes, in the order of run ids like every
// batch's: two batches that send to each other's runs queue up. Keys of children are taken after
// them. It notes which tasks were there: of a run that comes into being later, the task is locked
// before something is sent to it.
func (e *effects) lock(ctx context.Context, q querier) error {
	var ids []pgtype.UUID
	var closing []journal.RunID
	var limits []driver.LimitKey
	for _, i := range e.order {
		c := &e.commits[i]
		ids, limits = append(ids, uuidArg(c.Run)), append(limits, startKeys(c.Starts)...)
		for k := range c.Messages {
			ids = append(ids, uuidArg(c.Messages[k].Run))
		}
		if closes(c) {
			closing = append(closing, c.Run)
		}
	}
	e.locked = make(map[journal.RunID]bool, len(ids))
	note := each(func(row pgx.CollectableRow) error {
		var run pgtype.UUID
		err := row.Scan(&run)
		e.locked[run.Bytes] = true
		return err
	})
	var p pipeline
	if e.ownTx {
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, len(e.order)) {
			p.exec(heldWaitSQL)
		}
	}
	if len(limits) > 0 {
		slices.SortFunc(limits, driver.CompareLimitKeys)
		e.s.limitLocks.gates(&p, limits)
	}
	if len(closing) > 0 {
		p.query(e.s.sql.lockFamily, note, ids, runIDs(closing))
	} else {
		queueLock(e.s, &p, note, ids)
	}
	return p.send(ctx, q)
}

// queueLock adds lockTasksSQL, in pieces that are in the order of run ids too. note reads what is
// there.
func queueLock(s *Store, p *pipeline, note func(rows pgx.Rows) error, ids []pgtype.UUID) {
	slices.SortFunc(ids, func(a, b pgtype.UUID) int { return bytes.Compare(a.Bytes[:], b.Bytes[:]) })
	_ = s.pieces.in(len(ids), small, func(from, to int) error {
		p.query(s.sql.lockTasks, note, ids[from:to])
		return nil
	})
}

// start makes the children, in the order of keys like every batch's. The order among the starts of
// one key is that of the members, and it decides who gets the key.
func (e *effects) start(ctx context.Context, q querier) error {
	var at []messageAt
	for _, i := range e.accepted {
		if n := len(e.commits[i].Starts); n > 0 {
			e.out[i].Started = make([]journal.Started, n)
		}
		for k := range e.commits[i].Starts {
			at = append(at, messageAt{i, k})
		}
	}
	if len(at) == 0 {
		return nil
	}
	key := func(a messageAt) string { return e.commits[a.member].Starts[a.index].Key }
	slices.SortStableFunc(at, func(a, b messageAt) int { return cmp.Compare(key(a), key(b)) })
	starts, started := make([]journal.Start, len(at)), make([]journal.Started, len(at))
	for n, a := range at {
		starts[n] = e.commits[a.member].Starts[a.index]
	}
	size := func(i int) int { return driver.StartBytes(&starts[i]) }
	err := e.s.pieces.in(len(starts), size, func(from, to int) error {
		late, err := startQuietly(ctx, e.s, q, starts[from:to], started[from:to])
		e.late = append(e.late, late...)
		return err
	})
	for n, a := range at {
		e.out[a.member].Started[a.index] = started[n]
	}
	return err
}

// preview locks what has come into being since lock, other than by this batch, and finds out which
// of the messages whose senders want to know will not arrive. The late locks are out of order; see
// "Order of locks".
func (e *effects) preview(ctx context.Context, q querier) error {
	var late []pgtype.UUID
	var at []messageAt
	var ids []pgtype.UUID
	var keys []string
	for _, i := range e.accepted {
		c := &e.commits[i]
		for k := range c.Messages {
			if !e.locked[c.Messages[k].Run] {
				late = append(late, uuidArg(c.Messages[k].Run))
			}
			if _, asked := c.SendAnswer(&c.Messages[k], &journal.Sent{}); asked {
				at, ids, keys = append(at, messageAt{i, k}), append(ids, uuidArg(c.Messages[k].Run)), append(keys, c.Messages[k].Key)
			}
		}
	}
	if len(at)+len(late) == 0 {
		return nil
	}
	var p pipeline
	if len(late) > 0 {
		queueLock(e.s, &p, each(func(pgx.CollectableRow) error { return nil }), late)
	}
	e.refused = map[messageAt]error{}
	_ = e.s.pieces.in(len(at), small, func(from, to int) error {
		e.queuePreview(&p, at[from:to], ids[from:to], keys[from:to])
		return nil
	})
	return p.send(ctx, q)
}

func (e *effects) queuePreview(p *pipeline, at []messageAt, ids []pgtype.UUID, keys []string) {
	p.query(e.s.sql.preview, each(func(row pgx.CollectableRow) error {
		var ord int64
		var arrives, exists bool
		err := row.Scan(&ord, &arrives, &exists)
		if err == nil && !arrives {
			e.refused[at[ord-1]] = errNotOpen(exists)
		}
		return err
	}), ids, keys)
}

// findOrphans finds the children that closed members leave behind, those of this very batch among
// them.
func (e *effects) findOrphans(ctx context.Context, q querier) error {
	var members []int
	var closing []journal.RunID
	for _, i := range e.accepted {
		if c := &e.commits[i]; closes(c) {
			members, closing = append(members, i), append(closing, c.Run)
		}
	}
	if len(members) == 0 {
		return nil
	}
	found, err := e.s.orphansOf(ctx, q, closing)
	e.orphans = make(map[int]orphans, len(members))
	for n := range found {
		e.orphans[members[n]], e.out[members[n]].Closed = found[n], found[n].terminated
	}
	return err
}

// finish does the rest, whose outcomes decide nothing any more, and ends the transaction if it is
// the batch's own. Terminations are sent after messages, because preview promised the senders that
// a message to a run which is still open arrives.
func (e *effects) finish(ctx context.Context, q querier) error {
	var p pipeline
	var r replies
	for _, i := range e.accepted {
		r.add(e.commits[i].Run, e.commits[i].Replies)
	}
	r.queue(&p, e.s.sql.reply)
	e.queueContinue(&p)
	if err := e.queuePublish(&p); err != nil {
		return err
	}
	if err := e.queueRelabel(&p); err != nil {
		return err
	}
	if err := e.queueLimitsMore(&p); err != nil {
		return err
	}
	e.queuePauses(&p)
	o := e.outgoing()
	sent := make([]journal.Sent, len(o.messages))
	size := func(i int) int { return driver.MessageBytes(&o.messages[i]) }
	err := e.s.pieces.in(len(sent), size, func(from, to int) error {
		e.s.queueSend(&p, o.messages[from:to], sent[from:to])
		if to == len(sent) {
			return nil
		}
		full := p
		p = pipeline{}
		return full.send(ctx, q)
	})
	if err != nil {
		return err
	}
	var terminated, limited []journal.RunID
	for _, i := range e.accepted {
		if c := &e.commits[i]; c.Limited && c.Next.Kind == driver.NextClose {
			limited = append(limited, c.Run)
		}
		terminated = append(terminated, e.orphans[i].terminated...)
	}
	queueLimitsEnd(e.s, &p, limited)
	e.s.exclude.owners(&p, terminated)
	queueOrphans(e.s, &p, terminated)
	if e.ownTx {
		p.exec(endSQL)
	}
	if err := p.send(ctx, q); err != nil {
		return err
	}
	e.report(o, sent)
	return nil
}

// outgoing are all messages of a batch. slots tells where their outcomes go; nil means that nobody
// asks.
type outgoing struct {
	messages []journal.Message
	slots    []*journal.Sent
}

func (o *outgoing) add(m journal.Message, slot *journal.Sent) {
	o.messages, o.slots = append(o.messages, m), append(o.slots, slot)
}

// outgoing lists what goes into inboxes: of each member the answers for children that could not
// start, its messages, each followed by its answer, and the requests to the children it leaves
// behind.
func (e *effects) outgoing() *outgoing {
	o := new(outgoing)
	for _, i := range e.accepted {
		c, out := &e.commits[i], &e.out[i]
		for k := range c.Starts {
			if m, refused := c.RefusedChild(&c.Starts[k], &out.Started[k]); refused {
				o.add(m, nil)
			}
		}
		if len(c.Messages) > 0 {
			out.Sent = make([]journal.Sent, len(c.Messages))
		}
		for k := range c.Messages {
			m, slot := &c.Messages[k], &out.Sent[k]
			if slot.Err = e.refused[messageAt{i, k}]; slot.Err == nil {
				o.add(*m, slot)
			}
			if a, asked := c.SendAnswer(m, slot); asked {
				o.add(a, nil)
			}
		}
		for _, child := range e.orphans[i].cancelled {
			o.add(journal.OrphanCancel(child), nil)
		}
	}
	for _, m := range e.late {
		o.add(m, nil)
	}
	return o
}

// report passes on what became of the messages, to those that sent them and to members that they
// were sent to: a run that writes to itself, or to another member, must know the newest number in
// its inbox, or it would park without having seen the message (J6).
func (e *effects) report(o *outgoing, sent []journal.Sent) {
	members := make(map[journal.RunID]int, len(e.accepted))
	for _, i := range e.accepted {
		members[e.commits[i].Run] = i
	}
	for n := range sent {
		if slot := o.slots[n]; slot != nil {
			*slot = sent[n]
		}
		if i, ok := members[o.messages[n].Run]; ok {
			e.out[i].InboxLast = max(e.out[i].InboxLast, sent[n].Number)
		}
	}
}
