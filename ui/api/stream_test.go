package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// sse is a stream of server-sent events that a test reads.
type sse struct {
	t      *testing.T
	path   string
	lines  *bufio.Scanner
	status int
	ctx    context.Context // of the request
	close  func()
}

// sent is an event of a stream.
type sent struct{ id, name, data string }

// follow opens a stream over the network. last may be empty.
func (s *shop) follow(t *testing.T, path, last string) *sse {
	t.Helper()
	server := httptest.NewServer(s.server)
	ctx, cancel := context.WithCancel(clustertest.Context(t))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Actor", "eva")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	f := &sse{t: t, path: path, lines: bufio.NewScanner(got.Body), status: got.StatusCode, ctx: ctx}
	f.lines.Buffer(nil, 1<<20)
	f.close = sync.OnceFunc(func() {
		cancel()
		_ = got.Body.Close()
		closed := make(chan struct{})
		go func() { defer close(closed); server.Close() }()
		select {
		case <-closed:
		case <-time.After(clustertest.Patience):
			t.Errorf("%s goes on although nobody reads it", path)
		}
	})
	t.Cleanup(f.close)
	if got.StatusCode == http.StatusOK && got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%s has type %q", path, got.Header.Get("Content-Type"))
	}
	return f
}

// next returns the next event, and false at the end of the stream. It compares the data with the
// description.
func (f *sse) next() (e sent, ok bool) {
	f.t.Helper()
	for f.lines.Scan() {
		name, value, _ := strings.Cut(f.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.name == "" {
				continue // behind a comment
			}
			pattern, op := operationOf(f.t, "GET", f.path)
			schema := at(op, "responses", "200", "x-reprise-events", e.name)
			if schema == nil {
				f.t.Fatalf("%s sends %q, which is not described", pattern, e.name)
			}
			checkText(f.t, pattern+" "+e.name, schema, e.data)
			return e, true
		}
	}
	return e, false
}

// until reads events until one satisfies ok. It waits no longer than the request may take, which
// the context of follow bounds.
func (f *sse) until(what string, ok func(e sent) bool) sent {
	f.t.Helper()
	for {
		e, more := f.next()
		switch {
		case more:
		case f.ctx.Err() != nil:
			f.t.Fatalf("%s: waited in vain until %s", f.path, what)
		default:
			f.t.Fatalf("%s has ended before %s", f.path, what)
		}
		if ok(e) {
			return e
		}
	}
}

// TestWatchRun: a stream of a run has each of its events once, in order, through generations, says
// how the run stands, and ends with it.
func TestWatchRun(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	run := s.start(parcel, nil)
	id := s.parked(run)
	f := s.follow(t, "/runs/"+id+"/events", "")
	f.until("the run waits", func(e sent) bool { return e.name == "run" && strings.Contains(e.data, "signal scanned") })
	s.must(http.StatusOK, "POST", "/runs/"+id+"/pause", "", nil)
	f.until("the run is paused", func(e sent) bool { return e.name == "run" && strings.Contains(e.data, `"paused"`) })
	s.must(http.StatusOK, "POST", "/runs/"+id+"/resume", "", nil)
	s.must(http.StatusOK, "POST", "/runs/"+id+"/reset", `{"point": "step:weigh"}`, nil)
	f.until("the reset is told", func(e sent) bool { return e.id == "2.2" })
	s.must(http.StatusOK, "POST", "/runs/"+id+"/reset", `{"point": "step:weigh"}`, nil)
	f.until("the second one is told", func(e sent) bool { return e.id == "3.2" })
	s.must(http.StatusOK, "POST", "/runs/"+id+"/signal", `{"name": "scanned", "payload": "Ada"}`, nil)
	last := f.until("the end", func(e sent) bool { return e.name == "end" })
	if _, more := f.next(); more || !strings.Contains(last.data, `"completed"`) {
		t.Errorf("behind the end, which is %s, something comes", last.data)
	}
	for _, c := range []struct {
		last string
		want []string
	}{
		{"1.1", []string{"1.2", "2.1", "2.2", "3.1", "3.2", "3.3", "3.4"}}, {"3.3", []string{"3.4"}}, {"3.4", nil},
	} {
		var ids []string
		again := s.follow(t, "/runs/"+id+"/events?after=1.0", c.last)
		for e, more := again.next(); more; e, more = again.next() {
			if e.name == "event" {
				ids = append(ids, e.id)
			}
		}
		if !slices.Equal(ids, c.want) {
			t.Errorf("behind %s there are %v, want %v", c.last, ids, c.want)
		}
	}
}

// TestWatchDeleted: the stream of a run that somebody deletes says so and ends.
func TestWatchDeleted(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Poll = 10 * time.Millisecond
		o.Allow = func(_ context.Context, _, _ string, run *journal.Run) bool {
			return run == nil || run.Labels["hidden"] == ""
		}
	})
	id := s.parked(s.start(parcel, nil))
	f := s.follow(t, "/runs/"+id+"/events", "")
	f.until("the run is shown", func(e sent) bool { return e.name == "run" })
	run := parseID(t, id)
	if err := s.client.SetLabels(t.Context(), run, map[string]string{"hidden": "yes"}, nil); err != nil { // the same to this actor
		t.Fatal(err)
	}
	f.until("it is gone", func(e sent) bool { return e.name == "gone" })
	if e, more := f.next(); more {
		t.Errorf("behind that comes %+v", e)
	}
	if again := s.follow(t, "/runs/"+id+"/events", ""); again.status != http.StatusNotFound {
		t.Errorf("another stream has status %d", again.status)
	}
}

// TestWatchAll: a stream of all tells what changes in a page of runs, and of nodes, pauses and the
// audit.
func TestWatchAll(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) { o.Poll = 20 * time.Millisecond })
	f := s.follow(t, "/events?where=status+%3D+open&limit=2", "")
	for _, name := range []string{"runs", "nodes", "pauses"} {
		if e, _ := f.next(); e.name != name {
			t.Fatalf("the stream begins with %+v, want %s", e, name)
		}
	}
	changes := func(what string, ok func(c record.Changes) bool) {
		t.Helper()
		f.until(what, func(e sent) bool {
			var c record.Changes
			return e.name == "runs" && json.Unmarshal([]byte(e.data), &c) == nil && ok(c)
		})
	}
	id := s.parked(s.start(parcel, nil))
	changes("the run is there", func(c record.Changes) bool {
		return len(c.Runs) == 1 && c.Runs[0].ID == id && len(c.Runs[0].Waiting) == 1
	})
	s.must(http.StatusOK, "POST", "/runs/"+id+"/pause", `{"reason": "why not"}`, nil)
	paused, audited := false, false // in any order: a look that has begun may see the entry only
	f.until("it is paused, and the audit has it", func(e sent) bool {
		paused = paused || e.name == "runs" && strings.Contains(e.data, `"paused"`)
		audited = audited || e.name == "audit" && strings.Contains(e.data, "why not")
		return paused && audited
	})
	s.must(http.StatusOK, "POST", "/queues/default/pause", "", nil)
	f.until("the queue is paused", func(e sent) bool { return e.name == "pauses" && strings.Contains(e.data, `"default"`) })
	s.must(http.StatusOK, "POST", "/runs/"+id+"/terminate", "", nil)
	changes("it is gone", func(c record.Changes) bool { return slices.Equal(c.Gone, []string{id}) })
	s.must(http.StatusOK, "POST", "/nodes/one/drain", "", nil)
	f.until("the node has left", func(e sent) bool { return e.name == "nodes" && e.data == "[]" })
}

// TestWatchAmongMany: a stream goes on although its reader may see none of the newest entries of
// the audit, and has the next one that it may see.
func TestWatchAmongMany(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, _, _ string, run *journal.Run) bool {
			return run == nil || run.Labels["shop"] == "7"
		}
	})
	start := func(shop string) journal.RunID {
		run, err := runtime.Start(t.Context(), s.client, parcel, "x", &runtime.StartOptions{Labels: map[string]string{"shop": shop}, Queue: "nobody"})
		if err != nil {
			t.Fatal(err)
		}
		return run.ID()
	}
	hidden, seen := start("8"), start("7")
	for i := range 1001 { // more than a stream looks at
		if err := s.client.SetPriority(t.Context(), hidden, int16(1+i%2)); err != nil {
			t.Fatal(err)
		}
	}
	f := s.follow(t, "/events", "")
	f.until("the pauses are shown", func(e sent) bool { return e.name == "pauses" })
	if err := s.client.SetPriority(t.Context(), seen, 1); err != nil {
		t.Fatal(err)
	}
	f.until("the audit has it", func(e sent) bool { return e.name == "audit" && strings.Contains(e.data, seen.String()) })
}

// TestWatchMissesNothing: a stream has each entry of the audit that is written behind its first
// event, also what is written before it has looked at everything for the first time.
func TestWatchMissesNothing(t *testing.T) {
	t.Parallel()
	acted := make(chan struct{})
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, _, verb string, _ *journal.Run) bool {
			if verb == "node list" { // behind the runs
				<-acted
			}
			return true
		}
	})
	f := s.follow(t, "/events", "")
	f.until("the runs are shown", func(e sent) bool { return e.name == "runs" })
	err := s.client.PauseScope(t.Context(), journal.Scope{Queue: "letters"}, nil)
	close(acted)
	if err != nil {
		t.Fatal(err)
	}
	f.until("the audit has it", func(e sent) bool { return e.name == "audit" && strings.Contains(e.data, "letters") })
}

// deaf is a store that tells no other process of anything, and hears of none.
type deaf struct{ driver.Store }

func (deaf) Hints() driver.Hints { return silence{} }

type silence struct{}

func (silence) Notify([]driver.Hint) {}
func (silence) Watch(ctx context.Context, _ func(driver.Hint)) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestHintsAndPolls: a stream learns of an end by a hint although it does not poll, and by a poll
// although there are no hints.
func TestHintsAndPolls(t *testing.T) {
	t.Parallel()
	for name, poll := range map[string]time.Duration{"hints": time.Hour, "polls": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var store *memory.Store
			s := newShop(t, func(t testing.TB) (driver.Store, func(context.Context) ([]driver.Backlog, error)) {
				store = memory.New(nil)
				t.Cleanup(store.Close)
				return store, nil
			}, nil)
			if name == "polls" { // another process, which hears nothing
				elsewhere := runtime.NewClient(journal.New(deaf{store.Peer()}, nil), &runtime.ClientOptions{Logger: silent})
				s.server = api.New(elsewhere, &api.Options{Poll: poll})
			} else {
				s.server = api.New(s.client, &api.Options{Poll: poll})
			}
			run := s.start(parcel, nil)
			id := s.parked(run)
			f := s.follow(t, "/runs/"+id+"/events", "")
			f.until("the run is shown", func(e sent) bool { return e.name == "run" })
			if err := runtime.Signal(t.Context(), s.client, run, scanned, "Ada", nil); err != nil {
				t.Fatal(err)
			}
			f.until("the end", func(e sent) bool { return e.name == "end" })
		})
	}
}

// TestTurnsAreTold: a stream that does not poll learns of turns that end in a wait, of which no hint
// tells, if its own process has executed them.
func TestTurnsAreTold(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) { o.Poll = time.Hour })
	all := s.follow(t, "/events", "")
	all.until("nothing is there", func(e sent) bool { return e.name == "runs" })
	run := s.start(parcel, nil)
	all.until("the run waits", func(e sent) bool { return e.name == "runs" && strings.Contains(e.data, "signal scanned") })
	one := s.follow(t, "/runs/"+run.String()+"/events", "")
	one.until("the run is shown", func(e sent) bool { return e.name == "run" })
	if err := s.client.Pause(t.Context(), run, nil); err != nil {
		t.Fatal(err)
	}
	one.until("it is paused", func(e sent) bool { return e.name == "run" && strings.Contains(e.data, `"paused"`) })
	all.until("the audit has it", func(e sent) bool { return e.name == "audit" })
}

// TestStreamsEnd: as many streams as there may be are open at once, and one that is closed makes
// room.
func TestStreamsEnd(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	id := s.parked(s.start(parcel, nil))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{}, 300)
	open := func(ctx context.Context) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/runs/"+id+"/events", nil).WithContext(ctx)
		r.Header.Set("Actor", "eva")
		s.server.ServeHTTP(w, r)
		return w
	}
	for range 256 {
		go func() {
			for ctx.Err() == nil { // the short ones below may take a place
				open(ctx)
			}
			ended <- struct{}{}
		}()
	}
	var refused *httptest.ResponseRecorder
	clustertest.Until(t, "a stream is refused", func() bool {
		short, stop := context.WithTimeout(ctx, 20*time.Millisecond)
		defer stop()
		refused = open(short)
		return refused.Code == http.StatusServiceUnavailable
	})
	s.wantProblem("one too many", answer{refused.Code, refused.Header(), refused.Body.String()}, "too-many-streams", fmt.Sprint(256))
	cancel()
	for range 256 {
		<-ended
	}
	f := s.follow(t, "/runs/"+id+"/events", "")
	f.until("the run is shown", func(e sent) bool { return e.name == "run" })
}
