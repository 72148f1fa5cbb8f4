package api

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// oneConn is a listener with one connection.
type oneConn struct {
	net.Listener
	conns chan net.Conn
}

func (l *oneConn) Accept() (net.Conn, error) {
	if c, ok := <-l.conns; ok {
		return c, nil
	}
	return nil, io.EOF
}

func (l *oneConn) Close() error   { return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

// TestSlowReader: a stream whose reader takes nothing ends after writeMax, and one that is silent
// for longer than that, or than the server's own limit, goes on.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		server := &http.Server{WriteTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			s := &stream{w: w}
			err := s.send("first", "", 1)
			if time.Sleep(2 * writeMax); err == nil {
				err = s.send("second", "", 2)
			}
			for err == nil {
				err = s.send("more", "", 3)
			}
			ended <- err
		})}
		near, far := net.Pipe() // it holds nothing: a write waits for its reader
		l := &oneConn{conns: make(chan net.Conn, 1)}
		l.conns <- far
		go func() { _ = server.Serve(l) }()
		if _, err := io.WriteString(near, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"first", "second"} {
			got := make([]byte, 4<<10)
			if n, err := near.Read(got); err != nil || !strings.Contains(string(got[:n]), "event: "+event) {
				t.Fatalf("instead of the %s event: %q %v", event, got[:n], err)
			}
		}
		began := time.Now()
		err := <-ended
		if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took != writeMax {
			t.Errorf("the stream ended after %s: %v", took, err)
		}
		near.Close()
		close(l.conns)
	})
}
