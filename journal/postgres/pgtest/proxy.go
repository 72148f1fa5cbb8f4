package pgtest

import (
	"bufio"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Point is a moment at which a client can die: it has just sent something that executes.
type Point struct {
	N   int      // counts the points of all connections since CutWhen, from 1
	SQL []string // what was sent: one statement, or at the end of a request all of its statements
	// Answered tells that the message ends a request. Unless the client has opened a transaction, its work is
	// durable when the server has answered.
	Answered bool
}

// Mentions tells whether a statement contains the text, in any case.
func (p Point) Mentions(text string) bool {
	for _, sql := range p.SQL {
		if strings.Contains(strings.ToLower(sql), strings.ToLower(text)) {
			return true
		}
	}
	return false
}

// Link is a network between clients and the server that fails on command.
type Link struct {
	listener net.Listener
	server   string // host and port
	dsn      string
	work     sync.WaitGroup

	mu      sync.Mutex
	flowing *sync.Cond // on mu: signals the end of a stall, and of a connection
	stalled bool
	refused bool
	closed  bool
	wires   map[*wire]struct{}
	points  int
	cut     func(Point) bool // nil while not armed
	after   func()
}

// Proxy puts a Link in front of the server of dsn. It ends with the test.
func Proxy(t testing.TB, dsn string) *Link {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	l := &Link{listener: listener, server: u.Host, wires: map[*wire]struct{}{}}
	if u.Port() == "" {
		l.server = net.JoinHostPort(u.Hostname(), "5432")
	}
	l.flowing = sync.NewCond(&l.mu)
	u.Host = listener.Addr().String()
	q := u.Query()
	q.Set("sslmode", "disable") // the proxy reads what passes
	u.RawQuery = q.Encode()
	l.dsn = u.String()
	l.work.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

// DSN is the address of the database through the link.
func (l *Link) DSN() string { return l.dsn }

// Cut breaks every connection. New ones work.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.wires {
		w.closeLocked()
	}
}

// Refuse makes the link refuse new connections, or not.
func (l *Link) Refuse(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = on
}

// Stall keeps all connections open, but nothing arrives any more, as after a silent network
// failure. Resume delivers what was held back.
func (l *Link) Stall() { l.setStalled(true) }

// Resume ends a stall.
func (l *Link) Resume() { l.setStalled(false) }

func (l *Link) setStalled(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalled = on
	l.flowing.Broadcast()
}

// CutWhen arms the link: the first point for which match answers true reaches the server, but nothing
// comes back. If the point ends a request, the link waits until the server has carried it out. Then it calls
// after (which may be nil), breaks that connection, and is disarmed. match and after must not
// call the link. A nil match disarms.
func (l *Link) CutWhen(match func(Point) bool, after func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.points, l.cut, l.after = 0, match, after
}

// LoseAnswer arms the link for the n-th request from now that mentions the text: it is carried
// out, and its answer is lost. The channel is closed when that has happened.
func (l *Link) LoseAnswer(n int, text string) <-chan struct{} {
	done := make(chan struct{})
	l.CutWhen(func(p Point) bool {
		if p.Answered && p.Mentions(text) {
			n--
		}
		return n == 0
	}, func() { close(done) })
	return done
}

// Points returns how many points there were since CutWhen.
func (l *Link) Points() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.points
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		l.mu.Lock()
		refused := l.refused || l.closed
		l.mu.Unlock()
		if refused {
			_ = client.Close()
			continue
		}
		l.work.Go(func() { l.serve(client) })
	}
}

func (l *Link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		_ = client.Close() // as a client sees a server that is down
		return
	}
	w := &wire{link: l, client: client, server: server, owed: 1} // the server speaks first, unasked
	w.script.prepared = map[string]string{}
	l.mu.Lock()
	if l.closed {
		w.closeLocked()
	}
	l.wires[w] = struct{}{}
	l.mu.Unlock()
	l.work.Go(w.fromServer)
	w.fromClient()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wires, w)
}

func (l *Link) close() {
	_ = l.listener.Close()
	l.mu.Lock()
	l.closed = true
	for w := range l.wires {
		w.closeLocked()
	}
	l.mu.Unlock()
	l.work.Wait()
}

// wire is one connection through a link.
type wire struct {
	link           *Link
	client, server net.Conn
	script         script // of fromClient's goroutine

	// Guarded by link.mu.
	owed   int  // requests that the server has not answered
	doomed bool // nothing reaches the client any more
	dead   bool
}

func (w *wire) fromClient() {
	defer w.close()
	r := bufio.NewReader(w.client)
	m, err := readStartup(r)
	for ; err == nil; m, err = readMessage(r) {
		doom, settled := w.pass(m)
		if !settled {
			return
		}
		if _, err := w.server.Write(m.bytes); err != nil {
			return
		}
		if doom != nil {
			w.finish(doom)
			return
		}
	}
}

// pass waits for the end of a stall and takes note of a client's message before it is forwarded. doom is what to
// do after this message, if it is the client's last; ok is false if the wire is dead.
func (w *wire) pass(m message) (doom func(), ok bool) {
	l := w.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if !w.flow() {
		return nil, false
	}
	if m.kind == wireSync || m.kind == wireQuery {
		w.owed++
	}
	p, is := w.script.point(m)
	if !is || l.cut == nil {
		return nil, true
	}
	l.points++
	p.N = l.points
	if !l.cut(p) {
		return nil, true
	}
	w.doomed = true
	doom = func() {}
	if l.after != nil {
		doom = l.after
	}
	l.cut, l.after = nil, nil
	if !p.Answered {
		w.owed = 0 // there will be no answer to wait for
	}
	return doom, true
}

// finish waits until the server has carried out the doomed request.
func (w *wire) finish(doom func()) {
	l := w.link
	l.mu.Lock()
	for w.owed > 0 && !w.dead {
		l.flowing.Wait()
	}
	l.mu.Unlock()
	doom()
}

func (w *wire) fromServer() {
	defer w.close()
	r := bufio.NewReader(w.server)
	for {
		m, err := readMessage(r)
		if err != nil {
			return
		}
		w.link.mu.Lock()
		ok := w.flow()
		doomed := w.doomed
		if m.kind == wireReady {
			w.owed--
			w.link.flowing.Broadcast()
		}
		w.link.mu.Unlock()
		if !ok {
			return
		}
		if doomed {
			continue
		}
		if _, err := w.client.Write(m.bytes); err != nil {
			return
		}
	}
}

// flow waits while the link is stalled; false means that the wire is dead. The caller holds link.mu.
func (w *wire) flow() bool {
	for w.link.stalled && !w.dead {
		w.link.flowing.Wait()
	}
	return !w.dead
}

func (w *wire) close() {
	w.link.mu.Lock()
	defer w.link.mu.Unlock()
	w.closeLocked()
}

func (w *wire) closeLocked() {
	if w.dead {
		return
	}
	w.dead = true
	_ = w.client.Close()
	_ = w.server.Close()
	w.link.flowing.Broadcast()
}
