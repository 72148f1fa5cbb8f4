package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// refusal is an error of the address itself. Open returns it as it is; of a later connection it is
// journal.ErrUnavailable, because the address may lead elsewhere again.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

var (
	errPooled = &refusal{"the address leads to a pooler that gives a session for one transaction only (transaction pooling), " +
		"where settings, LISTEN and locks of a session do not last: set postgres.Options.Pooler, and, for work between processes " +
		"to stay quick, postgres.Options.ListenDSN to an address of the server itself"}
	errPooledStatements = &refusal{"the address leads to a pooler that gives a session for one statement only (statement pooling), " +
		"which cannot work, because commits are transactions: set its pool_mode to transaction, and postgres.Options.Pooler, or to session"}
	errListenPooled = &refusal{"postgres.Options.ListenDSN leads to a pooler that gives a session for one transaction or statement only: " +
		"it must be an address of the server itself, or of a pooler in session mode"}
	errStrayed = &refusal{"postgres.Options.ListenDSN leads to another server or database than the connection string"}
)

// backendSQL names the process that executes it.
const backendSQL = `SELECT pg_backend_pid()`

// pooling finds out whether a pooler gives sessions to connections, which is as good as none, or to
// transactions.
//
// A session of one's own has a process of its own, the same in each transaction. One connection
// alone cannot tell: a pooler that nobody else uses gives it the same session each time. So two are
// compared, and one is in a transaction while the other one asks. A pooler that hands out the
// session that was given back last gives the second what the first has just used. One that hands
// out its sessions in turn gives the first another one while the second is in its transaction,
// unless there are two only; then the second gets the first's after it. A pooler that is busy with
// others mixes them by itself.
//
// The finding is kept for a while, so that a pool that fills does not need twice its connections
// from the pooler. That is also how long a pooler whose mode is changed may be trusted.
//
// One looks at a time. The others wait for its finding no longer than their contexts last.
type pooling struct {
	looks  chan struct{} // has room while nobody looks; whoever looks has proven
	proven time.Time
}

func newPooling() *pooling { return &pooling{looks: make(chan struct{}, 1)} }

// check returns an error unless the sessions behind a pooler last. It leaves nothing behind in the
// session of c.
func (p *pooling) check(ctx context.Context, c *pgx.Conn) error {
	select {
	case p.looks <- struct{}{}:
		defer func() { <-p.looks }()
	case <-ctx.Done():
		return fmt.Errorf("ask whether the pooler gives sessions that last: %w", ctx.Err())
	}
	if time.Since(p.proven) < poolingTrust {
		return nil
	}
	second, err := pgx.ConnectConfig(ctx, c.Config())
	if err != nil {
		return fmt.Errorf("ask whether the pooler gives sessions that last: %w", err)
	}
	defer hangUp(second)
	if err := compare(ctx, c, second); err != nil {
		return err
	}
	p.proven = time.Now()
	return nil
}

// compare compares the processes that serve two connections.
func compare(ctx context.Context, a, b *pgx.Conn) error {
	known := map[*pgx.Conn]int32{}
	look := func(c *pgx.Conn) error {
		var pid int32
		if err := c.QueryRow(ctx, backendSQL, pgx.QueryExecModeExec).Scan(&pid); err != nil {
			return fmt.Errorf("ask whether the pooler gives sessions that last: %w", err)
		}
		if before, ok := known[c]; ok && before != pid {
			return errPooled
		}
		if known[c] = pid; known[a] == known[b] {
			return errPooled
		}
		return nil
	}
	looks := func(order ...*pgx.Conn) (err error) {
		for i := 0; i < len(order) && err == nil; i++ {
			err = look(order[i])
		}
		return err
	}
	if err := looks(a); err != nil {
		return err
	}
	if err := begins(ctx, b); err != nil {
		return err
	}
	if err := looks(b, a, a); err != nil {
		return err
	}
	if _, err := b.Exec(ctx, endSQL); err != nil {
		return err
	}
	return looks(b, a, b, a)
}

// begins opens a transaction, which a pooler of statements refuses.
func begins(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, beginSQL)
	if _, refused := errors.AsType[*pgconn.PgError](err); refused {
		return fmt.Errorf("%w: %w", errPooledStatements, err)
	}
	return err
}
