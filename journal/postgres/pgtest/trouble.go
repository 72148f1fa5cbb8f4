package pgtest

import (
	"encoding/binary"
	"net"
	"time"
)

// startupWait bounds how long a client that is refused may take to say who it is.
const startupWait = time.Second

// Delay makes everything that passes in either direction late by d, from what is read next on; 0
// ends it. A question takes twice as long.
func (l *Link) Delay(d time.Duration) { l.delay.Store(int64(d)) }

// RefuseWith makes the link answer every new connection as a server that refuses the log-in with
// this SQLSTATE, such as 28P01 for a wrong password or 53300 for too many connections. Those that
// exist go on. The empty code ends it.
func (l *Link) RefuseWith(code string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusal = code
}

// refuse tells a client that it may not log in.
func refuse(client net.Conn, code string) {
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(startupWait))
	if _, err := readStartup(client); err != nil {
		return
	}
	var body []byte
	for _, field := range []string{"SFATAL", "VFATAL", "C" + code, "Mthe log-in is refused by a test"} {
		body = append(append(body, field...), 0)
	}
	body = append(body, 0)
	head := binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(body)+4))
	_, _ = client.Write(append(head, body...)) // a client that is gone needs no answer
}
