package postgres

import (
	"bytes"
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// plain spares a second connection to a server that offers no encryption, where the connection
// string takes what it gets: sslmode=prefer, the default.
//
// The server answers the request for encryption with one byte, and waits for whatever comes on the
// same connection then: libpq goes on there without encryption. The driver closes it and dials
// again, which costs a round trip or two, and the server a process. So plain keeps what the driver
// closes after that byte, and returns it when the driver dials the same address. Who asks for what,
// in which order, and what is taken for an answer, is the driver's to decide, as before: no
// connection is without encryption that would have it otherwise.
type plain struct {
	dial func(ctx context.Context, network, address string) (*moving, error)

	mu   sync.Mutex
	kept map[string]*moving // by address; of one connect, and none behind it
}

// oncePlain makes the way to dial of one that is to be connected with this configuration.
func oncePlain(c *pgx.ConnConfig, t *traffic) pgconn.DialFunc {
	dial := movingDial(watchful(c.DialFunc), t)
	takesPlain := slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil })
	if c.TLSConfig == nil || !takesPlain {
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			m, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return m, nil
		}
	}
	p := &plain{dial: dial, kept: map[string]*moving{}}
	return p.connect
}

// connect is a pgconn.DialFunc.
func (p *plain) connect(ctx context.Context, network, address string) (net.Conn, error) {
	if m := p.take(address); m != nil {
		return m, nil
	}
	m, err := p.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &asking{moving: m, refused: func() { p.keep(ctx, address, m) }}, nil
}

// keep keeps a connection until the connect is over, whose context ends then.
func (p *plain) keep(ctx context.Context, address string, m *moving) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept[address] = m
	context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.kept[address] == m {
			delete(p.kept, address)
			_ = m.Close()
		}
	})
}

func (p *plain) take(address string) *moving {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.kept[address]
	delete(p.kept, address)
	return m
}

// asking is a connection on which encryption may be asked for. It stays below one that is
// encrypted.
type asking struct {
	*moving
	refused func() // the connection is closed because the server has refused
	state   atomic.Int32
}

// The states of an asking connection.
const (
	nothingSent int32 = iota
	asked             // the request for encryption is what was sent
	refused           // the server has answered that it offers none, and nothing else
	decided           // something else has happened
)

// tlsRequest is the request for encryption.
var tlsRequest = []byte{0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f}

// NetConn returns the connection below.
func (a *asking) NetConn() net.Conn { return a.moving }

// Write implements net.Conn.
func (a *asking) Write(b []byte) (int, error) {
	if a.state.Load() != decided {
		if !bytes.Equal(b, tlsRequest) || !a.state.CompareAndSwap(nothingSent, asked) {
			a.state.Store(decided)
		}
	}
	return a.moving.Write(b)
}

// Read implements net.Conn.
func (a *asking) Read(b []byte) (int, error) {
	n, err := a.moving.Read(b)
	if a.state.Load() != decided && n > 0 {
		if n > 1 || b[0] != 'N' || !a.state.CompareAndSwap(asked, refused) {
			a.state.Store(decided)
		}
	}
	return n, err
}

// Close implements net.Conn.
func (a *asking) Close() error {
	if a.state.CompareAndSwap(refused, decided) {
		a.refused()
		return nil
	}
	return a.moving.Close()
}
