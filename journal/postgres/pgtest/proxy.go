package pgtest

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Point is a moment at which a client can die: it has just sent something that executes. Messages
// that only prepare or bind make none, because the server has done nothing then that outlives the
// connection.
type Point struct {
	N   int      // counts the points of all connections since CutWhen, from 1
	SQL []string // what was sent: one statement, or at the end of a request all of its statements
	// Answered tells that the message ends a request. Unless the client has opened a transaction,
	// its work is durable when the server has answered.
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

// Is tells whether the request is this statement, alone or among others.
func (p Point) Is(statement string) bool {
	return slices.ContainsFunc(p.SQL, func(sql string) bool { return strings.EqualFold(strings.TrimSpace(sql), statement) })
}

// Link is a network between clients and the server that fails on command. Its methods may be called
// from many goroutines.
//
// It forwards whole messages of the protocol, each wire with a goroutine for either direction, and
// decides about each message under mu. So a failure falls between two messages and never inside of
// one, and a test can name the message. A Link is armed for one failure at a time; it is disarmed
// by the failure itself, so that the client's next connection works.
type Link struct {
	listener net.Listener
	server   string // host and port
	dsn      string
	work     sync.WaitGroup

	rate                    atomic.Int64 // bytes a second of each direction of a wire; 0 for no bound
	fromServer, fromClients atomic.Int64 // bytes
	delay                   atomic.Int64 // nanoseconds

	mu      sync.Mutex
	flowing *sync.Cond // on mu: signals the end of a stall, and of a connection
	stalled bool
	refused bool
	refusal string // the SQLSTATE that new connections get; empty for none
	hung    bool
	closed  bool
	wires   map[*wire]struct{}
	points  int
	cut     func(Point) bool // nil while not armed
	before  bool             // the point that is cut at does not reach the server
	quiet   bool             // the connection is not broken, but falls silent
	after   func()
}

// Proxy puts a Link in front of the server of dsn. It ends with the test, together with its
// connections.
func Proxy(t testing.TB, dsn string) *Link {
	t.Helper()
	l, err := NewLink(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// NewLink is Proxy for programs that are no tests. Close it.
func NewLink(dsn string) (*Link, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
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
	return l, nil
}

// DSN is the address of the database through the link.
func (l *Link) DSN() string { return l.dsn }

// Cut breaks every connection. New ones work. What the server has been sent it may still carry out.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.wires {
		w.closeLocked()
	}
}

// Refuse makes the link refuse new connections, or not. Those that exist go on.
func (l *Link) Refuse(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = on
}

// Hang makes new connections hang as soon as they are made, or not, as with a server that takes
// long to let anybody in. Those that exist go on.
func (l *Link) Hang(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hung = on
	if !on {
		for w := range l.wires {
			w.hung = false
		}
		l.flowing.Broadcast()
	}
}

// Stall keeps all connections open, but nothing arrives any more, as after a silent network
// failure. Resume delivers what was held back.
func (l *Link) Stall() { l.setStalled(true) }

// Resume ends a stall.
func (l *Link) Resume() { l.setStalled(false) }

// Freeze is a Stall of the connections that exist now and never ends, as after a silent network
// failure on a way that new connections do not take.
func (l *Link) Freeze() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.wires {
		w.frozen = true
	}
}

// setStalled begins or ends a stall, and wakes the wires that wait for its end.
func (l *Link) setStalled(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalled = on
	l.flowing.Broadcast()
}

// CutWhen arms the link: the first point for which match answers true reaches the server, but
// nothing comes back. If the point ends a request, the link waits until the server has carried it
// out. Then it calls after (which may be nil), breaks that connection, and is disarmed. match and
// after must not call the link. A nil match disarms.
func (l *Link) CutWhen(match func(Point) bool, after func()) { l.arm(match, false, after) }

// CutBefore is CutWhen, but what makes the point is lost on its way to the server.
func (l *Link) CutBefore(match func(Point) bool, after func()) { l.arm(match, true, after) }

// FreezeBefore is CutBefore, but the connection is not broken: it falls silent, as after a Freeze
// of it alone.
func (l *Link) FreezeBefore(match func(Point) bool, after func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armLocked(match, true, after)
	l.quiet = true
}

// arm replaces whatever the link was armed for, and counts points from 1 again.
func (l *Link) arm(match func(Point) bool, before bool, after func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armLocked(match, before, after)
}

// armLocked is arm under mu.
func (l *Link) armLocked(match func(Point) bool, before bool, after func()) {
	l.points, l.cut, l.before, l.after, l.quiet = 0, match, before, after, false
}

// LoseAnswer arms the link for the n-th request from now that mentions the text: it is carried
// out, and its answer is lost. The channel is closed when that has happened.
func (l *Link) LoseAnswer(n int, text string) <-chan struct{} {
	return l.lose(n, func(p Point) bool { return p.Mentions(text) }, false)
}

// LoseRequest is LoseAnswer, but the end of the request never reaches the server, so it is not
// carried out.
func (l *Link) LoseRequest(n int, text string) <-chan struct{} {
	return l.lose(n, func(p Point) bool { return p.Mentions(text) }, true)
}

// LoseAnswerOf is LoseAnswer for the next request that is the statement, and not one that mentions
// it.
func (l *Link) LoseAnswerOf(statement string) <-chan struct{} {
	return l.lose(1, func(p Point) bool { return p.Is(statement) }, false)
}

// LoseRequestOf is LoseRequest for the next request that is the statement.
func (l *Link) LoseRequestOf(statement string) <-chan struct{} {
	return l.lose(1, func(p Point) bool { return p.Is(statement) }, true)
}

// lose arms the link for a request; n is counted by match, which is called under mu.
func (l *Link) lose(n int, is func(Point) bool, before bool) <-chan struct{} {
	done := make(chan struct{})
	l.arm(func(p Point) bool {
		if p.Answered && is(p) {
			n--
		}
		return n == 0
	}, before, func() { close(done) })
	return done
}

// Points returns how many points there were since CutWhen: whether a test has come to the end of
// what there is to cut.
func (l *Link) Points() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.points
}

// accept takes connections until the listener is closed. One that is refused is closed at once, as
// by a server that is starting.
func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return // closed
		}
		l.mu.Lock()
		refused, refusal := l.refused || l.closed, l.refusal
		l.mu.Unlock()
		if refusal != "" && !refused {
			l.work.Go(func() { refuse(client, refusal) })
			continue
		}
		if refused {
			_ = client.Close()
			continue
		}
		l.work.Go(func() { l.serve(client) })
	}
}

// serve connects a client to the server and forwards what it sends, until either end closes.
func (l *Link) serve(client net.Conn) {
	server, err := net.Dial("tcp", l.server)
	if err != nil {
		_ = client.Close() // as a client sees a server that is down
		return
	}
	w := newWire(l, client, server)
	l.mu.Lock()
	if l.closed || l.refused { // by now: a Cut that followed has not seen the wire
		w.closeLocked()
	}
	l.wires[w] = struct{}{}
	w.hung = l.hung
	l.mu.Unlock()
	l.work.Go(w.fromServer)
	w.fromClient()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wires, w)
}

// Close ends everything and waits for the goroutines, so that a test leaves none behind.
func (l *Link) Close() {
	_ = l.listener.Close()
	l.mu.Lock()
	l.closed = true
	for w := range l.wires {
		w.closeLocked()
	}
	l.mu.Unlock()
	l.work.Wait()
}
