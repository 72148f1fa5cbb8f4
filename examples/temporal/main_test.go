package temporal

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const day = 24 * time.Hour

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world keeps what programs did to it. A call with a key that it knows does nothing, as with a
// server that heeds such keys.
type world struct {
	mu   sync.Mutex
	keys map[string]bool
	log  []string
}

func newWorld() *world { return &world{keys: map[string]bool{}} }

func (w *world) do(_ context.Context, key, what string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.keys[key] {
		w.keys[key] = true
		w.log = append(w.log, what)
	}
	return nil
}

func (w *world) want(e *runtimetest.Env, log ...string) {
	e.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if diff := cmp.Diff(log, slices.Clone(w.log)); diff != "" {
		e.Errorf("what happened (-want +got)\n%s", diff)
	}
}

// wants compares the result of a run, and how long it took in whole minutes.
func wants[T any](e *runtimetest.Env, run *runtimetest.Run[T], want T, after time.Duration) {
	e.Helper()
	if diff := cmp.Diff(want, run.Must()); diff != "" {
		e.Errorf("result (-want +got)\n%s", diff)
	}
	if got := e.Elapsed().Round(time.Minute); got != after {
		e.Errorf("it took %s, want %s", got, after)
	}
}
