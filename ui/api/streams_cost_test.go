package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
)

// counted is a store that counts what it is asked.
type counted struct {
	driver.Store
	asked *atomic.Int64
}

func (c counted) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	c.asked.Add(1)
	return c.Store.List(ctx, f)
}

func (c counted) Load(ctx context.Context, r []driver.LoadRequest) ([]driver.History, error) {
	c.asked.Add(1)
	return c.Store.Load(ctx, r)
}

func (c counted) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	c.asked.Add(1)
	return c.Store.Aggregate(ctx, a)
}

func (c counted) Nodes(ctx context.Context) ([]journal.Node, error) {
	c.asked.Add(1)
	return c.Store.Nodes(ctx)
}

func (c counted) Pauses(ctx context.Context) ([]journal.Pause, error) {
	c.asked.Add(1)
	return c.Store.Pauses(ctx)
}

func (c counted) Audit(ctx context.Context, f journal.AuditFilter) ([]journal.AuditEntry, error) {
	c.asked.Add(1)
	return c.Store.Audit(ctx, f)
}

// tab is a stream that is open, and what it has been sent.
type tab struct {
	http.ResponseWriter
	mu   sync.Mutex
	text strings.Builder
}

func (w *tab) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *tab) Flush() {}

func (w *tab) has(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.text.String(), text)
}

// TestStreamsCost: two hundred streams ask the store less than once in two seconds while nothing
// happens, whether they show the same or not; a change is in all of them within half a second, and
// costs as much as for a few; and without a stream nothing is asked.
func TestStreamsCost(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(i int, runs []string) string{
		"one list":   func(int, []string) string { return "/events" },
		"many lists": func(i int, _ []string) string { return fmt.Sprintf("/events?limit=%d", 1+i%99) }, // of more, streams end before their turn
		"one run":    func(_ int, runs []string) string { return "/runs/" + runs[0] + "/events" },
		"every run":  func(i int, runs []string) string { return "/runs/" + runs[i%len(runs)] + "/events" },
		"lists, runs": func(i int, runs []string) string {
			return []string{"/events", "/runs/" + runs[i%len(runs)] + "/events"}[i%2]
		},
		"four filters": func(i int, _ []string) string { return fmt.Sprintf("/events?where=priority%%3D%d", 1+i%4) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { checkCost(t, path) })
		})
	}
}

func checkCost(t *testing.T, path func(i int, runs []string) string) {
	const tabs = 200
	store := memory.New(nil)
	defer store.Close()
	var asked atomic.Int64
	client := runtime.NewClient(journal.New(counted{store, &asked}, nil), &runtime.ClientOptions{Logger: silent})
	ctx, cancel := context.WithCancel(t.Context())
	var runs []string
	start := func() journal.RunID {
		run, err := runtime.Start(ctx, client, parcel, "Lima", &runtime.StartOptions{Priority: 1})
		if err != nil {
			t.Fatal(err)
		}
		return run.ID()
	}
	for range 100 {
		runs = append(runs, start().String())
	}
	handler := api.New(client, nil)
	open := make([]*tab, tabs)
	var ended sync.WaitGroup
	for i := range open {
		open[i] = &tab{ResponseWriter: httptest.NewRecorder()}
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path(i, runs), nil)
		ended.Go(func() { handler.ServeHTTP(open[i], r) })
	}
	time.Sleep(10 * time.Second) // of the bubble: all have been told how things are
	asked.Store(0)
	// Of many different lists one is looked at at a time.
	idle := time.Minute
	if path(0, runs) != path(1, runs) {
		idle = 7 * time.Minute
	}
	time.Sleep(idle)
	t.Logf("%d questions in %v of rest", asked.Load(), idle)
	if n := asked.Load(); float64(n) > idle.Seconds()/2 || n == 0 {
		t.Errorf("in %v of rest the store is asked %d times", idle, n)
	}

	asked.Store(0)
	var changed string
	if strings.HasPrefix(path(0, runs), "/runs/") { // of a run
		changed = "the very reason"
		id, _ := journal.ParseRunID(runs[0])
		if err := client.Pause(ctx, id, &runtime.PauseOptions{Reason: changed}); err != nil {
			t.Fatal(err)
		}
		changed = "paused"
	} else {
		changed = start().String()
	}
	time.Sleep(500 * time.Millisecond)
	concerned, told := 0, 0
	for i, w := range open {
		p := path(i, runs)
		if i == 0 || p == path(0, runs) {
			concerned++
			if w.has(changed) {
				told++
			}
		}
	}
	if told != concerned {
		t.Errorf("%d of %d have been told of a change", told, concerned)
	}
	t.Logf("%d questions for a change", asked.Load())
	if n := asked.Load(); n > tabs+3 { // at most one for each: of a run each reads what it has not had
		t.Errorf("a change costs %d questions", n)
	}
	cancel()
	ended.Wait()
	asked.Store(0)
	time.Sleep(time.Hour)
	if n := asked.Load(); n > 0 {
		t.Errorf("without a stream the store is asked %d times", n)
	}
}
