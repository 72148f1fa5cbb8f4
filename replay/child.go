package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Start issues a child. st has everything but the id and the parent's run, generation and command.
// In a cancelled scope it is not issued and resolves as Cancelled.
func (sc *Scope) Start(st journal.Start, policy journal.ClosePolicy, mode CancelMode) *Command {
	e := sc.env
	c := &Command{scope: sc, kind: journal.CommandChild, name: st.Workflow, mode: mode}
	if !sc.issue(c, st.Key) {
		return c
	}
	c.run, e.out.children = e.childID(c.cmd), true
	if !e.replaying {
		st.ID = c.run
		st.Parent = &journal.Parent{Run: e.info.Run, Generation: e.info.Generation, Cmd: c.cmd, Policy: policy}
		e.out.starts = append(e.out.starts, st)
	}
	return c
}

// childID is the same on every replay: the time of the event that the code reacts to, and a hash of
// who asks. Its form must never change: old histories depend on it.
func (e *Env) childID(cmd journal.Cmd) journal.RunID {
	run := e.info.Rewound.IssuerRun(e.info.Run, cmd)
	b := append([]byte("reprise child 1\n"), run[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(e.info.Rewound.Issuer(e.info.Generation, cmd)))
	b = binary.BigEndian.AppendUint32(b, uint32(cmd))
	sum := sha256.Sum256(b)
	var id journal.RunID
	copy(id[:], sum[:])
	var stamp [8]byte
	binary.BigEndian.PutUint64(stamp[:], uint64(e.now.UnixMilli())<<16)
	copy(id[:6], stamp[:6])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Send issues a signal to another run, or a cancel request if kind says so. It resolves when the
// message is in the other run's inbox, or refused. In a cancelled scope it is not issued and
// resolves as Cancelled; to the zero RunID it is not issued and resolves as Failed: no such run
// exists.
func (sc *Scope) Send(msg journal.Message) *Command {
	e := sc.env
	c := &Command{scope: sc, kind: journal.CommandSend, name: msg.Name, run: msg.Run}
	if msg.Run.IsZero() && sc.err == nil && !e.readOnly && !e.unwinding {
		e.spend()
		c.outcome, c.payload = Failed, journal.EncodeFailure(&journal.Failure{
			Type: journal.FailureNotFound, Message: fmt.Sprintf("run %s: %v", msg.Run, journal.ErrNotFound), Permanent: true,
		})
		return c
	}
	if !sc.issue(c, msg.Run.String()) {
		return c
	}
	if !e.replaying {
		msg.Cmd, msg.Generation = c.cmd, e.info.Generation
		if msg.Kind == journal.MessageSignal && msg.Key == "" {
			msg.Key = fmt.Sprintf("~%s/%d/%d", e.info.Run, e.info.Generation, c.cmd)
		}
		e.out.messages = append(e.out.messages, msg)
	}
	return c
}
