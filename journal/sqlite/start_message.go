package sqlite

import (
	"github.com/reprise-run/reprise/journal"
)

// start creates a run, or finds the one that has its key, and sends that the message, in one
// transaction: so a run and its first message are there together. A message makes a run visible,
// but one that was started to begin later is not woken by the message that comes with it.
func (s *Store) start(e *effects, st *journal.Start) (journal.Started, error) {
	q, at := e.q, e.at
	out, fresh, err := s.startRun(e, st)
	if err != nil || out.Err != nil || st.Message == nil {
		return out, err
	}
	m := *st.Message
	m.Run = out.Run
	if out.Sent, err = send(q, &m, at); err == nil && fresh && st.Delay > 0 && len(st.Limits) == 0 { // it waits with its run
		_, err = q.exec(commitVisibleSQL, out.StartAt.UnixMicro(), uuidArg(out.Run))
	}
	return out, err
}
