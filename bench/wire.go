package main

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres"
)

// wire is the way from a store to the server: it counts the bytes of all connections, and may be
// slow. It is a dialler and no proxy, so a byte costs the driver no second process and no copy.
type wire struct {
	rate     float64 // bytes a second in each direction; 0 for as many as there are
	up, down lane
}

// lane is one direction of a wire. Its connections get it in turns, by wireChunk, as packets of
// several connections share a line: one that has much to carry delays the others by a chunk each,
// and no more. Whatever is slower than that is the engine's own doing.
type lane struct {
	bytes atomic.Int64

	mu   sync.Mutex
	free time.Time // when all that was handed over so far has been carried
}

// wireChunk takes 3 ms on a line of 5 MB/s.
const wireChunk = 16 << 10

// through is the same database behind a wire.
func (d *database) through(l *wire) *database {
	behind := *d
	behind.options = postgres.Options{BeforeConnect: func(_ context.Context, c *pgx.ConnConfig) error {
		dial := c.DialFunc
		c.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return &wired{conn, l}, nil
		}
		return nil
	}}
	return &behind
}

// bytes are those of both directions.
func (l *wire) bytes() int64 { return l.up.bytes.Load() + l.down.bytes.Load() }

// carry waits until n bytes have passed.
func (a *lane) carry(n int, rate float64) {
	a.bytes.Add(int64(n))
	if rate == 0 {
		return
	}
	a.mu.Lock()
	now := time.Now()
	if a.free.Before(now) {
		a.free = now
	}
	a.free = a.free.Add(time.Duration(float64(n) / rate * float64(time.Second)))
	wait := a.free.Sub(now)
	a.mu.Unlock()
	time.Sleep(wait)
}

// wired is a connection through a wire.
type wired struct {
	net.Conn
	wire *wire
}

// Read implements net.Conn.
func (c *wired) Read(p []byte) (int, error) {
	if c.wire.rate > 0 {
		p = p[:min(len(p), wireChunk)]
	}
	n, err := c.Conn.Read(p)
	c.wire.down.carry(n, c.wire.rate)
	return n, err
}

// Write implements net.Conn.
func (c *wired) Write(p []byte) (sent int, err error) {
	for sent < len(p) && err == nil {
		part := p[sent:]
		if c.wire.rate > 0 {
			part = part[:min(len(part), wireChunk)]
		}
		var n int
		n, err = c.Conn.Write(part)
		c.wire.up.carry(n, c.wire.rate)
		sent += n
	}
	return sent, err
}
