package pgtest

import (
	"bufio"
	"net"
)

// wire is one connection through a link. The goroutine that forwards the client's messages knows
// what is executed; the one that forwards the server's counts the answers. The two meet under
// link.mu.
//
// A wire that is doomed forwards nothing to the client any more, but goes on reading from the
// server: this is how a cut can wait until the server has carried out what it was sent, without the
// client seeing the answer.
type wire struct {
	link           *Link
	client, server net.Conn
	script         script        // of fromClient's goroutine
	ended          chan struct{} // closed when the wire is dead

	// Guarded by link.mu.
	owed   int  // requests that the server has not answered
	doomed bool // nothing reaches the client any more
	frozen bool
	hung   bool // until the link lets it go on
	dead   bool
}

// newWire makes a wire that owes one answer, because the server speaks first, unasked.
func newWire(l *Link, client, server net.Conn) *wire {
	w := &wire{link: l, client: client, server: server, owed: 1, ended: make(chan struct{})}
	w.script.prepared = map[string]string{}
	return w
}

// fromClient forwards the client's messages until it hangs up, the wire is cut, or the server is
// gone. A cut that waits does so here, after the message was forwarded.
func (w *wire) fromClient() {
	defer w.close()
	r := bufio.NewReader(w.pace(w.client, &w.link.fromClients))
	m, err := readStartup(r)
	for ; err == nil; m, err = readMessage(r) {
		doom, ok := w.pass(m)
		if !ok {
			return
		}
		if doom != nil && doom.before {
			doom.after()
			return
		}
		if _, err := w.server.Write(m.bytes); err != nil {
			return
		}
		if doom != nil {
			w.settle()
			doom.after()
			return
		}
	}
}

// doom is how a wire ends: whether the last message is lost too, and whom to tell.
type doom struct {
	before bool
	after  func()
}

// pass waits for the end of a stall and takes note of a client's message before it is forwarded. It
// returns a doom if this message is the client's last; ok is false if the wire is dead.
func (w *wire) pass(m message) (d *doom, ok bool) {
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
	if l.quiet {
		after := l.after
		l.cut, l.after, w.frozen = nil, nil, true
		if after != nil {
			after()
		}
		return nil, w.flow()
	}
	w.doomed = true
	d = &doom{before: l.before, after: l.after}
	if d.after == nil {
		d.after = func() {}
	}
	l.cut, l.after = nil, nil
	if !p.Answered {
		w.owed = 0 // there will be no answer to wait for
	}
	return d, true
}

// settle waits until the server has carried out what it was sent, or is gone.
func (w *wire) settle() {
	l := w.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for w.owed > 0 && !w.dead {
		l.flowing.Wait()
	}
}

// fromServer forwards the server's messages. It counts answers also for a doomed wire.
func (w *wire) fromServer() {
	defer w.close()
	r := bufio.NewReader(w.pace(w.server, &w.link.fromServer))
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

// flow waits while the link is stalled; false means that the wire is dead. The caller holds
// link.mu, which is free while flow waits.
func (w *wire) flow() bool {
	for (w.link.stalled || w.frozen || w.hung) && !w.dead {
		w.link.flowing.Wait()
	}
	return !w.dead
}

// close closes both ends and wakes whoever waits for the wire.
func (w *wire) close() {
	w.link.mu.Lock()
	defer w.link.mu.Unlock()
	w.closeLocked()
}

// closeLocked closes both ends, once. The goroutines of the wire end by the errors that they get.
// The caller holds link.mu.
func (w *wire) closeLocked() {
	if w.dead {
		return
	}
	w.dead = true
	close(w.ended)
	_ = w.client.Close()
	_ = w.server.Close()
	w.link.flowing.Broadcast()
}
