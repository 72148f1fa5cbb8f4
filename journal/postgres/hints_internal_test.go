package postgres

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

func TestHintsSurviveTheirEncoding(t *testing.T) {
	t.Parallel()
	for _, h := range []driver.Hint{
		{Kind: driver.HintTasks}, {Kind: driver.HintScan}, {Kind: driver.HintWaiter}, {Kind: driver.HintNode},
		{Kind: driver.HintClosed, Run: journal.NewRunID()},
		{Kind: driver.HintInbox, Run: journal.NewRunID(), Node: 2147483647},
	} {
		line := encodeHint(h)
		if d := cmp.Diff(h, decodeHint(line)); d != "" {
			t.Errorf("%q (-sent +heard):\n%s", line, d)
		}
		if strings.Contains(line, "\n") {
			t.Errorf("%q holds a newline", line)
		}
	}
}

// FuzzDecodeHint: what another release or a stranger sends is at worst a reason to look at
// everything.
func FuzzDecodeHint(f *testing.F) {
	for _, line := range []string{"", "t", "x", "c", "i", "c!!!!!!!!!!!!!!!!!!!!!!", "iAAAAAAAAAAAAAAAAAAAAAAx"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if h := decodeHint(line); h.Kind < driver.HintTasks || h.Kind > driver.HintNode {
			t.Errorf("%q became %v", line, h)
		}
	})
}

// TestNotifyGathers: equal hints become one, and too many become a scan. Nothing is sent from a
// closed store.
func TestNotifyGathers(t *testing.T) {
	t.Parallel()
	h := newHints(&Store{sessions: sessions{lasting: true}})
	h.close()
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				h.Notify([]driver.Hint{{Kind: driver.HintTasks}, {Kind: driver.HintWaiter}})
			}
		})
	}
	group.Wait()
	if len(h.pending) != 2 {
		t.Errorf("%d hints wait, want 2", len(h.pending))
	}
	for range 2 * pendingHintsMax {
		h.Notify([]driver.Hint{{Kind: driver.HintClosed, Run: journal.NewRunID()}})
	}
	if _, scan := h.pending[encodeHint(driver.Hint{Kind: driver.HintScan})]; !scan || len(h.pending) != pendingHintsMax+1 {
		t.Errorf("%d hints wait, scan %t, want %d with a scan", len(h.pending), scan, pendingHintsMax+1)
	}
}

// TestOwnHintsAreIgnored: they were spread inside the process already.
func TestOwnHintsAreIgnored(t *testing.T) {
	t.Parallel()
	h := newHints(&Store{})
	defer h.close()
	var heard []driver.Hint
	h.watchers[0] = func(hint driver.Hint) { heard = append(heard, hint) }
	h.receive(h.self + "\nt")
	h.receive("somebody\nt\nw")
	if d := cmp.Diff([]driver.Hint{{Kind: driver.HintTasks}, {Kind: driver.HintWaiter}}, heard); d != "" {
		t.Errorf("(-want +heard):\n%s", d)
	}
}
