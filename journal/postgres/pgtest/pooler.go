package pgtest

import (
	"encoding/binary"
	"fmt"
	"io"
)

// cancelCode stands in place of the protocol's version in a request to cancel a statement, which
// has a connection of its own and no start-up parameters.
const cancelCode = 80877102

// poolerStartup refuses what a transaction pooler refuses: settings that would belong to a session.
// A store that sends one behind a real pooler could not connect at all.
func poolerStartup(m message) error {
	body := m.body()
	if len(body) < 4 || binary.BigEndian.Uint32(body) == cancelCode {
		return nil
	}
	rest := body[4:]
	for {
		var name, value string
		if name, rest = cstring(rest); name == "" {
			return nil
		}
		value, rest = cstring(rest)
		switch name {
		case "user", "database", "application_name", "client_encoding", "DateStyle":
		default:
			return fmt.Errorf("pgtest: a pooler refuses the start-up parameter %s=%s", name, value)
		}
	}
}

// idle is the status in a server's wireReady message outside of a transaction: the transaction
// before it is over.
const idle = 'I'

// discard makes the server forget the session, if ready ends a transaction: the next transaction of
// a client may be executed in any session of a pooler, so nothing of this one may be relied on. The
// client waits for ready, so nothing else is on its way, and the answers to what is sent here are
// the next to be read.
func (w *wire) discard(r io.Reader, ready message) error {
	if body := ready.body(); len(body) != 1 || body[0] != idle {
		return nil
	}
	const sql = "DISCARD ALL\x00"
	query := append(binary.BigEndian.AppendUint32([]byte{wireQuery}, uint32(4+len(sql))), sql...)
	if _, err := w.server.Write(query); err != nil {
		return err
	}
	for {
		m, err := readMessage(r)
		if err != nil || m.kind == wireReady {
			return err
		}
	}
}
