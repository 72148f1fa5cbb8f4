package flows

import (
	"fmt"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// TestStoredHashesHaveAnEnd: what is kept of stored shapes goes with its client, and has a bound
// while that lives.
func TestStoredHashesHaveAnEnd(t *testing.T) {
	store := memory.New(nil)
	defer store.Close()
	entries := func() (n int) {
		stored.Range(func(any, any) bool { n++; return true })
		return n
	}
	before := entries()
	j := journal.New(store, nil)
	clients := make([]*runtime.Client, 10)
	for i := range clients {
		clients[i] = runtime.NewClient(j, nil)
		hashesOf(clients[i]).add("hash")
	}
	if !hashesOf(clients[3]).has("hash") || hashesOf(clients[3]).has("other") {
		t.Error("it does not know what it has stored")
	}
	if n := entries() - before; n != len(clients) {
		t.Errorf("there are %d entries for %d clients", n, len(clients))
	}
	h := hashesOf(clients[0])
	for i := range 3 * storedMax {
		h.add(fmt.Sprint(i))
	}
	if len(h.list) > storedMax {
		t.Errorf("%d hashes are kept", len(h.list))
	}
	clear(clients)
	for deadline := time.Now().Add(time.Minute); entries() > before; goruntime.Gosched() {
		goruntime.GC() // cleanups come some time behind it
		if time.Now().After(deadline) {
			t.Fatalf("%d entries are left of clients that are gone", entries()-before)
		}
	}
}
