package postgres

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// A node with a long grace does not keep others from being declared dead after theirs, and the time
// that has passed since the first look counts.
func TestSuspectsWaitForTheirOwnGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &member{}
		silent := func() map[journal.NodeID]suspicion {
			return map[journal.NodeID]suspicion{2: {grace: time.Second}, 3: {grace: time.Hour}}
		}
		if wait := m.suspect(silent()); wait != time.Second {
			t.Errorf("the first look waits %s, want 1s", wait)
		}
		time.Sleep(time.Second / 4)
		if wait := m.suspect(silent()); wait != 3*time.Second/4 {
			t.Errorf("the second look waits %s, want 750ms", wait)
		}
		time.Sleep(time.Second)
		if ids, _ := m.condemned([]journal.NodeID{2, 3}); len(ids) != 1 || ids[0] != 2 {
			t.Errorf("nodes %v may be declared dead, want node 2", ids)
		}
		if wait := m.suspect(nil); wait != 0 {
			t.Errorf("without suspects it waits %s", wait)
		}
	})
}

// Of many nodes a few look at the others at a time, and few nodes always do, as they do after them
// when they ask. A node that has heard of a death looks once, and one that has suspects until it has
// none.
func TestFewOfManyNodesLook(t *testing.T) {
	const rounds = 20_000
	m := &member{s: &Store{}}
	for _, lot := range []struct {
		what     string
		drawn    func() bool
		perRound int
	}{{"looks", m.mustLook, looksPerRound}, {"watches", m.watches, watchesPerAsk}} {
		for nodes, want := range map[int]int{0: rounds, 1: rounds, lot.perRound: rounds, 200: rounds * lot.perRound / 200} {
			m.nodes.Store(int64(nodes))
			n := 0
			for range rounds {
				if lot.drawn() {
					n++
				}
			}
			if n < want*3/4 || n > want*5/4 {
				t.Errorf("of %d nodes each %s %d times in %d rounds, want about %d", nodes, lot.what, n, rounds, want)
			}
		}
	}
	m.nodes.Store(1 << 60) // the lots never say yes
	if m.mustLook() {
		t.Error("it looks although nothing makes it")
	}
	m.alarmed.Store(true)
	if !m.mustLook() || m.mustLook() {
		t.Error("another node that seems to be dead makes it look once")
	}
	m.suspect(map[journal.NodeID]suspicion{2: {grace: time.Second}})
	if first, again := m.mustLook(), m.mustLook(); !first || !again {
		t.Error("it does not go on to look at its suspects")
	}
	m.suspect(nil)
	if m.mustLook() {
		t.Error("it goes on to look without suspects")
	}
	m.s.o.Pooler = true
	if !m.mustLook() {
		t.Error("behind a pooler it does not look")
	}
}
