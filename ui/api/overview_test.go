package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// planted are runs in every state that an overview tells apart: of a shop two failed, two blocked,
// one paused, one that waits and one completed.
func (s *shop) planted(labels map[string]string) {
	s.t.Helper()
	o := &runtime.StartOptions{Labels: labels}
	s.troubled(labels)
	paused, done := s.parked(s.start(parcel, o)), s.parked(s.start(parcel, o))
	s.parked(s.start(parcel, o))
	s.must(http.StatusOK, "POST", "/runs/"+paused+"/pause", "", nil)
	s.must(http.StatusOK, "POST", "/runs/"+done+"/signal", `{"name": "scanned", "payload": "x"}`, nil)
	s.ended(done, "completed")
}

// told is what an overview says, in a line for each of its parts.
func told(v *record.Overview) (lines []string) {
	var sum record.OverviewBucket
	for _, b := range v.Buckets {
		sum.Started, sum.Closed, sum.Failed = sum.Started+b.Started, sum.Closed+b.Closed, sum.Failed+b.Failed
	}
	lines = append(lines, fmt.Sprintf("%d open, %d blocked, %d quarantined, %d paused; %d started, %d closed, %d failed; capped %v",
		v.Open, v.Blocked, v.Quarantined, v.Paused, sum.Started, sum.Closed, sum.Failed, v.Capped))
	for _, w := range v.Workflows {
		lines = append(lines, fmt.Sprintf("%s %d: %d open, %d blocked, %d paused, %d started, %d completed, %d failed, took %v", w.Workflow, w.Version, w.Open, w.Blocked, w.Paused,
			w.Started, w.Completed, w.Failed, w.P50 > 0 && w.P95 >= w.P50))
	}
	return lines
}

func wantTold(t testing.TB, v *record.Overview, want ...string) {
	t.Helper()
	if got := told(v); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the overview says\n%q, want\n%q", got, want)
	}
}

// TestOverview: what is counted is what there is.
func TestOverview(t *testing.T) {
	t.Parallel()
	oldest := time.Now().Add(-time.Hour).UTC()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Backlog = func(context.Context) ([]driver.Backlog, error) {
			of := func(queue string, at time.Time) driver.Backlog {
				return driver.Backlog{Route: journal.Route{Queue: queue, Workflow: "parcel", Version: 1}, Due: 2, Oldest: at}
			}
			return []driver.Backlog{of("a", oldest.Add(time.Minute)), of("b", oldest), of("c", time.Time{})}, nil
		}
	})
	s.planted(nil)
	var v record.Overview
	for _, window := range []string{"", "?window=1h", "?window=7d", "?window=30d", "?window=6h"} {
		s.must(http.StatusOK, "GET", "/overview"+window, "", &v)
		wantTold(t, &v, "4 open, 2 blocked, 0 quarantined, 1 paused; 7 started, 3 closed, 2 failed; capped false",
			"panics 1: 2 open, 2 blocked, 0 paused, 2 started, 0 completed, 0 failed, took false",
			"broken 1: 0 open, 0 blocked, 0 paused, 2 started, 0 completed, 2 failed, took false",
			"parcel 1: 2 open, 0 blocked, 1 paused, 3 started, 1 completed, 0 failed, took true")
		if v.Due != 6 || v.OldestAt == nil || !v.OldestAt.Equal(oldest) || v.Workflows[2].Due != 6 || !v.Workflows[2].OldestAt.Equal(oldest) {
			t.Errorf("what waits is %d since %v, of parcels %+v", v.Due, v.OldestAt, v.Workflows[2])
		}
		last := v.Buckets[len(v.Buckets)-1]
		if first := v.Buckets[0]; !first.At.Equal(v.From) || len(v.Buckets) < 30 || !last.At.Add(time.Duration(v.Bucket)*time.Second).After(v.At) || last.At.After(v.At) {
			t.Errorf("the buckets begin at %v and end with %+v, at %v", first.At, last, v.At)
		}
		v = record.Overview{}
	}
	s.refused("eva", "GET", "/overview?window=2h", "", "invalid-request", `"2h"`)
}

// TestOverviewOfSome: an actor is told of the runs that it may see, also when another one has asked
// before, and of queues if it may know of them.
func TestOverviewOfSome(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, verb string, run *journal.Run) bool {
			return actor == "eva" || verb != "queue list" && (run == nil || run.Labels["shop"] == actor)
		}
		o.Backlog = func(context.Context) ([]driver.Backlog, error) {
			return []driver.Backlog{{Route: journal.Route{Workflow: "SECRET"}, Due: 1}}, nil
		}
	})
	s.planted(map[string]string{"shop": "7"})
	s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "8"}, Queue: "nobody"})
	ask := func(actor string) (v record.Overview) {
		got := s.ask(actor, "GET", "/overview", "")
		if err := json.Unmarshal([]byte(got.body), &v); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s is told %d %s", actor, got.status, got.body)
		}
		return v
	}
	if v := ask("eva"); v.Open != 5 || v.Due != 1 {
		t.Errorf("eva is told %v", told(&v))
	}
	eight := ask("8")
	wantTold(t, &eight, "1 open, 0 blocked, 0 quarantined, 0 paused; 1 started, 0 closed, 0 failed; capped false",
		"parcel 1: 1 open, 0 blocked, 0 paused, 1 started, 0 completed, 0 failed, took false")
	if v := ask("7"); v.Open != 4 || v.Blocked != 2 || v.Quarantined != 0 || v.Paused != 1 || v.Due != 0 {
		t.Errorf("7 is told %v", told(&v))
	}
	if v := ask("nobody"); v.Open != 0 || len(v.Workflows) != 0 {
		t.Errorf("nobody is told %v", told(&v))
	}
}

// countingStore counts the questions that cost.
type countingStore struct {
	driver.Store
	asked atomic.Int32
}

func (s *countingStore) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	s.asked.Add(1)
	return s.Store.Aggregate(ctx, a)
}

func (s *countingStore) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	s.asked.Add(1)
	return s.Store.List(ctx, f)
}

// TestOverviewIsShared: 200 readers ask the store as often as one, with rules and without.
func TestOverviewIsShared(t *testing.T) {
	t.Parallel()
	for _, rules := range []bool{false, true} {
		store, _ := openMemory(t)
		counting := &countingStore{Store: store}
		o := &api.Options{Auth: func(r *http.Request) (string, error) { return r.Header.Get("Actor"), nil }}
		if rules {
			o.Allow = func(_ context.Context, actor, _ string, run *journal.Run) bool { return run == nil || run.Key == actor }
		}
		s := &shop{t: t, client: runtime.NewClient(journal.New(counting, nil), &runtime.ClientOptions{Logger: silent})}
		s.server = api.New(s.client, o)
		s.start(parcel, nil)
		counting.asked.Store(0)
		var readers sync.WaitGroup
		for i := range 200 {
			readers.Go(func() {
				for _, path := range []string{"/overview", "/failures"} {
					if path == "/failures" && rules { // what is shown of a failure depends on who asks
						continue
					}
					if got := s.ask(fmt.Sprint("actor ", i), "GET", path, ""); got.status != http.StatusOK {
						t.Errorf("%s answers %d %s", path, got.status, got.body)
					}
				}
			})
		}
		readers.Wait()
		if n := counting.asked.Load(); n > 10 {
			t.Errorf("with rules %v, the store was asked %d times", rules, n)
		}
	}
}
