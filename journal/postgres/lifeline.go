package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// lifeline is the connection on which the nodes of a store renew their leases and ask for signs of
// life. No other call can take it, so neither a pool whose connections are all busy nor a slow
// statement can make a node seem dead.
//
// Two at most have to do with the connection: keep, which opens it, and whoever has taken it. It
// travels through free, so whoever has received it is the only one that uses it, and gives it back
// by put, broken or not. A connection that breaks while nobody uses it is found broken at the next
// use.
type lifeline struct {
	s      *Store
	opener sync.Once
	free   chan *pgx.Conn // holds the connection while nobody has it
	broken chan struct{}  // asks keep for another one
}

func newLifeline(s *Store) *lifeline {
	return &lifeline{s: s, free: make(chan *pgx.Conn, 1), broken: make(chan struct{}, 1)}
}

// open begins to keep a connection, until the store is closed.
func (l *lifeline) open() {
	if l.s.sessions.lasting {
		l.s.hints.startLoop(&l.opener, l.keep)
	}
}

// keep opens a connection whenever there is none: at once, and then with a pause that grows while
// no try succeeds.
func (l *lifeline) keep(ctx context.Context) {
	pause := time.Duration(lifelinePauseMin)
	for ctx.Err() == nil {
		try, cancel := context.WithTimeout(ctx, lifelineConnect)
		conn, err := l.s.sessions.connect(try)
		cancel()
		if err != nil {
			sleep(ctx, pause)
			pause = min(2*pause, lifelinePauseMax)
			continue
		}
		pause = lifelinePauseMin
		l.free <- conn // there is no other one
		select {
		case <-l.broken:
		case <-ctx.Done():
		}
	}
	l.drain()
}

// drain closes the connection if nobody has it.
func (l *lifeline) drain() {
	select {
	case c := <-l.free:
		hangUp(c)
	default:
	}
}

// take returns the connection as soon as it is free, nil if ctx ends before.
func (l *lifeline) take(ctx context.Context) *pgx.Conn {
	select {
	case c := <-l.free:
		return c
	case <-ctx.Done():
		return nil
	}
}

// taken returns the connection if it is free now, else nil.
func (l *lifeline) taken() *pgx.Conn {
	select {
	case c := <-l.free:
		return c
	default:
		return nil
	}
}

// put gives the connection back.
func (l *lifeline) put(c *pgx.Conn) {
	if c.IsClosed() {
		l.broken <- struct{}{} // there is room: one token for one connection
		return
	}
	l.free <- c
	if l.s.hints.ctx.Err() != nil {
		l.drain() // keep may have ended without it
	}
}

// sleep waits for a time, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
