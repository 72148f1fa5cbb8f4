package main

import (
	"errors"
	"net"
	"sync"
	"time"
)

// tunnel is the network between some clients and a server, and fails on command. It forwards bytes
// and knows nothing of their meaning, except that it sees which connections listen for hints.
//
// A fault is a state of the tunnel or of its connections, and everybody who forwards looks at it
// under mu, between reading some bytes and passing them on. So from the moment when the fault has
// been set nothing passes any more, and what arrived before it has been sent.
type tunnel struct {
	listener net.Listener
	work     sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond // on mu: some state has changed
	target  string     // host and port; where new connections lead
	held    bool       // nothing passes, in no direction, and nobody gets an answer
	delay   time.Duration
	closed  bool
	pipes   map[*pipe]struct{}
}

// dig opens a tunnel to a server.
func dig(target string) (*tunnel, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	t := &tunnel{listener: listener, target: target, pipes: map[*pipe]struct{}{}}
	t.changed = sync.NewCond(&t.mu)
	t.work.Go(t.accept)
	return t, nil
}

func (t *tunnel) addr() *net.TCPAddr { return t.listener.Addr().(*net.TCPAddr) }

// accept lets everybody in, also while nothing passes: a network that has failed does not refuse.
func (t *tunnel) accept() {
	for {
		client, err := t.listener.Accept()
		if err != nil {
			return // closed
		}
		t.work.Go(func() { t.serve(client) })
	}
}

// serve leads a connection to the present target, as soon as the network lets it.
func (t *tunnel) serve(client net.Conn) {
	p := &pipe{t: t, client: client}
	target, delay, ok := t.enter(p)
	if ok && delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		<-timer.C
	}
	if ok {
		ok = p.connect(target)
	}
	if ok {
		t.work.Go(p.fromServer)
		p.fromClient()
	}
	t.leave(p)
}

// enter waits until the network works. ok is false if it never will again.
func (t *tunnel) enter(p *pipe) (target string, delay time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pipes[p] = struct{}{}
	for t.held && !t.closed {
		t.changed.Wait()
	}
	return t.target, t.delay, !t.closed
}

func (t *tunnel) leave(p *pipe) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.closeLocked()
	delete(t.pipes, p)
}

// change makes a change of state under mu and wakes whoever waits for one.
func (t *tunnel) change(fn func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fn()
	t.changed.Broadcast()
}

// hold stops everything: bytes wait where they are, and new connections get no answer.
func (t *tunnel) hold() { t.change(func() { t.held = true }) }

// release lets everything go on, with the bytes that had to wait.
func (t *tunnel) release() { t.change(func() { t.held = false }) }

// lose makes the connections of now deaf and dumb for ever: what is sent vanishes, and neither end
// learns of it. Like hold it keeps new connections waiting for release.
func (t *tunnel) lose() {
	t.change(func() {
		t.held = true
		for p := range t.pipes {
			p.lost = p.server != nil // who has not come through yet may wait
		}
	})
}

// endServerHalf closes the server's half of the connections of now. Their clients hear nothing of
// it while the tunnel is held or they are lost.
func (t *tunnel) endServerHalf() {
	t.change(func() {
		for p := range t.pipes {
			if p.server != nil {
				_ = p.server.Close()
			}
		}
	})
}

// cut closes the connections of now at both ends, or only those that listen for hints. It returns
// how many.
func (t *tunnel) cut(listenersOnly bool) (n int) {
	t.change(func() {
		for p := range t.pipes {
			if p.listens || !listenersOnly {
				p.closeLocked()
				n++
			}
		}
	})
	return n
}

// slowDown makes each new connection wait before it reaches the server.
func (t *tunnel) slowDown(delay time.Duration) { t.change(func() { t.delay = delay }) }

// lead makes new connections lead to another server.
func (t *tunnel) lead(target string) { t.change(func() { t.target = target }) }

// Close ends the tunnel and waits for all that it has begun.
func (t *tunnel) Close() error {
	err := t.listener.Close()
	t.change(func() {
		t.closed = true
		for p := range t.pipes {
			p.closeLocked()
		}
	})
	t.work.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
