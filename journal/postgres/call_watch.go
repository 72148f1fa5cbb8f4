package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// origin is where times of bytes are counted from, so that they are numbers of a clock that never
// goes back.
var origin = time.Now()

// moving is a connection that knows when bytes last moved on it, and gives way to others while it
// reads a large answer. What is written is written in pieces, because a network that is slow takes
// long for all of it and must not seem silent.
type moving struct {
	net.Conn
	last   atomic.Int64 // time.Duration since origin
	answer answer
}

// NetConn returns the connection below, as those of package tls do.
func (m *moving) NetConn() net.Conn { return m.Conn }

// Read implements net.Conn.
func (m *moving) Read(b []byte) (int, error) {
	began := time.Now()
	n, err := m.Conn.Read(b[:m.answer.next(len(b))])
	m.note(n)
	if rate := m.answer.got(n, time.Since(began)); rate > 0 {
		narrow(m.Conn, rate)
	}
	return n, err
}

// Write implements net.Conn.
func (m *moving) Write(b []byte) (written int, err error) {
	for {
		n, err := m.Conn.Write(b[:min(len(b), writePieceBytes)])
		m.note(n)
		written += n
		if b = b[n:]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

func (m *moving) note(n int) {
	if n > 0 {
		m.last.Store(int64(time.Since(origin)))
	}
}

// movingDial makes a way to dial one whose connections know when bytes moved. Their calls are part
// of the traffic.
func movingDial(dial pgconn.DialFunc, t *traffic) func(ctx context.Context, network, address string) (*moving, error) {
	return func(ctx context.Context, network, address string) (*moving, error) {
		c, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		m := &moving{Conn: c, answer: answer{traffic: t}}
		m.answer.bytes.Store(noCall)
		return m, nil
	}
}

// movingOf returns the connection below a session, nil if it was not dialled by movingDial.
func movingOf(c *pgx.Conn) *moving {
	for conn := c.PgConn().Conn(); ; {
		switch below := conn.(type) {
		case *moving:
			return below
		case interface{ NetConn() net.Conn }: // encryption
			conn = below.NetConn()
		default:
			return nil
		}
	}
}

// callWatch ends a call when nothing has moved on its connection for callTimeout: the other end of
// a connection can vanish without a word. As long as bytes move a call may take as long as it
// takes, because a large answer on a slow network would come no sooner if it was asked for again.
type callWatch struct {
	limit  time.Duration
	cancel context.CancelFunc
	timer  *time.Timer
	conn   atomic.Pointer[moving]
	began  atomic.Int64 // time.Duration since origin
	ended  atomic.Bool  // the call was ended
	over   atomic.Bool  // the call is over, so that a look at this moment is the last one
}

// watchCall begins with the wait for a connection. The context ends when the call is ended, and
// must be cancelled after it.
func watchCall(ctx context.Context, limit time.Duration) (context.Context, *callWatch) {
	ctx, cancel := context.WithCancel(ctx)
	w := &callWatch{limit: limit, cancel: cancel}
	w.began.Store(int64(time.Since(origin)))
	w.timer = time.AfterFunc(limit, w.look)
	return ctx, w
}

// on begins anew with a connection.
func (w *callWatch) on(c *pgx.Conn) {
	w.began.Store(int64(time.Since(origin)))
	m := movingOf(c)
	if before := w.conn.Swap(m); before != nil {
		before.answer.end()
	}
	if m != nil {
		m.answer.begin()
	}
}

// off is called before the connection serves others.
func (w *callWatch) off() {
	if m := w.conn.Load(); m != nil {
		m.answer.end()
	}
}

// stop ends the watch.
func (w *callWatch) stop() {
	w.over.Store(true)
	w.timer.Stop()
	w.cancel()
}

// look ends the call, or comes back when it may have been silent for long enough.
func (w *callWatch) look() {
	if w.over.Load() {
		return
	}
	last, conn := w.began.Load(), w.conn.Load()
	if conn != nil {
		last = max(last, conn.last.Load())
	}
	if left := w.limit - (time.Since(origin) - time.Duration(last)); left > 0 {
		w.timer.Reset(left)
		return
	}
	w.ended.Store(true)
	w.cancel()
}

// tookLong marks the error of a call that was given up because it took too long: it was silent, or
// the server has ended its statement.
func (w *callWatch) tookLong(err error) error {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !errors.Is(err, journal.ErrUnavailable):
		return err
	case w.ended.Load():
		return fmt.Errorf("%w, no byte has moved for %s: %w", driver.ErrTookLong, w.limit, err)
	case ok && pe.Code == "57014":
		return fmt.Errorf("%w: %w", driver.ErrTookLong, err)
	}
	return err
}
