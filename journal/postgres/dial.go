package postgres

import (
	"context"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// watchful makes the kernel notice that the other end of a connection has gone without a word,
// whoever dials: packets ask a connection that is quiet for a sign of life, and what is sent must
// be acknowledged in time. Without the second the kernel sends the same for a quarter of an hour.
// Both are between the two ends of the wire, so they say nothing about a proxy that has lost its
// server; for that, calls have times of their own.
func watchful(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if tcp, ok := c.(*net.TCPConn); ok && err == nil {
			// A kernel that knows none of these has times of its own.
			_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: keepAliveIdle, Interval: keepAliveEvery, Count: keepAliveCount})
			_ = setUserTimeout(tcp, userTimeout)
		}
		return c, err
	}
}

// narrow gives a connection the window for a network of this rate, if it is one of the kernel's
// whose round trip is known. Without it more is on its way than need be.
func narrow(c net.Conn, rate float64) {
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return
	}
	roundTrip, ok := roundTripOf(tcp)
	if bytes := window(rate, roundTrip); ok && bytes > 0 {
		_ = tcp.SetReadBuffer(bytes)
	}
}
