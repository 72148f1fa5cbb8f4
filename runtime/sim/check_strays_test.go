package sim

import (
	"fmt"
	"log/slog"
)

// strayPrefix is how the line begins with which a node says that it gives back a run which it owns
// in the database, has committed to, and does not run.
const strayPrefix = "the store says that this node owns a run"

// checkStrays: unless the database goes back, a node runs whatever it owns and has committed to.
// What makes good a fault that nobody knows must have nothing to do where there is none.
func checkStrays(f *finder) {
	if f.epoch > 0 {
		return
	}
	for _, what := range f.strays {
		f.breaks("%s", what)
	}
}

func (w *world) noteStray(r slog.Record) {
	said := r.Message
	r.Attrs(func(a slog.Attr) bool {
		said += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.strays = append(w.strays, fmt.Sprintf("at %s: %s", w.elapsed(), said))
}
