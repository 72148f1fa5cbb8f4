package main

import (
	"bytes"
	"net"
)

// pipe is one connection through a tunnel. Each direction has a goroutine, which reads without a
// lock and passes on what it has read when the tunnel's state allows it.
type pipe struct {
	t      *tunnel
	client net.Conn

	// Guarded by t.mu.
	server  net.Conn // nil until connect
	lost    bool     // what is sent vanishes
	listens bool     // the client has asked for hints
	dead    bool
}

// pipeBytes is what is read at once: more than most messages have.
const pipeBytes = 32 << 10

// listen is in the request of a session that wants hints.
var listen = []byte(`LISTEN "`)

// connect reaches for the server. A server that is down closes the client's connection, as a
// refused one would.
func (p *pipe) connect(target string) bool {
	server, err := net.Dial("tcp4", target)
	if err != nil {
		return false
	}
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	if p.dead {
		_ = server.Close()
		return false
	}
	p.server = server
	return true
}

func (p *pipe) fromClient() { p.forward(p.client, p.server, true) }
func (p *pipe) fromServer() { p.forward(p.server, p.client, false) }

// forward passes bytes on until one end closes, and then closes both, as soon as the network is
// there to tell them.
func (p *pipe) forward(from, to net.Conn, requests bool) {
	buffer := make([]byte, pipeBytes)
	for {
		n, err := from.Read(buffer)
		if n > 0 && p.passes(requests && bytes.Contains(buffer[:n], listen)) {
			if _, err := to.Write(buffer[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	p.hangUp()
}

// passes waits while the network is held, and tells whether what was read arrives.
func (p *pipe) passes(listens bool) bool {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	p.listens = p.listens || listens
	for p.t.held && !p.lost && !p.dead {
		p.t.changed.Wait()
	}
	return !p.lost && !p.dead
}

// hangUp closes both ends. An end that is lost, or held, hears of it when the network is back; the
// end that has closed by itself makes its goroutine wait here meanwhile.
func (p *pipe) hangUp() {
	p.t.mu.Lock()
	defer p.t.mu.Unlock()
	for p.t.held && !p.dead {
		p.t.changed.Wait()
	}
	if !p.lost {
		p.closeLocked()
	}
}

// closeLocked closes both ends, once. The caller holds t.mu.
func (p *pipe) closeLocked() {
	if p.dead {
		return
	}
	p.dead = true
	_ = p.client.Close()
	if p.server != nil {
		_ = p.server.Close()
	}
	p.t.changed.Broadcast()
}
