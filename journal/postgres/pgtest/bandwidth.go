package pgtest

import (
	"io"
	"net"
	"sync/atomic"
	"time"
)

// paceBytes is how much of a stream a slow link passes on at once.
const paceBytes = 16 << 10

// socketBytes is what the system keeps of a wire at the link's end. A small buffer lets the sender
// feel how slow the link is; else megabytes seem to be sent that have gone nowhere.
const socketBytes = 64 << 10

// Throttle bounds the bytes a second of each connection in either direction, those that exist
// among them, as a network between two regions does. 0 ends it.
func (l *Link) Throttle(bytesPerSecond int) { l.rate.Store(int64(bytesPerSecond)) }

// Carried returns the bytes that have come from the server and from clients so far.
func (l *Link) Carried() (fromServer, fromClients int64) {
	return l.fromServer.Load(), l.fromClients.Load()
}

// paced reads one direction of a wire at the link's rate. What was read is late, so the end that
// sends feels it by its own buffers, as on a network.
type paced struct {
	w       *wire
	conn    net.Conn
	carried *atomic.Int64
	due     time.Time // when the next bytes may pass
}

// pace returns the reader of one end of a wire.
func (w *wire) pace(conn net.Conn, carried *atomic.Int64) io.Reader {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetReadBuffer(socketBytes)
	}
	return &paced{w: w, conn: conn, carried: carried}
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	rate := p.w.link.rate.Load()
	if rate > 0 {
		b = b[:min(len(b), paceBytes)]
	}
	n, err := p.conn.Read(b)
	p.carried.Add(int64(n))
	if rate > 0 {
		p.wait(time.Duration(n) * time.Second / time.Duration(rate))
	}
	if delay := time.Duration(p.w.link.delay.Load()); delay > 0 {
		p.wait(delay)
	}
	return n, err
}

// wait waits as long as bytes are on their way, or until the wire ends.
func (p *paced) wait(d time.Duration) {
	if now := time.Now(); p.due.Before(now) {
		p.due = now
	}
	p.due = p.due.Add(d)
	t := time.NewTimer(time.Until(p.due))
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.w.ended:
	}
}
