package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// troubled starts two runs that fail in a step and two that are blocked, and waits until they are
// and stay so.
func (s *shop) troubled(labels map[string]string) {
	s.t.Helper()
	ctx, scope := clustertest.Context(s.t), journal.Scope{Workflow: string(panics)}
	var stuck []journal.RunID
	for range 2 {
		s.ended(s.start(broken, &runtime.StartOptions{Labels: labels}).String(), "failed")
		stuck = append(stuck, s.start(panics, &runtime.StartOptions{Labels: labels}))
	}
	blocked := func(d *runtime.Description) bool { return d.Run.Task.State == journal.Blocked }
	for _, run := range stuck {
		clustertest.Described(s.t, s.client, run, "it is blocked", blocked)
	}
	if err := s.client.PauseScope(ctx, scope, nil); err != nil { // so that nobody tries them again
		s.t.Fatal(err)
	}
	for _, run := range stuck {
		clustertest.Described(s.t, s.client, run, "it stays blocked", blocked)
	}
}

// failureVerbs: runs are grouped by what failed, whatever else is in the store.
func (s *shop) failureVerbs() {
	s.troubled(map[string]string{"shop": "9"})
	defer s.must(http.StatusOK, "POST", "/workflows/panics/resume", "", nil)
	var f record.Failures
	s.must(http.StatusOK, "GET", "/failures?label=shop%3D9", "", &f)
	if f.Runs != 4 || f.Capped || len(f.Groups) != 2 {
		s.t.Fatalf("the failures are %+v", f)
	}
	for _, g := range f.Groups {
		switch fmt.Sprintf("%d %s %d %s/%s/%s", g.Runs, g.Workflow, g.Version, g.Status, g.Step, g.Class) {
		case "2 broken 1 failed/pay/*errors.errorString":
			if g.FirstAt == nil || !g.LastAt.After(*g.FirstAt) || g.Problem != "no money" {
				s.t.Errorf("the group is %+v", g)
			}
		case "2 panics 1 blocked//workflow code panicked":
			if g.FirstAt == nil || !g.LastAt.After(*g.FirstAt) || !strings.Contains(g.Problem, "at Berlin") {
				s.t.Errorf("the group is %+v", g)
			}
		default:
			s.t.Errorf("there is a group %+v", g)
		}
	}
	var v record.Overview
	if s.must(http.StatusOK, "GET", "/overview?window=1h", "", &v); v.Blocked < 2 || v.Open < 3 || v.Capped {
		s.t.Errorf("the overview is %+v", v)
	}
	for query, want := range map[string]string{"status=failed": "2 false", "state=blocked": "2 false", "status=completed": "0 false", "status=open": "2 false", "state=quarantined": "0 false",
		"cap=1": "2 true", "cap=2": "4 false", "where=workflow+%3D+%22panics%22": "2 false"} {
		s.must(http.StatusOK, "GET", "/failures?label=shop%3D9&"+query, "", &f)
		if got := fmt.Sprint(f.Runs, f.Capped); got != want {
			s.t.Errorf("with %s there are %s failures, want %s", query, got, want)
		}
		f = record.Failures{}
	}
}

// TestFailuresOfSome: runs that an actor may not see are not counted, and a failure that is hidden
// names no class.
func TestFailuresOfSome(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, verb string, run *journal.Run) bool {
			return actor == "eva" || verb != "run failures" && run != nil && run.Labels["shop"] == "7" || verb == "run failures" && actor == "ada"
		}
		o.Redact = func(_ context.Context, actor string, from record.Source, p *record.Payload) *record.Payload {
			if actor == "ada" && from.Kind == record.FromOutcome {
				return nil
			}
			return p
		}
	})
	s.troubled(map[string]string{"shop": "7"})
	if err := s.client.ResumeScope(t.Context(), journal.Scope{Workflow: string(panics)}); err != nil {
		t.Fatal(err)
	}
	s.troubled(map[string]string{"shop": "8"})
	var f record.Failures
	if s.must(http.StatusOK, "GET", "/failures", "", &f); f.Runs != 8 {
		t.Errorf("eva is shown %+v", f)
	}
	got := s.ask("ada", "GET", "/failures", "")
	if err := json.Unmarshal([]byte(got.body), &f); err != nil || f.Runs != 4 || strings.Contains(got.body, "money") || strings.Contains(got.body, "errorString") || strings.Contains(got.body, "pay") {
		t.Errorf("ada is shown %s", got.body)
	}
	s.refused("bob", "GET", "/failures", "", "forbidden", "run failures")
	s.refused("eva", "GET", "/failures?cap=10001", "", "invalid-request", `"cap"`)
}
