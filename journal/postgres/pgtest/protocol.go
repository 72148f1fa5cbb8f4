package pgtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// message is one message of the Postgres protocol as it travels: its type (0 for the untyped first
// one of a client) and all of its bytes. It is forwarded as it came, so the proxy changes nothing
// that it does not understand.
type message struct {
	kind  byte
	bytes []byte
}

const messageBytesMax = 256 << 20 // what is larger is not a message, but a bug in the framing

// readStartup reads the first message of a client, which alone has no type.
func readStartup(r io.Reader) (message, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return message{}, err
	}
	return readBody(r, 0, head, 0)
}

// readMessage reads a typed message. It returns whole messages only, so a connection that breaks
// inside of one forwards nothing of it.
func readMessage(r io.Reader) (message, error) {
	head := make([]byte, 5)
	if _, err := io.ReadFull(r, head); err != nil {
		return message{}, err
	}
	return readBody(r, head[0], head, 1)
}

// readBody reads what follows the length, which counts itself and stands at head[from:].
func readBody(r io.Reader, kind byte, head []byte, from int) (message, error) {
	size := int(binary.BigEndian.Uint32(head[from:]))
	if size < 4 || size > messageBytesMax {
		return message{}, fmt.Errorf("pgtest: message %q of %d bytes", kind, size)
	}
	all := make([]byte, from+size)
	copy(all, head)
	_, err := io.ReadFull(r, all[from+4:])
	return message{kind: kind, bytes: all}, err
}

// body is what follows type and length. It is part of the message's memory.
func (m message) body() []byte {
	if m.kind == 0 {
		return m.bytes[4:]
	}
	return m.bytes[5:]
}

// Types of messages that the proxy must understand.
const (
	wireQuery   = 'Q' // client: simple protocol, statement and commit in one
	wireParse   = 'P' // client: name and text of a prepared statement
	wireBind    = 'B' // client: portal, then the name of the statement
	wireExecute = 'E' // client
	wireSync    = 'S' // client: end of a request; ends an implicit transaction
	wireReady   = 'Z' // server: answer to a request is complete
)

// script follows what a client sends and knows the SQL text of everything it executes: a message
// that executes names a portal, which names a statement, whose text was sent some time before.
type script struct {
	prepared map[string]string // by statement name
	bound    string            // text of the statement bound last
	request  []string          // executed since the last Sync
}

// point returns the point that a client's message makes, if it makes one: it executes a statement,
// or it ends a request and with that, outside of an explicit transaction, commits it.
func (s *script) point(m message) (Point, bool) {
	switch m.kind {
	case wireParse:
		name, rest := cstring(m.body())
		text, _ := cstring(rest)
		s.prepared[name] = text
	case wireBind:
		_, rest := cstring(m.body())
		name, _ := cstring(rest)
		s.bound = s.prepared[name]
	case wireExecute:
		s.request = append(s.request, s.bound)
		return Point{SQL: []string{s.bound}}, true
	case wireQuery:
		text, _ := cstring(m.body())
		return Point{SQL: []string{text}, Answered: true}, true
	case wireSync:
		p := Point{SQL: s.request, Answered: true}
		s.request = nil
		return p, len(p.SQL) > 0 // else it only prepared something
	}
	return Point{}, false
}

// cstring splits off a text that ends with a zero byte.
func cstring(b []byte) (string, []byte) {
	text, rest, _ := bytes.Cut(b, []byte{0})
	return string(text), rest
}
