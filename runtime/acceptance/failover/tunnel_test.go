package main

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echo is a server that sends back what it gets, and tells when a connection ends.
type echo struct {
	net.Listener
	ended chan struct{}
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := &echo{Listener: l, ended: make(chan struct{}, 10)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(conn, conn)
				_ = conn.Close()
				e.ended <- struct{}{}
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return e
}

// tunnelled is a tunnel to an echo, and a connection through it.
type tunnelled struct {
	*tunnel
	t    *testing.T
	echo *echo
	conn net.Conn
}

func newTunnelled(t *testing.T) *tunnelled {
	t.Helper()
	e := newEcho(t)
	tun, err := dig(e.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tun.Close(); err != nil {
			t.Error(err)
		}
	})
	tt := &tunnelled{tunnel: tun, t: t, echo: e}
	tt.conn = tt.dial()
	tt.says(tt.conn, "hello")
	return tt
}

func (tt *tunnelled) dial() net.Conn {
	tt.t.Helper()
	conn, err := net.Dial("tcp4", tt.addr().String())
	if err != nil {
		tt.t.Fatal(err)
	}
	tt.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// says sends a text and wants it back.
func (tt *tunnelled) says(conn net.Conn, text string) {
	tt.t.Helper()
	tt.sends(conn, text)
	tt.hears(conn, text)
}

func (tt *tunnelled) sends(conn net.Conn, text string) {
	tt.t.Helper()
	if _, err := conn.Write([]byte(text)); err != nil {
		tt.t.Fatal(err)
	}
}

func (tt *tunnelled) hears(conn net.Conn, text string) {
	tt.t.Helper()
	got := make([]byte, len(text))
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != text {
		tt.t.Fatalf("heard %q, %v; want %q", got, err, text)
	}
}

// hearsNothing wants no byte and no end for a moment. A fault that lets something through would do
// it at once; a slow machine can only make this test see less.
func (tt *tunnelled) hearsNothing(conn net.Conn) {
	tt.t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Millisecond)); err != nil {
		tt.t.Fatal(err)
	}
	n, err := conn.Read(make([]byte, 1))
	if n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		tt.t.Fatalf("heard %d bytes, %v; want nothing", n, err)
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		tt.t.Fatal(err)
	}
}

// isOver wants the end of a connection.
func (tt *tunnelled) isOver(conn net.Conn) {
	tt.t.Helper()
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		tt.t.Fatalf("heard %d bytes, want the end", n)
	}
}

func TestTunnelHolds(t *testing.T) {
	t.Parallel()
	tt := newTunnelled(t)
	tt.hold()
	tt.sends(tt.conn, "wait")
	late := tt.dial()
	tt.sends(late, "new")
	tt.hearsNothing(tt.conn)
	tt.hearsNothing(late)
	tt.release()
	tt.hears(tt.conn, "wait")
	tt.hears(late, "new")
}

func TestTunnelLoses(t *testing.T) {
	t.Parallel()
	tt := newTunnelled(t)
	tt.lose()
	tt.sends(tt.conn, "lost")
	late := tt.dial()
	tt.sends(late, "new")
	tt.hearsNothing(tt.conn)
	tt.release()
	tt.hears(late, "new")
	tt.sends(tt.conn, "still lost")
	tt.hearsNothing(tt.conn)
	_ = tt.conn.Close()
	<-tt.echo.ended // the server hears of it when the network is back and the client has given up
}

func TestTunnelEndsTheServersHalf(t *testing.T) {
	t.Parallel()
	tt := newTunnelled(t)
	tt.lose()
	tt.endServerHalf()
	<-tt.echo.ended
	tt.hearsNothing(tt.conn)
	tt.release()
	tt.hearsNothing(tt.conn)
}

func TestTunnelCutsListeners(t *testing.T) {
	t.Parallel()
	tt := newTunnelled(t)
	listener := tt.dial()
	tt.says(listener, `LISTEN "hints"`)
	if n := tt.cut(true); n != 1 {
		t.Errorf("%d listeners are cut off, want 1", n)
	}
	tt.isOver(listener)
	tt.says(tt.conn, "still here")
	if n := tt.cut(false); n != 1 {
		t.Errorf("%d connections are cut, want 1", n)
	}
	tt.isOver(tt.conn)
}

func TestTunnelLeadsElsewhere(t *testing.T) {
	t.Parallel()
	tt := newTunnelled(t)
	other := newEcho(t)
	tt.lead(other.Addr().String())
	conn := tt.dial()
	tt.says(conn, "there")
	_ = conn.Close()
	<-other.ended
	_ = other.Close()
	tt.isOver(tt.dial()) // a server that is down refuses
	tt.says(tt.conn, "the old connection stays")
}

func TestTunnelIsSlow(t *testing.T) {
	t.Parallel()
	tt := newTunnelled(t)
	const delay = 50 * time.Millisecond
	tt.slowDown(delay)
	began := time.Now()
	tt.says(tt.dial(), "slow")
	if took := time.Since(began); took < delay {
		t.Errorf("the server was reached after %s, want %s at least", took, delay)
	}
}
