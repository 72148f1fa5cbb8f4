package ui_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui"
	"github.com/reprise-run/reprise/ui/uitest"
)

// FuzzReadOnly: whatever is sent to a dashboard that is read-only, nothing is written, and no answer
// holds what was sent as HTML.
func FuzzReadOnly(f *testing.F) {
	s := memory.New(nil)
	f.Cleanup(s.Close)
	c := runtime.NewClient(journal.New(s, nil), nil)
	run, err := runtime.Start(f.Context(), c, uitest.Customs, "Lima", &runtime.StartOptions{Key: "k"})
	if err != nil {
		f.Fatal(err)
	}
	id := run.ID().String()
	o := &ui.Options{Prefix: "/ops"}
	o.API.ReadOnly = true
	h := ui.New(c, o)
	for _, path := range []string{"", "/", "/ops", "/ops/", "/runs", "/ops/runs/" + id, "/assets/app.js", "/api/runs", "/ops/api/runs/" + id + "/cancel", "/api/bulk", "/api/runs/key=k/pause",
		"/api/../api/runs", "//api/runs", "/api/queues/default/pause", "/ops/ops/api/runs", "/<script>x</script>"} {
		f.Add(http.MethodGet, path, "", "")
		f.Add(http.MethodPost, path, "dry_run=false", `{"workflow": "customs", "verb": "cancel", "all": true}`)
		f.Add(http.MethodDelete, path, "dry_run", "{}")
	}
	state := func(t testing.TB) string {
		page, err := c.List(t.Context(), journal.ListFilter{})
		if err != nil {
			t.Fatal(err)
		}
		audit, err := c.Audit(t.Context(), journal.AuditFilter{})
		if err != nil {
			t.Fatal(err)
		}
		pauses, err := c.Pauses(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Describe(t.Context(), run.ID())
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal([]any{page.Runs, audit, pauses, d})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := state(f)
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		if strings.HasSuffix(path, "events") {
			return // streams do not end
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "http://reprise.example/", strings.NewReader(body))
		if err != nil {
			return // no request can be made of it
		}
		r.URL.Path, r.URL.RawQuery, r.RequestURI = path, query, path
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if text := w.Body.String(); strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") && strings.Contains(text, "<script>") {
			t.Errorf("%s %q answers %s", method, path, text)
		}
		if to := w.Header().Get("Location"); to != "" && !strings.HasPrefix(to, "./") {
			t.Errorf("%s %q leads to %q", method, path, to)
		}
		if w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %q has the headers %v", method, path, w.Header())
		}
		if after := state(t); after != before {
			t.Errorf("%s %q?%q %q: the store was %s and is %s", method, path, query, body, before, after)
		}
	})
}
