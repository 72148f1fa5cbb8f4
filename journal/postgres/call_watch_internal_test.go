package postgres

import (
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A look that has begun when its call ends is the last one, although the connection serves other
// calls: else each such call would leave a timer behind for as long as its connection is busy.
func TestALookIsNotRepeatedAfterTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer near.Close()
		defer far.Close()
		conn := &moving{Conn: near}
		ctx, w := watchCall(t.Context(), time.Minute)
		w.conn.Store(conn)
		conn.note(1)
		w.stop()
		w.look()
		if w.timer.Stop() {
			t.Error("another look is due after the call")
		}
		if w.ended.Load() || ctx.Err() == nil {
			t.Errorf("ended %v, the context: %v", w.ended.Load(), ctx.Err())
		}
	})
}
