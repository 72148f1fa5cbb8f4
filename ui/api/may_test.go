package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// TestMayBeside: GET /may says of each operation about no single run whether it would be refused,
// also of one about a workflow or a queue, and asks nobody if Allow does not.
func TestMayBeside(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, verb string, run *journal.Run) bool {
			switch verb {
			case "bulk pause", "limit set", "view delete":
				return run == nil
			case "run start", "workflow pause":
				return run.Workflow == "parcel"
			case "queue pause", "queue resume":
				return run.Queue == "default" && run.Workflow == ""
			}
			return actor == "eva" && !strings.HasPrefix(verb, "queue")
		}
	})
	told := func(actor, query string) []string {
		t.Helper()
		var rec record.May
		if got := s.ask(actor, "GET", "/may"+query, ""); json.Unmarshal([]byte(got.body), &rec) != nil || got.status != http.StatusOK {
			t.Fatalf("%s is answered with %d %s", query, got.status, got.body)
		}
		return rec.Verbs
	}
	for query, want := range map[string]string{
		"": "bulk pause, limit set, view delete", "?workflow=parcel&version=1": "bulk pause, limit set, run start, view delete, workflow pause",
		"?queue=default": "bulk pause, limit set, queue pause, queue resume, view delete", "?queue=other": "bulk pause, limit set, view delete",
	} {
		if got := strings.Join(told("ada", query), ", "); got != want {
			t.Errorf("%s tells ada %s, want %s", query, got, want)
		}
	}
	may := append(told("ada", "?workflow=parcel"), told("ada", "?queue=default")...)
	bodies, asked := validBodies(), 0
	for path, methods := range at(described(), "paths").(object) {
		for method, op := range methods.(object) {
			method = strings.ToUpper(method)
			if method == http.MethodGet || strings.Contains(path, "{run}") || strings.HasPrefix(path, "/schedules") {
				continue
			}
			verb := at(op, "x-reprise-verbs").([]any)[0].(string)
			if verb == "bulk pause" || path == "/bulk" {
				verb = "bulk pause"
			}
			asked++
			got := s.ask("ada", method, filled(path, ""), bodies[method+" "+path])
			if refused := strings.Contains(got.body, "may not do"); refused == slices.Contains(may, verb) {
				t.Errorf("%s %s answers %d %s, and ada is told %q", method, path, got.status, got.body, may)
			}
		}
	}
	if asked < 8 {
		t.Errorf("%d operations are asked for", asked)
	}
	if got := told("eva", ""); !slices.Contains(got, "node drain") || !slices.Contains(got, "bulk delete") || !slices.Contains(got, "schedule apply") {
		t.Errorf("eva is told %q", got)
	}
	s.refused("ada", "GET", "/may?version=x", "", "invalid-request", "version")
	open := newShop(t, openMemory, nil)
	if text := open.must(http.StatusOK, "GET", "/may", "", nil); !strings.Contains(text, "bulk delete") {
		t.Errorf("nobody is asked, and the answer is %s", text)
	}
}
