package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// rewinding is a run that goes back, as it is found under the locks.
type rewinding struct {
	s      *Store
	a      *driver.AdminAction
	w      *driver.Rewind
	of     journal.RunID // whose events are kept: the run, or the one that it is a fork of
	exists bool
	run    journal.Run // id, status, workflow, generation, key and beginning of the inbox
	holds  bool        // whether it has its key
	acted  bool        // whether another caller has carried the action out
	last   journal.InboxSeq
	out    driver.AdminOutcome
}

// adminRewind makes the next generation of a run out of the beginning of its present one, in one
// transaction. What becomes of its inbox is decided here, under the locks, by the code that all
// stores share.
func adminRewind(ctx context.Context, s *Store, a *driver.AdminAction) (out driver.AdminOutcome, err error) {
	var refused error
	try := func(ctx context.Context, c *pgx.Conn) (err error) {
		r := &rewinding{s: s, a: a, w: a.Rewind, of: a.Run, run: journal.Run{ID: a.Run}}
		refused, err = r.rewind(ctx, c)
		out = r.out
		return err
	}
	for range rewindTries {
		if err = s.transaction(ctx, try); !keyTaken(err) {
			break
		}
	}
	return out, errors.Join(err, refused)
}

// rewindTries bounds how often a run finds its key free and loses it to a start at that moment. The
// next try finds who has it.
const rewindTries = 3

func keyTaken(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "23505" && pe.ConstraintName == "runs_key_idx"
}

func (r *rewinding) rewind(ctx context.Context, c *pgx.Conn) (refused, err error) {
	unread, refused, err := r.read(ctx, c)
	if refused != nil || err != nil {
		return refused, err
	}
	in := r.w.Inbox(r.run.Continued, unread)
	if err := r.write(ctx, c, &in); err != nil {
		return nil, err
	}
	messages, err := r.children(ctx, c, r.run.Status.Closed() || in.Stale)
	if err != nil {
		return nil, err
	}
	var p pipeline
	_ = r.s.pieces.in(len(messages), small, func(from, to int) error {
		r.s.queueSend(&p, messages[from:to], make([]journal.Sent, to-from))
		return nil
	})
	p.exec(r.s.sql.admin.note, append(auditArgs(r.a, r.w.Detail()), r.run.Workflow)...)
	p.exec(endSQL)
	return nil, p.send(ctx, c)
}

// read takes the locks and reads the run. It refuses what cannot go back there.
func (r *rewinding) read(ctx context.Context, c *pgx.Conn) (unread []driver.Unread, refused, err error) {
	var p pipeline
	p.exec(beginSQL)
	p.exec(holdSQL)
	if hasty(ctx, 1) {
		p.exec(heldWaitSQL)
	}
	p.exec(r.s.sql.lockTasks, runIDs([]journal.RunID{r.run.ID}))
	p.query(r.s.sql.admin.rewind.read, each(func(row pgx.CollectableRow) error { return r.scan(row) }), uuidArg(r.run.ID))
	queueActed(r.s, &p, r.a, &r.acted)
	if err := p.send(ctx, c); err != nil {
		return nil, nil, err
	}
	switch {
	case r.acted:
		return nil, driver.ErrActed, nil
	case !r.exists:
		return nil, journal.ErrNotFound, nil
	case r.run.Generation != r.w.Generation:
		return nil, driver.ErrMoved, nil
	}
	if refused := r.a.Kind.Refuses(!r.run.Status.Closed()); refused != nil {
		return nil, refused, nil
	}
	return r.readState(ctx, c)
}

// readState reads what is beside the row of the run: where it is to go, who has its key, its inbox.
func (r *rewinding) readState(ctx context.Context, c *pgx.Conn) (unread []driver.Unread, refused, err error) {
	from := r.w.From(r.run.Continued)
	var p pipeline
	if r.run.Status.Closed() {
		p.exec(r.s.sql.admin.rewind.family, uuidArg(r.run.ID))
	}
	p.query(r.s.sql.admin.rewind.state, each(func(row pgx.CollectableRow) error {
		refused, err = r.state(row)
		return err
	}), uuidArg(r.run.ID), int32(r.w.Generation), int32(r.w.Head.Seq), nullText(r.run.Key), uuidArg(r.of), r.w.Behind)
	p.query(r.s.sql.admin.rewind.unread, each(func(row pgx.CollectableRow) error {
		var m driver.Unread
		var answered int16
		err := row.Scan(&m.Number, &m.Kind, &m.Name, &answered, &m.Stale)
		m.Answered, m.Rejected = answered == answerAccepted, answered == answerRejected
		unread = append(unread, m)
		return err
	}), uuidArg(r.run.ID), int64(from.Seen), numbers(from.Carried))
	if err := p.send(ctx, c); err != nil {
		return nil, nil, err
	}
	return unread, refused, nil
}

func (r *rewinding) scan(row pgx.CollectableRow, more ...any) error {
	var key *string
	var seen *int64
	var carried []int64
	err := row.Scan(append([]any{&r.run.Status, &r.run.Workflow, &r.run.Generation, &key, &r.holds, &seen, &carried}, more...)...)
	r.exists, r.run.Key = true, textOf(key)
	if r.run.Generation > 1 {
		r.run.Continued = &journal.Continue{Seen: intOf[journal.InboxSeq](seen)}
		for _, n := range carried {
			r.run.Continued.Carried = append(r.run.Continued.Carried, journal.InboxSeq(n))
		}
	}
	return err
}

// state reads what is beside the row of the run.
func (r *rewinding) state(row pgx.CollectableRow) (refused, err error) {
	var link, last *int64
	var more bool
	var state *int16
	var holder pgtype.UUID
	var workflow *string
	if err := row.Scan(&link, &more, &last, &state, &holder, &workflow); err != nil {
		return nil, err
	}
	r.last = intOf[journal.InboxSeq](last)
	r.out.State = driver.RewoundState(intOf[journal.TaskState](state))
	switch {
	case r.w.Head.Seq > 0 && (link == nil || journal.Link(*link) != r.w.Head.Link), r.w.AtEnd && more:
		return driver.ErrMoved, nil
	case r.run.Key != "" && !r.holds && holder.Valid:
		return &journal.KeyConflictError{Key: r.run.Key, Run: holder.Bytes, Workflow: textOf(workflow)}, nil
	}
	return nil, nil
}

// write begins the next generation.
func (r *rewinding) write(ctx context.Context, c *pgx.Conn, in *driver.Inbox) error {
	rewound, err := driver.EncodeRewound(r.w.Next)
	if err != nil {
		return fmt.Errorf("rewound: %w", err)
	}
	var p pipeline
	r.s.exclude.owners(&p, []journal.RunID{r.run.ID})
	attempts, err := driver.EncodeAttempts(r.w.Attempts())
	if err != nil {
		return err
	}
	input := r.w.Input
	p.exec(r.s.sql.admin.rewind.begin, uuidArg(r.run.ID), int32(r.w.Generation), int32(r.w.Head.Seq), rewound, int64(in.Begin.Seen),
		numbers(in.Begin.Carried), r.w.Version, nullBytes(input.Data), nullText(input.Encoding), int64(r.last), uuidArg(r.of), append([]byte{}, attempts...))
	if r.run.Status.Closed() || r.of != r.run.ID {
		p.query(r.s.sql.limit.runs.again, each(func(row pgx.CollectableRow) error { return row.Scan(&r.out.State) }), uuidArg(r.run.ID))
	} else if r.w.Version != 0 {
		p.exec(r.s.sql.limit.runs.reroute, uuidArg(r.run.ID))
	} else {
		p.exec(r.s.sql.limit.runs.spare, uuidArg(r.run.ID))
	}
	if len(in.Freed)+len(in.Reopen) > 0 {
		p.exec(r.s.sql.admin.rewind.inbox, uuidArg(r.run.ID), numbers(in.Freed), numbers(in.Reopen))
	}
	if len(in.Discard) > 0 {
		var list []journal.Reply
		for _, n := range in.Discard {
			list = append(list, journal.Reply{Number: n, Payload: driver.Discarded()})
		}
		var l replies
		l.add(r.run.ID, list)
		l.queue(&p, r.s.sql.reply)
	}
	return p.send(ctx, c)
}

// children returns the requests to open children that nobody waits for any more and, if
// there may be any, the answers of those that have ended without the run having heard of it.
func (r *rewinding) children(ctx context.Context, c *pgx.Conn, untold bool) (messages []journal.Message, err error) {
	rows, err := c.Query(ctx, r.s.sql.admin.rewind.children, uuidArg(r.run.ID), untold)
	if err != nil {
		return nil, err
	}
	err = each(func(row pgx.CollectableRow) error {
		var id, parent pgtype.UUID
		var workflow string
		var generation, cmd *int32
		var policy, kind *int16
		var encoding *string
		var payload []byte
		if err := row.Scan(&id, &workflow, &parent, &generation, &cmd, &policy, &kind, &encoding, &payload); err != nil {
			return err
		}
		of := parentOf(parent, generation, cmd, policy)
		switch {
		case kind == nil && r.w.Orphans(of):
			messages = append(messages, journal.OrphanCancel(id.Bytes))
		case kind != nil && r.w.Started(of.Generation, of.Cmd):
			end := journal.Event{Kind: journal.Kind(*kind), Payload: journal.Payload{Encoding: textOf(encoding), Data: payload}}
			messages = append(messages, journal.ChildMessage(id.Bytes, workflow, of, &end))
		}
		return nil
	})(rows)
	return messages, err
}

// numbers is an array of message numbers; none is null.
func numbers(list []journal.InboxSeq) (out []int64) {
	for _, n := range list {
		out = append(out, int64(n))
	}
	return out
}
