package postgres

import (
	"testing"
	"time"
)

// An answer counts only on a session that is older than the newest renewal that was answered. The
// times are the seconds at which things happen.
func TestContact(t *testing.T) {
	zero := time.Now()
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	c := contact{begun: make(chan struct{}, 1)}
	want := func(what string, last int, judged bool) {
		t.Helper()
		if got, j := c.state(); !got.Equal(at(last)) || j != judged {
			t.Errorf("%s: contact at %s, judged %v; want %d s, %v", what, got.Sub(zero), j, last, judged)
		}
	}
	c.joined(at(1), false)
	want("joined", 1, false)
	c.heard(at(0), at(2))
	want("an answer on a session that is older than joining", 2, false)
	c.heard(at(2), at(3))
	want("an answer on a session that was opened since", 2, false)
	c.renewed(at(4), false, true)
	c.heard(at(2), at(5))
	want("the lease was renewed since then", 5, false)
	c.heard(at(2), at(3))
	want("a late answer", 5, false)

	told := func(what string, want bool) {
		t.Helper()
		if len(c.begun) > 0 != want {
			t.Errorf("%s: the node is told that it is judged: %v", what, !want)
		}
	}
	told("alone", false)
	c.offer(at(6))
	want("an offer is on its way; nobody has seen it before", 6, true)
	told("before the answer", true)
	<-c.begun
	c.offer(at(7))
	want("a second one does not make the silence shorter", 6, true)
	told("a second one", false)
	c.renewed(at(6), true, true)
	c.renewed(at(7), true, true)
	c.renewed(at(7), false, true)
	want("taken back", 7, false)
	c.offer(at(7))
	told("anew", true)
	c.renewed(at(8), false, true)
	want("one without an offer was answered, another one with an offer not yet", 8, true)
	c.renewed(at(9), true, false)
	want("which got no answer", 8, true)
	c.renewed(at(10), false, true)
	want("but may be carried out late", 10, true)
	c.unknown = time.Now().Add(-2 * offerLate)
	c.renewed(at(11), false, true)
	want("but not that late", 11, false)
}

// A connection that leads to another server or database makes the node compare.
func TestConnectionsTellTheEpoch(t *testing.T) {
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		server   time.Time
		database uint32
		want     bool
	}{
		"the same":         {start, 5, false},
		"another server":   {start.Add(time.Second), 5, true},
		"another database": {start, 6, true},
	} {
		var e epoch
		e.joined(start, 5, 1, 0, false)
		e.connected(c.server, c.database)
		if got := e.renewed(start, 5, 2, 0); got != c.want {
			t.Errorf("%s: compare %v, want %v", name, got, c.want)
		}
	}
}
