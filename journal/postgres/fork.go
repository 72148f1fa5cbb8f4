package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminFork begins another run at a point of a run's history (J13), in one transaction: as a copy
// that goes back.
func adminFork(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var refused error
	try := func(ctx context.Context, c *pgx.Conn) (err error) {
		r := &rewinding{s: s, a: a, w: a.Rewind, of: a.Run, run: journal.Run{ID: a.Fork.Run}}
		refused, err = r.fork(ctx, c)
		return err
	}
	var err error
	for range rewindTries {
		if err = s.transaction(ctx, try); !keyTaken(err) {
			break
		}
	}
	return errors.Join(err, refused)
}

func (r *rewinding) fork(ctx context.Context, c *pgx.Conn) (refused, err error) {
	f := r.a.Fork
	made := false
	read := each(func(row pgx.CollectableRow) error { return r.scan(row, &made) })
	var p pipeline
	p.exec(beginSQL)
	p.exec(holdSQL)
	if hasty(ctx, 1) {
		p.exec(heldWaitSQL)
	}
	p.query(r.s.sql.admin.fork.run, read, uuidArg(r.of), uuidArg(f.Run), f.Version, f.Queue, nullText(f.Key))
	queueActed(r.s, &p, r.a, &r.acted)
	if err := p.send(ctx, c); err != nil {
		return nil, err
	}
	switch {
	case r.acted: // also if the fork was deleted since
		return driver.ErrActed, nil
	case !r.exists:
		return journal.ErrNotFound, nil
	case !made:
		_, err := c.Exec(ctx, endSQL)
		return nil, err
	case r.run.Generation != r.w.Generation:
		return driver.ErrMoved, nil
	}
	p = pipeline{}
	p.exec(r.s.sql.admin.fork.inbox, uuidArg(r.of), uuidArg(f.Run))
	if err := p.send(ctx, c); err != nil {
		return nil, err
	}
	unread, refused, err := r.readState(ctx, c)
	if refused != nil || err != nil {
		return refused, err
	}
	in := r.w.Inbox(r.run.Continued, unread)
	if err := r.write(ctx, c, &in); err != nil {
		return nil, err
	}
	return nil, r.finishFork(ctx, c)
}

// finishFork gives the copied events what differs, writes the audit (J12), and ends the
// transaction.
func (r *rewinding) finishFork(ctx context.Context, c *pgx.Conn) error {
	f, next := r.a.Fork, int32(r.w.Generation)+1
	var p pipeline
	for _, result := range f.Results {
		p.exec(r.s.sql.admin.fork.results, uuidArg(f.Run), next, int32(result.Seq), nullText(result.Output.Encoding), nullBytes(result.Output.Data))
	}
	if len(f.Links) > 0 {
		links := make([]int64, len(f.Links))
		for i, link := range f.Links {
			links[i] = int64(link)
		}
		p.exec(r.s.sql.admin.fork.links, uuidArg(f.Run), next, int32(f.Results[0].Seq), links)
	}
	of, fork := f.Details(r.a)
	p.exec(r.s.sql.admin.note, append(auditArgs(r.a, of), r.run.Workflow)...)
	p.exec(r.s.sql.admin.note, append(auditArgs(f.Noted(r.a), fork), r.run.Workflow)...)
	p.exec(endSQL)
	return p.send(ctx, c)
}
