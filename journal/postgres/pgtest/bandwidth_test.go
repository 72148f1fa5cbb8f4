package pgtest_test

import (
	"strings"
	"testing"
	"time"
)

// What passes a slow link takes as long as its bytes need, in both directions, and a link that is
// cut meanwhile lets go at once.
func TestLinkIsSlow(t *testing.T) {
	link, conn := linked(t)
	const rate, size = 1 << 20, 1 << 19
	text := strings.Repeat("x", size)
	exec(t, conn, "select 1") // nothing is prepared later
	timed := func(sql string, args ...any) time.Duration {
		t.Helper()
		began := time.Now()
		var n int
		if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n, nil); err != nil || n != size {
			t.Fatalf("%d, %v", n, err)
		}
		return time.Since(began)
	}
	link.Throttle(rate)
	down, up := link.Carried()
	if took := timed("select length(t), t from (select repeat('y', $1::int) t) t", size); took < time.Second*4/10 {
		t.Errorf("an answer of %d bytes came in %s", size, took)
	}
	if took := timed("select length($1::text), ''", text); took < time.Second*4/10 {
		t.Errorf("a request of %d bytes was answered in %s", size, took)
	}
	if d, u := link.Carried(); d-down < size || u-up < size {
		t.Errorf("carried %d and %d bytes, want %d and more", d-down, u-up, size)
	}
	link.Throttle(1)
	gone := make(chan error, 1)
	go func() { _, err := conn.Exec(t.Context(), "select 1"); gone <- err }()
	link.Cut()
	if err := <-gone; err == nil {
		t.Error("a cut connection works")
	}
}
