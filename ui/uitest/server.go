package uitest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui"
)

// Prefix is where the dashboard of a Server is mounted.
const Prefix = "/ops/reprise"

// Server serves the dashboard of a store with a node.
type Server struct {
	Node   *runtime.Node
	Client *runtime.Client

	root  string // address of the dashboard, without the last slash
	http  *httptest.Server
	store *sqlite.Store
	stop  context.CancelFunc
	ended chan error
}

// New serves a store of its own until the test ends. change may be nil.
func New(t testing.TB, change func(o *ui.Options)) *Server {
	t.Helper()
	s := start(t, t.TempDir(), change)
	t.Cleanup(func() {
		if err := s.end(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return s
}

// planted is the server that tests share which only read.
var planted struct {
	sync.Mutex
	server *Server
}

// Planted serves a store with a run in every state. Tests share it, so they must not change what
// others look at; those that write have a New one.
func Planted(t testing.TB) *Server {
	t.Helper()
	planted.Lock()
	defer planted.Unlock()
	if planted.server == nil {
		folder, err := os.MkdirTemp("", "uitest")
		if err != nil {
			t.Fatal(err)
		}
		s := start(t, folder, nil)
		s.Plant(t)
		end := s.stop
		s.stop = func() {
			end()
			_ = os.RemoveAll(folder) // an open file of SQLite's keeps what it has
		}
		planted.server = s
	}
	return planted.server
}

func start(t testing.TB, folder string, change func(o *ui.Options)) *Server {
	t.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(folder, "runs.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler), Name: "uitest"})
	bulk.Handle(n)
	Register(n)
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{Node: n, Client: n.Client(), store: store, stop: stop, ended: make(chan error, 1)}
	go func() { s.ended <- n.Run(ctx) }()
	clustertest.Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	s.serve(change)
	return s
}

// serve serves a dashboard of the store.
func (s *Server) serve(change func(o *ui.Options)) {
	o := &ui.Options{Title: "Reprise, tests"}
	o.API.Node = s.Node
	o.API.Backlog = func(ctx context.Context) ([]driver.Backlog, error) { return sqlite.Backlog(ctx, s.store) }
	if change != nil {
		change(o)
	}
	mux := http.NewServeMux()
	mux.Handle(Prefix+"/", http.StripPrefix(Prefix, ui.New(s.Client, o)))
	s.http = httptest.NewServer(mux)
	s.root = s.http.URL + Prefix
}

// Beside serves another dashboard of the same store and node until the test ends.
func (s *Server) Beside(t testing.TB, change func(o *ui.Options)) *Server {
	other := &Server{Node: s.Node, Client: s.Client, store: s.store}
	other.serve(change)
	t.Cleanup(func() {
		other.http.CloseClientConnections()
		other.http.Close()
	})
	return other
}

// At is a server of somebody else's, whose dashboard is at an address. Nothing else of it is known.
func At(address string) *Server { return &Server{root: strings.TrimSuffix(address, "/")} }

// URL is the address of a page, whose path is below the prefix.
func (s *Server) URL(path string) string { return s.root + "/" + strings.TrimPrefix(path, "/") }

// Host is the server's name and port.
func (s *Server) Host() string {
	host, _, _ := strings.Cut(strings.TrimPrefix(s.root, "http://"), "/")
	return host
}

// end ends everything, pages with open streams too.
func (s *Server) end() error {
	s.http.CloseClientConnections()
	s.http.Close()
	s.stop()
	err := <-s.ended
	s.store.Close()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
