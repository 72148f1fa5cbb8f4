package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
)

// state is all that a client can read: runs with their histories, the audit, pauses, limits and
// nodes.
func (s *shop) state(t testing.TB) string {
	t.Helper()
	ctx := t.Context()
	page, err := s.client.List(ctx, journal.ListFilter{Limit: journal.ListMax})
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for i := range page.Runs {
		d, err := s.client.Describe(ctx, page.Runs[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		events, err := s.client.History(ctx, page.Runs[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Runs[i], d, events)
	}
	audit, err := s.client.Audit(ctx, journal.AuditFilter{Limit: journal.ListMax})
	if err != nil {
		t.Fatal(err)
	}
	pauses, err := s.client.Pauses(ctx)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := runtime.JournalOf(s.client).Store().Nodes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	limits, err := runtime.Limits(ctx, s.client, nil)
	if err != nil {
		t.Fatal(err)
	}
	var drains []bool
	for _, n := range nodes {
		drains = append(drains, n.Draining)
	}
	text, err := json.Marshal([]any{all, audit, pauses, limits.Limits, drains})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readOnlyShop has an API that may not write, and a run of each kind.
func readOnlyShop(t testing.TB) (s *shop, runs []string) {
	s = newShop(t, openMemory, func(o *api.Options) { o.ReadOnly = true })
	failed := s.start(broken, nil).String()
	s.ended(failed, "failed")
	runs = []string{s.parked(s.start(parcel, &runtime.StartOptions{Key: "k"})), failed}
	if err := runtime.Signal(t.Context(), s.client, journal.NewRunID(), scanned, "x", nil); err == nil {
		t.Fatal("a signal to nobody was taken")
	}
	return s, runs
}

// everyRequest calls fn with a request of each operation that would do something.
func everyRequest(runs []string, fn func(pattern, method, path, body string, writes bool)) {
	bodies := validBodies()
	for path, methods := range at(described(), "paths").(object) {
		for method, op := range methods.(object) {
			if at(op, "responses", "200", "x-reprise-events") != nil {
				continue // streams do not end
			}
			method = strings.ToUpper(method)
			for _, run := range runs {
				fn(method+" "+path, method, filled(path, run), bodies[method+" "+path], at(op, "x-reprise-writes") == true)
			}
		}
	}
}

// TestReadOnly: an API that is read-only does nothing that writes, and all else.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s, runs := readOnlyShop(t)
	before := s.state(t)
	refused := 0
	everyRequest(runs, func(pattern, method, path, body string, writes bool) {
		if writes {
			s.refused("eva", method, path, body, "read-only", "read-only")
			refused++
			_, op := operationOf(t, method, path)
			if list, _ := at(op, "parameters").([]any); slices.ContainsFunc(list, func(p any) bool { return at(p, "name") == "dry_run" }) {
				s.refused("eva", method, path+"?dry_run=false", body, "read-only", "read-only")
				if got := s.ask("eva", method, path+"?dry_run", body); got.status == http.StatusForbidden {
					t.Errorf("a dry run of %s is refused: %s", pattern, got.body)
				}
			}
			return
		}
		if got := s.ask("eva", method, path, body); got.status == http.StatusForbidden {
			t.Errorf("%s is refused: %s", pattern, got.body)
		}
	})
	if refused < 30 {
		t.Errorf("%d requests were refused", refused)
	}
	if after := s.state(t); after != before {
		t.Errorf("the store was %s and is %s", before, after)
	}
}

// FuzzReadOnly: whatever is sent to an API that is read-only, nothing is written, and the answer is
// JSON.
func FuzzReadOnly(f *testing.F) {
	s, runs := readOnlyShop(f)
	everyRequest(runs, func(_, method, path, body string, _ bool) {
		f.Add(method, path, "", body)
		f.Add(method, path, "dry_run", body)
		f.Add(method, path, "dry_run=false&limit=1", `{"where": "`+body)
	})
	before := s.state(f)
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		if strings.HasSuffix(path, "events") {
			return // streams do not end
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "http://reprise.example/", strings.NewReader(body))
		if err != nil {
			return // no request can be made of it
		}
		r.URL.Path, r.URL.RawQuery = path, query
		r.Header.Set("Actor", "eva")
		r.Header.Set("Content-Type", "application/json")
		got := s.serve(r)
		texts := []string{got.body}
		if got.header.Get("Content-Type") == "application/jsonl" {
			texts = strings.Split(strings.TrimSpace(got.body), "\n")
		}
		if slices.ContainsFunc(texts, func(text string) bool { return !json.Valid([]byte(text)) }) {
			t.Errorf("%s %q?%q answers %d %q", method, path, query, got.status, got.body)
		}
		if after := s.state(t); after != before {
			t.Errorf("%s %q?%q %q: the store was %s and is %s", method, path, query, body, before, after)
		}
	})
}
