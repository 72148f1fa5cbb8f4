package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// silence is when connections may have fallen silent: the other end of one has vanished without a
// word, with a host, or with the memory of a firewall, and what holds for one holds for others that
// were made before. A request on each would be lost for as long as a call may take. So when one
// request has got no answer for a while, those that have answered since it was sent are good, and
// the others are closed when their turn comes. A connection that was quiet is asked for a sign of
// life first, so it is a question that finds the silence, not a call.
//
// What is lost by a wrong suspicion are connections, not calls.
type silence struct{ at atomic.Int64 } // when a request was sent that got no answer, in Unix nanoseconds

// since notes that a request that was sent then has got no answer until now. One that was given up
// sooner says nothing.
func (s *silence) since(sent, now time.Time) {
	if now.Sub(sent) < silentAfter {
		return
	}
	for at := sent.UnixNano(); ; {
		before := s.at.Load()
		if at <= before || s.at.CompareAndSwap(before, at) {
			return
		}
	}
}

// covers tells whether a connection that was answered last then may be silent.
func (s *silence) covers(answered time.Time) bool { return answered.UnixNano() < s.at.Load() }

// timedOut tells whether an error is the end of a time, and not the server's.
func timedOut(err error) bool { return errors.Is(err, context.DeadlineExceeded) }
