package sqlite

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitInTx writes a turn inside the transaction of its step, and commits it: what the step wrote
// and the event of its completion are one commit.
func (s *Store) commitInTx(ctx context.Context, c *driver.Commit) (driver.Outcome, error) {
	t, ok := c.Tx.(*stepTx)
	if !ok {
		return driver.Outcome{}, fmt.Errorf("commit %s: transaction of type %T is not a step's: %w", c.Run, c.Tx, journal.ErrInvalid)
	}
	out := driver.Outcome{Err: journal.ErrTxLost}
	var err error
	t.end.Do(func() {
		out, err = t.commit(ctx, c)
		t.dispose()
	})
	return out, err
}

// commit owns the end of the transaction. The user's part is ended first, so that no statement of
// the step can follow.
//
// If the savepoint of the step is gone, something has ended the transaction that was not the
// engine. After a full disk what the step did is lost, and the attempt fails; after a COMMIT of the
// user's it is there without its event, and the step fails for good. After that the turn is written
// like any other. A COMMIT that fails has written nothing: what it left in the log has no end mark
// and is overwritten by the next transaction. So the outcome is always known, unlike over a
// network.
func (t *stepTx) commit(ctx context.Context, c *driver.Commit) (driver.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended != nil {
		return txLost(t.ended), nil
	}
	t.finish(errTxDone)
	if t.loan == nil { // the step did nothing: its turn goes with the others
		alone := *c
		alone.Tx = nil
		out, err := t.s.Commit(ctx, []driver.Commit{alone})
		switch {
		case ctx.Err() != nil && err != nil:
			return driver.Outcome{}, err
		case err != nil:
			return txLost(err), nil
		}
		return out[0], nil
	}
	defer t.returnLoan()
	w := t.s.writer.c
	switch err := t.endStep(); {
	case err == error(endedByBody):
		return driver.Outcome{Err: err}, nil
	case err != nil:
		return txLost(t.s.translate(err)), nil
	}
	var lost recalls
	defer func() { t.s.nodes.recall(lost) }()
	out, err := t.s.writeAlone(w, c, &lost)
	switch {
	case memberFault(err):
		return driver.Outcome{Err: t.s.translate(err)}, nil
	case err != nil: // nothing was written and nothing will be
		return txLost(t.s.translate(err)), nil
	case out.Err != nil: // J3
		return out, nil
	}
	if _, err := w.exec(writeCommitSQL); err != nil {
		// What a failed commit has left in the log is overwritten by the next one.
		return txLost(t.s.translate(err)), nil
	}
	return out, nil
}

// writeAlone writes a turn and what it does to others, in the transaction of the step. A fault is
// an error of the whole, as there are no other members to be spared.
func (s *Store) writeAlone(q querier, c *driver.Commit, lost *recalls) (driver.Outcome, error) {
	out, written, err := writeTurn(q, c)
	switch {
	case err != nil:
		return out, err
	case !written: // an earlier try was in another transaction, so what the step did in this one must not count
		out.Err = journal.ErrFenced
		return out, nil
	case !c.HasEffects():
		return out, nil
	}
	e := newEffects(s, q, lost)
	if err = e.write(c, &out); err == nil {
		err = e.applyClosePolicies(c, &out)
	}
	out.InboxLast = max(out.InboxLast, e.arrived[c.Run])
	return out, err
}

// txLost is the outcome of a turn whose transaction is gone, for a reason.
func txLost(why error) driver.Outcome {
	return driver.Outcome{Err: fmt.Errorf("%w: %w", journal.ErrTxLost, why)}
}
