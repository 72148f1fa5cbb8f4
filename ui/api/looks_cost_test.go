package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// What the tabs of pages ask that look once in a minute for what no stream tells, see fresh.ts.
var looks = [][]string{
	{"/overview?window=24h"},
	{"/failures"},
	{"/workflows", "/runs/count?by=workflow&by=version&by=queue&where=status+%3D+open", "/pauses"},
	{"/queues", "/pauses"},
	{"/nodes"},
	{"/schedules"},
	{"/flows"},
	{"/runs?where=workflow+%3D+%22reprise.bulk%22"},
	{"/audit?limit=50"},
}

// TestLooksCost: two hundred tabs that look by the clock, spread over the pages and over the
// minute, ask the store less than once a second. Who takes no old answer gets none, and where Allow
// decides what is shown nobody shares.
func TestLooksCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		var asked atomic.Int64
		client := runtime.NewClient(journal.New(counted{store, &asked}, nil), &runtime.ClientOptions{Logger: silent})
		o := &api.Options{Backlog: func(context.Context) ([]driver.Backlog, error) {
			asked.Add(1)
			return nil, nil
		}}
		get := func(h http.Handler, path, old string) {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			if old != "" {
				r.Header.Set("Cache-Control", old)
			}
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		h := api.New(client, o)
		const tabs, minutes = 200, 10
		var open sync.WaitGroup
		for i := range tabs {
			open.Go(func() {
				time.Sleep(time.Duration(i) * time.Minute / tabs)
				for range minutes {
					for _, path := range looks[i%len(looks)] {
						get(h, path, "max-age=50")
					}
					time.Sleep(time.Minute)
				}
			})
		}
		open.Wait()
		t.Logf("%d tabs ask %d questions in %d minutes", tabs, asked.Load(), minutes)
		if n := asked.Load(); n > minutes*60 || n < minutes {
			t.Errorf("%d tabs ask %d questions in %d minutes", tabs, n, minutes)
		}

		time.Sleep(time.Hour)
		cost := func(h http.Handler, old string) int64 {
			asked.Store(0)
			for range 10 {
				get(h, "/nodes", old)
			}
			return asked.Load()
		}
		seen := *o
		seen.Allow = func(context.Context, string, string, *journal.Run) bool { return true }
		if got := []int64{cost(h, "max-age=30"), cost(h, "max-age=30"), cost(h, ""), cost(h, "max-age=0"), cost(h, "no-cache"), cost(api.New(client, &seen), "max-age=30")}; got[0] != 1 || got[1] != 0 ||
			got[2] < 10 || got[3] != got[2] || got[4] != got[2] || got[5] != got[2] {
			t.Errorf("ten looks at the nodes ask %v questions", got)
		}
		cost(h, "max-age=86400")
		time.Sleep(61 * time.Second)
		if n := cost(h, "max-age=86400"); n != 1 {
			t.Errorf("an answer serves for more than a minute: %d", n)
		}
	})
}

// TestTabsCost: two hundred tabs spread over all pages, some of them over runs, each with its stream
// and its looks, together ask the store less than once a second while nothing happens.
func TestTabsCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		var asked atomic.Int64
		client := runtime.NewClient(journal.New(counted{store, &asked}, nil), &runtime.ClientOptions{Logger: silent})
		h := api.New(client, &api.Options{Backlog: func(context.Context) ([]driver.Backlog, error) {
			asked.Add(1)
			return nil, nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		get := func(path, old string) {
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
			if old != "" {
				r.Header.Set("Cache-Control", old)
			}
			h.ServeHTTP(&tab{ResponseWriter: httptest.NewRecorder()}, r)
		}
		const tabs, minutes = 200, 10
		var open sync.WaitGroup
		for i := range tabs {
			page, stream := i%(len(looks)+2), "/events?limit=50"
			switch page - len(looks) {
			case 0: // of runs
				stream = fmt.Sprintf("/events?limit=50&where=priority%%3D%d", 1+i%4)
			case 1:
				run, err := runtime.Start(ctx, client, parcel, "Lima", nil)
				if err != nil {
					t.Fatal(err)
				}
				stream = "/runs/" + run.ID().String() + "/events"
			}
			open.Go(func() { // a stream ends after a while, and the page opens it again
				for ctx.Err() == nil {
					get(stream, "")
				}
			})
			if page >= len(looks) {
				continue
			}
			open.Go(func() {
				for time.Sleep(time.Duration(i) * time.Minute / tabs); ctx.Err() == nil; time.Sleep(time.Minute) {
					for _, path := range looks[page] {
						get(path, "max-age=50")
					}
				}
			})
		}
		time.Sleep(2 * time.Minute)
		asked.Store(0)
		time.Sleep(minutes * time.Minute)
		t.Logf("%d tabs ask %d questions in %d minutes", tabs, asked.Load(), minutes)
		if n := asked.Load(); n > minutes*60 || n < minutes {
			t.Errorf("%d tabs ask %d questions in %d minutes", tabs, n, minutes)
		}
		cancel()
		open.Wait()
	})
}
