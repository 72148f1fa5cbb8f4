package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
)

// refuser is a server that answers a request for encryption with one byte, and lets everybody in who
// asks for none. Behind any other byte than N it hangs up.
type refuser struct {
	net.Listener
	answer   byte
	accepted atomic.Int32
	ended    chan struct{} // a token for each connection that has ended
}

func newRefuser(t *testing.T, answer byte) *refuser {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &refuser{Listener: l, answer: answer, ended: make(chan struct{}, 10)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			r.accepted.Add(1)
			go r.serve(c)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return r
}

// end waits until a connection has ended.
func (r *refuser) end(t *testing.T) {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(time.Minute):
		t.Fatal("a connection is left open")
	}
}

func (r *refuser) serve(c net.Conn) {
	defer func() { _ = c.Close(); r.ended <- struct{}{} }()
	b := pgproto3.NewBackend(c, c)
	for {
		m, err := b.ReceiveStartupMessage()
		if err != nil {
			return
		}
		if _, asks := m.(*pgproto3.SSLRequest); !asks {
			break
		}
		if _, err := c.Write([]byte{r.answer}); err != nil || r.answer != 'N' {
			return
		}
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if b.Flush() == nil {
		_, _ = b.Receive() // the farewell
	}
}

// connectTo connects to servers of one name.
func connectTo(t *testing.T, sslmode string, servers ...*refuser) (*pgx.Conn, error) {
	t.Helper()
	config, err := pgx.ParseConfig("host=servers user=u database=d connect_timeout=60 sslmode=" + sslmode)
	if err != nil {
		t.Fatal(err)
	}
	config.LookupFunc = func(context.Context, string) (list []string, err error) {
		for _, s := range servers {
			list = append(list, s.Addr().String())
		}
		return list, nil
	}
	config.DialFunc = oncePlain(config, &traffic{})
	return pgx.ConnectConfig(t.Context(), config)
}

// A server that offers no encryption is connected to once where that is taken, and what is not used
// is closed. Where it is not taken, or the server has not said so, it is as the driver has it.
func TestPlainConnectionsAreOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sslmode string
		answer  byte
		want    int32
		refused bool
	}{
		"prefer": {"prefer", 'N', 1, false}, "an error": {"prefer", 'E', 2, false},
		"require": {"require", 'N', 1, true}, "disable": {"disable", 'N', 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newRefuser(t, c.answer)
			conn, err := connectTo(t, c.sslmode, s)
			if refused := err != nil; refused != c.refused {
				t.Fatalf("connect: %v", err)
			}
			if err == nil {
				if movingOf(conn) == nil {
					t.Error("its calls are not watched")
				}
				_ = conn.Close(t.Context())
			}
			if n := s.accepted.Load(); n != c.want {
				t.Errorf("there were %d connections, want %d", n, c.want)
			}
			for range c.want {
				s.end(t)
			}
		})
	}
	t.Run("two servers", func(t *testing.T) {
		t.Parallel()
		first, second := newRefuser(t, 'N'), newRefuser(t, 'N')
		conn, err := connectTo(t, "prefer", first, second)
		if err != nil {
			t.Fatal(err)
		}
		second.end(t) // while the one to the first is open
		if a, b := first.accepted.Load(), second.accepted.Load(); a != 1 || b != 1 || conn.IsClosed() {
			t.Errorf("there were %d and %d connections, want one each", a, b)
		}
		_ = conn.Close(t.Context())
		first.end(t)
	})
}
