package held

import (
	"log/slog"
	"time"
)

// slowAfter is how long a call may take before that is reported.
const slowAfter = time.Second

// SlowCall is the message about a slow call.
const SlowCall = "a call of the store takes long, because another transaction has locked a row, much is on its way, or the server is silent; others go on"

// LateCall is the message about a call that takes too long although it is alone.
const LateCall = "the store gives a call up because it takes too long; it is tried again at longer intervals, apart from others"

// Slow reports calls of the store that take long, while they do. Nobody waits behind them, see
// package batch, but those who wait for the call itself see nothing else of it. A store that is
// away is reported elsewhere.
type Slow struct {
	Log  *slog.Logger
	What string      // the message
	Away func() bool // whether the store is known to be away
}

// Watch begins to watch a call. attrs names, if it is called, what the call is about. The returned
// function ends it.
func (s *Slow) Watch(attrs func() []any) (stop func() bool) {
	began := time.Now()
	return time.AfterFunc(slowAfter, func() {
		if !s.Away() {
			s.Log.Warn(s.What, append(attrs(), "for", time.Since(began).Round(time.Millisecond))...)
		}
	}).Stop
}
