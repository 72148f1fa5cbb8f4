package runtime_test

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// gatedStore is a store whose starts wait until they are let in.
type gatedStore struct {
	*memory.Store
	began, open chan struct{}
}

func (s *gatedStore) Start(_ context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	s.began <- struct{}{}
	<-s.open
	return s.Store.Start(context.Background(), tx, starts)
}

// TestStartCopiesItsMaps: a start that its caller has given up may be written all the same. What it
// writes is what the caller gave, whatever becomes of the caller's maps.
func TestStartCopiesItsMaps(t *testing.T) {
	s := &gatedStore{Store: memory.New(nil), began: make(chan struct{}, 9), open: make(chan struct{})}
	client := runtime.NewClient(journal.New(s, nil), nil)
	first := make(chan error)
	go func() {
		_, err := runtime.Start(t.Context(), client, courier, 0, nil)
		first <- err
	}()
	<-s.began
	// The second start waits for the first one to be written.
	ctx, cancel := context.WithCancel(t.Context())
	labels, headers := map[string]string{"l": "v"}, map[string]string{"h": "v"}
	second := make(chan error)
	go func() {
		_, err := runtime.Start(ctx, client, courier, 0, &runtime.StartOptions{Key: "second", Labels: labels, Headers: headers})
		second <- err
	}()
	<-s.began
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	labels["l"], headers["h"] = "changed", "changed"
	close(s.open)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the start is written", func() bool {
		id, err := client.FindKey(t.Context(), "second")
		if err != nil {
			return false
		}
		d, err := client.Describe(t.Context(), id)
		if err != nil || d.Run.Labels["l"] != "v" || d.Run.Headers["h"] != "v" {
			t.Errorf("labels %v, headers %v, %v", d.Run.Labels, d.Run.Headers, err)
		}
		return true
	})
}
