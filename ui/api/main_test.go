package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/flows"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/api"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var silent = slog.New(slog.DiscardHandler)

const (
	parcel  workflow.Name[string, string]  = "parcel"
	family  workflow.Name[string, string]  = "family"
	broken  workflow.Name[string, string]  = "broken"
	panics  workflow.Name[string, string]  = "panics"
	counts  workflow.Name[int, string]     = "counts"
	scanned workflow.Signal[string]        = "scanned"
	where   workflow.Query[string, string] = "where"
)

// address is an argument with fields.
type address struct {
	Street string `json:"street"`
	Zip    *int   `json:"zip"`
}

// handleShop registers the workflows of these tests.
func handleShop(n *runtime.Node) {
	bulk.Handle(n)
	schedule.Handle(n)
	flows.Handle(n, giftFlow(false), nil)
	handleBounded(n)
	runtime.Handle(n, parcel, func(ctx workflow.Context, to string) (string, error) {
		workflow.Update[string, string]("move").Handle(ctx, func(_ workflow.Context, place string) (string, error) {
			if place == "fail" {
				return "", errors.New("the road is closed")
			}
			was := to
			to = place
			return was, nil
		}, &workflow.UpdateOptions[string]{Validate: func(place string) error {
			if place == "" {
				return errors.New("no place")
			}
			return nil
		}})
		where.Handle(ctx, func(asked string) (string, error) { return asked + to, nil })
		workflow.Publish(ctx, "weight", 7)
		if _, err := workflow.Step(ctx, "weigh", func(context.Context) (int, error) { return 7, nil }, nil); err != nil {
			return "", err
		}
		by, err := scanned.Receive(ctx)
		return "scanned by " + by, err
	}, &runtime.HandleOptions{Messages: []runtime.MessageType{
		runtime.SignalType(scanned), runtime.QueryType(where), runtime.UpdateType(workflow.Update[address, func()]("route")),
	}})
	runtime.Handle(n, family, func(ctx workflow.Context, in string) (string, error) {
		return workflow.Call(ctx, parcel, in, nil)
	}, nil)
	runtime.Handle(n, broken, func(ctx workflow.Context, _ string) (string, error) {
		return workflow.Step(ctx, "pay", func(context.Context) (string, error) { return "", errors.New("no money") },
			&workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}})
	}, nil)
	runtime.Handle(n, counts, func(ctx workflow.Context, steps int) (string, error) {
		for range steps {
			if _, err := workflow.Step(ctx, "count", func(context.Context) (int, error) { return 1, nil }, nil); err != nil {
				return "", err
			}
		}
		return scanned.Receive(ctx)
	}, nil)
	runtime.Handle(n, panics, func(_ workflow.Context, in string) (string, error) { panic("at " + in) }, nil)
}

// shop is a store with a node and an API.
type shop struct {
	t      testing.TB
	node   *runtime.Node
	client *runtime.Client
	o      api.Options
	server http.Handler
	called map[string]bool // patterns
}

// openMemory, openSQLite and openPostgres open a store that is closed when the test ends.
func openMemory(t testing.TB) (driver.Store, func(context.Context) ([]driver.Backlog, error)) {
	s := memory.New(nil)
	t.Cleanup(s.Close)
	return s, func(context.Context) ([]driver.Backlog, error) { return nil, nil }
}

func openSQLite(t testing.TB) (driver.Store, func(context.Context) ([]driver.Backlog, error)) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, func(ctx context.Context) ([]driver.Backlog, error) { return sqlite.Backlog(ctx, s) }
}

func openPostgres(t testing.TB) (driver.Store, func(context.Context) ([]driver.Backlog, error)) {
	s, err := postgres.Open(t.Context(), pgtest.New(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, func(ctx context.Context) ([]driver.Backlog, error) { return postgres.Backlog(ctx, s) }
}

// newShop runs a node on a store of its own until the test ends, with an API of its client.
func newShop(t testing.TB, open func(testing.TB) (driver.Store, func(context.Context) ([]driver.Backlog, error)), change func(*api.Options)) *shop {
	t.Helper()
	store, backlog := open(t)
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent, Name: "one"})
	handleShop(n)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("node ended with %v", err)
		}
	})
	clustertest.Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	s := &shop{t: t, node: n, client: n.Client(), called: map[string]bool{}}
	s.o = api.Options{Node: n, Backlog: backlog, Auth: func(r *http.Request) (string, error) {
		if name := r.Header.Get("Actor"); name != "" {
			return name, nil
		}
		return "", errors.New("the header Actor names nobody")
	}}
	if change != nil {
		change(&s.o)
	}
	s.server = api.New(s.client, &s.o)
	return s
}

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	body   string
}

// ask makes a request as an actor.
func (s *shop) ask(actor, method, path, body string) answer {
	s.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Actor", actor)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return s.serve(r)
}

func (s *shop) serve(r *http.Request) answer {
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	return answer{w.Code, w.Header(), w.Body.String()}
}

// must makes a request of an operation and wants a status and an answer that is as the description
// of the API says. into may be nil.
func (s *shop) must(status int, method, path, body string, into any) string {
	s.t.Helper()
	got := s.ask("eva", method, path, body)
	if got.status != status {
		s.t.Fatalf("%s %s %s: status %d, want %d: %s", method, path, body, got.status, status, got.body)
	}
	s.called[checkAnswer(s.t, method, path, got)] = true
	if into != nil {
		if err := json.Unmarshal([]byte(got.body), into); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, got.body)
		}
	}
	return got.body
}

// start starts a run by the library.
func (s *shop) start(name workflow.Name[string, string], o *runtime.StartOptions) journal.RunID {
	s.t.Helper()
	run, err := runtime.Start(clustertest.Context(s.t), s.client, name, "Berlin", o)
	return clustertest.MustStart(s.t, run, err).ID()
}

// parked waits until a parcel waits for its signal.
func (s *shop) parked(run journal.RunID) string {
	s.t.Helper()
	clustertest.Parked(s.t, s.client, run)
	return run.String()
}

// problem is what a refusal says.
type problem struct {
	Type, Title, Detail, How string
	Status                   int
}

// refused makes a request and wants a problem of a kind, whose detail has a text.
func (s *shop) refused(actor, method, path, body, kind, detail string) problem {
	s.t.Helper()
	got := s.ask(actor, method, path, body)
	return s.wantProblem(method+" "+path+" "+body, got, kind, detail)
}

func (s *shop) wantProblem(what string, got answer, kind, detail string) (p problem) {
	s.t.Helper()
	d := json.NewDecoder(strings.NewReader(got.body))
	d.DisallowUnknownFields()
	err := d.Decode(&p)
	if err != nil || got.header.Get("Content-Type") != "application/problem+json" || p.Status != got.status ||
		!strings.HasSuffix(p.Type, "docs/http-api.md#"+kind) || !strings.Contains(p.Detail, detail) || p.Title == "" {
		s.t.Errorf("%s: status %d, %s (%v), want problem %s that says %q", what, got.status, got.body, err, kind, detail)
	}
	return p
}
