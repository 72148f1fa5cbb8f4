package flows

import (
	goruntime "runtime"
	"sync"
	"weak"

	"github.com/reprise-run/reprise/runtime"
)

// stored tells which shapes this process has stored, by client. It saves a call for each start;
// what it does not know is stored once more, which changes nothing. An entry goes with its client.
var stored sync.Map // of *hashes, by weak.Pointer[runtime.Client]

// hashes are of shapes that one client has stored.
type hashes struct {
	mu   sync.Mutex
	list map[string]bool
}

// hashesOf returns the hashes of a client's shapes.
func hashesOf(c *runtime.Client) *hashes {
	key := weak.Make(c)
	if h, known := stored.Load(key); known {
		return h.(*hashes)
	}
	h, known := stored.LoadOrStore(key, &hashes{list: map[string]bool{}})
	if !known {
		goruntime.AddCleanup(c, func(key weak.Pointer[runtime.Client]) { stored.Delete(key) }, key)
	}
	return h.(*hashes)
}

func (h *hashes) has(hash string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list[hash]
}

// add keeps a hash. A program that makes up flows without end is not kept in memory for it: when
// there are too many, all are forgotten.
func (h *hashes) add(hash string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.list) >= storedMax {
		clear(h.list)
	}
	h.list[hash] = true
}
