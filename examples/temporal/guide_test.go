package temporal

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reprise-run/reprise/examples/readmetest"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestReadme(t *testing.T) {
	readmetest.Code(t, ".")
	readmetest.Lines(t, ".", "doc.go", "guide.go")
}

func TestGuide(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, Guide, guide, nil)
		runtimetest.Handle(e, Greeting, greeting, nil)
		answers(e, "Hello, you!")(runtimetest.Start(e, Guide, 100, nil).Result())
	})
}

// TestGuideOnAFile runs worker and caller on a real file.
func TestGuideOnAFile(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ctx, stop := context.WithCancel(t.Context())
	var worker sync.WaitGroup
	defer worker.Wait()
	defer stop()
	worker.Go(func() {
		if err := work(ctx, store, &bank{
			check:  func(context.Context, int) (string, error) { return "tx-1", nil },
			settle: func(context.Context, string, string) error { return nil },
		}); err != nil {
			t.Error(err)
		}
	})
	id, err := pay(ctx, runtime.NewClient(journal.New(store, nil), nil), "payment 1", 100)
	if id != "tx-1" || err != nil {
		t.Errorf("paid %q, %v", id, err)
	}
}
