package api_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/api"
)

// TestSqueezed: long answers and downloads are compressed for a client that takes gzip, and say the
// same; short answers, problems and streams are not.
func TestSqueezed(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	defer store.Close()
	client := runtime.NewClient(journal.New(store, nil), &runtime.ClientOptions{Logger: silent})
	var id string
	for range 20 {
		run, err := runtime.Start(t.Context(), client, parcel, strings.Repeat("Lima ", 1000), nil)
		if err != nil {
			t.Fatal(err)
		}
		id = run.ID().String()
		if err := client.Terminate(t.Context(), run.ID(), strings.Repeat("why ", 10)); err != nil {
			t.Fatal(err)
		}
	}
	handler := api.New(client, nil)
	ask := func(method, path, takes string) (*http.Response, string) {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Header.Set("Accept-Encoding", takes)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		text, err := io.ReadAll(w.Result().Body)
		if w.Header().Get("Content-Encoding") == "gzip" && err == nil {
			var z *gzip.Reader
			if z, err = gzip.NewReader(strings.NewReader(string(text))); err == nil {
				text, err = io.ReadAll(z)
			}
		}
		if err != nil {
			t.Errorf("%s %s: %v", method, path, err)
		}
		return w.Result(), string(text)
	}
	for _, c := range []struct {
		method, path, takes string
		status              int
		squeezed            bool
	}{
		{"GET", "/runs", "gzip, deflate, br", 200, true},
		{"GET", "/runs", "gzip;q=0", 200, false},
		{"GET", "/runs", "", 200, false},
		{"HEAD", "/runs", "gzip", 200, false},
		{"GET", "/views", "gzip", 200, false},
		{"GET", "/runs?where=nonsense", "gzip", 400, false},
		{"GET", "/runs/" + id + "/download", "gzip", 200, true},
	} {
		is, text := ask(c.method, c.path, c.takes)
		if is.StatusCode != c.status || (is.Header.Get("Content-Encoding") == "gzip") != c.squeezed || c.status == 200 && is.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s %s for %q has the status %d and the header %v", c.method, c.path, c.takes, is.StatusCode, is.Header)
		}
		if _, plain := ask(c.method, c.path, ""); text != plain && c.method != "HEAD" {
			t.Errorf("%s %s for %q is %.200q, want %.200q", c.method, c.path, c.takes, text, plain)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, "GET", "/events", nil)
	r.Header.Set("Accept-Encoding", "gzip")
	w := &tab{ResponseWriter: httptest.NewRecorder()}
	ended := make(chan struct{})
	go func() {
		handler.ServeHTTP(w, r)
		close(ended)
	}()
	clustertest.Until(t, "the stream has begun", func() bool { return w.has("event: runs") })
	cancel()
	<-ended
	if coding := w.Header().Get("Content-Encoding"); coding != "" {
		t.Errorf("a stream is in %s", coding)
	}
}
