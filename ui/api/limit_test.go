package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/record"
)

// bounded are runs whose step holds the limit "bank" of a key until it is cancelled.
const bounded workflow.Name[string, string] = "bounded"

func handleBounded(n *runtime.Node) {
	runtime.Handle(n, bounded, func(ctx workflow.Context, key string) (string, error) {
		return workflow.Step(ctx, "call", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "bank", Key: key}}})
	}, nil)
}

// limited starts a run that holds the limit "bank", and one that waits for it.
func (s *shop) limited(o *runtime.StartOptions) (holder, waiter string, shown record.Limit) {
	holder = s.start(bounded, o).String()
	s.limitUntil("/limits/bank", "it is held", &shown, func() bool { return shown.Held == 1 })
	waiter = s.start(bounded, o).String()
	s.limitUntil("/limits/bank?limit=10", "a run waits", &shown, func() bool { return shown.Waiting == 1 })
	return holder, waiter, shown
}

func (s *shop) limitUntil(path, what string, into *record.Limit, there func() bool) {
	s.t.Helper()
	clustertest.Until(s.t, what, func() bool {
		*into = record.Limit{}
		s.must(http.StatusOK, "GET", path, "", into)
		return there()
	})
}

// limitVerbs: a limit is made, held, waited for, released, changed for one key, and removed.
func (s *shop) limitVerbs() {
	var list []record.Limit
	if s.must(http.StatusOK, "GET", "/limits", "", &list); len(list) != 0 {
		s.t.Errorf("there are limits: %+v", list)
	}
	var changed record.LimitChange
	s.must(http.StatusOK, "PUT", "/limits/bank", `{"concurrency": 1, "ageing": "2m", "reason": "the bank asked"}`, &changed)
	if changed.Done != "set" || changed.Text != "1 at once" {
		s.t.Errorf("it says %+v", changed)
	}
	holder, waiter, shown := s.limited(nil)
	if len(shown.Claims) != 2 || shown.Claims[0].Run != holder || shown.Claims[1].Run != waiter || shown.Claims[1].Place != 1 || shown.Claims[1].GrantedAt != nil ||
		len(shown.Bounds) != 1 || shown.Bounds[0].Actor != "eva" || shown.Bounds[0].Reason != "the bank asked" || shown.Bounds[0].Ageing != "2m" || len(shown.Keys) != 1 {
		s.t.Fatalf("the limit is %+v", shown)
	}
	if s.must(http.StatusOK, "GET", "/limits", "", &list); len(list) != 1 || list[0].Held != 1 || list[0].Waiting != 1 || list[0].Claims != nil {
		s.t.Errorf("the list is %+v", list)
	}
	var why record.Why
	s.must(http.StatusOK, "GET", "/runs/"+waiter+"/why", "", &why)
	for _, r := range why.Reasons {
		if r.Limit == nil {
			continue
		}
		if w := r.Limit; r.Kind != "limit" || w.Waits.Place != 1 || len(w.Holders) != 1 || w.Holders[0].Run != holder || w.Holders[0].Claim != shown.Claims[0].Claim || w.ExpectedAt == nil {
			s.t.Errorf("why says %+v of %+v", r, w)
		}
	}
	claim := `{"claim": "` + shown.Claims[0].Claim + `", "reason": "it hangs"}`
	s.refused("eva", "POST", "/runs/"+waiter+"/release", claim, "not-found", "has no claim")
	s.refused("eva", "POST", "/runs/"+holder+"/release", `{"claim": "seven"}`, "invalid-request", "as in 3:7812")
	s.must(http.StatusOK, "POST", "/runs/"+holder+"/release", claim, nil)
	s.limitUntil("/limits/bank", "the other one has it", &shown, func() bool { return shown.Waiting == 0 && shown.Claims[0].Run == waiter })
	for _, run := range []string{holder, waiter} {
		s.must(http.StatusOK, "POST", "/runs/"+run+"/terminate", "", nil)
	}
	s.limitUntil("/limits/bank", "nobody has it", &shown, func() bool { return shown.Held == 0 })

	key := url.PathEscape("a/b c")
	s.must(http.StatusOK, "PUT", "/limits/"+key, `{"key": "x/y", "rate": "100/m", "burst": 10, "max_backlog": 2, "on_full": "cancel newest"}`, &changed)
	s.must(http.StatusOK, "GET", "/limits/"+key+"?key=x%2Fy", "", &shown)
	if b := shown.Bounds; len(b) != 1 || b[0].Rate != "100/1m" || b[0].Burst != 10 || b[0].MaxBacklog != 2 || b[0].OnFull != "cancel newest" || b[0].Key != "x/y" {
		s.t.Errorf("the bounds are %+v", b)
	}
	for body, says := range map[string]string{
		`{}`: "bounds nothing", `{"concurrency": 1, "on_full": "reject"}`: "set MaxBacklog", `{"concurrency": 1, "max_backlog": 1, "on_full": "no"}`: "on_full", `{"rate": "fast"}`: "as in 100/1m", `{"concurrency": -1}`: "Concurrency is -1", `{"concurrency": 1, "ageing": "long"}`: "ageing", `{"burst": 3}`: "Rate.N",
	} {
		s.refused("eva", "PUT", "/limits/x", body, "invalid-request", says)
	}
	s.refused("eva", "GET", "/limits/x", "", "not-found", "no limit is")
	s.must(http.StatusOK, "DELETE", "/limits/"+key+"?key=x%2Fy&reason=over", "", &changed)
	s.refused("eva", "DELETE", "/limits/"+key, "", "not-found", "no such limit")
	s.must(http.StatusOK, "DELETE", "/limits/bank", "", nil)
	for verb, reason := range map[string]string{"release-claim": "it hangs", "remove-limit": ""} {
		var audit []record.Audit
		if s.must(http.StatusOK, "GET", "/audit?verb="+verb, "", &audit); len(audit) == 0 || audit[0].Actor != "eva" || audit[0].Reason != reason {
			s.t.Errorf("the audit has %+v of %s", audit, verb)
		}
	}
}

// limitedStart: a start names limits, and a bad one is refused.
func (s *shop) limitedStart() {
	var started record.Started
	s.must(http.StatusCreated, "POST", "/runs", `{"workflow": "bounded", "input": "k", "limits": [{"name": "a"}, {"name": "b", "key": "k:1", "cost": 4}]}`, &started)
	id, err := journal.ParseRunID(started.Run)
	if err != nil {
		s.t.Fatal(err)
	}
	want := []journal.LimitNeed{{Name: "a", Cost: 1}, {Name: "b", Key: "k:1", Cost: 4}}
	if d, err := s.client.Describe(clustertest.Context(s.t), id); err != nil || !slices.Equal(d.Run.Limits, want) {
		s.t.Errorf("the run holds %v, %v, want %v", d.Run.Limits, err, want)
	}
	s.must(http.StatusOK, "POST", "/runs/"+started.Run+"/terminate", "", nil)
	s.refused("eva", "POST", "/runs", `{"workflow": "bounded", "limits": [{"name": "a"}, {"name": "a", "key": "k"}]}`, "invalid-request", "named twice")
	s.refused("eva", "POST", "/runs", `{"workflow": "bounded", "limits": [{"key": "k"}]}`, "invalid-request", "limit name")
}

// TestUnseenClaims: who holds a limit is told to those who may see the run.
func TestUnseenClaims(t *testing.T) {
	t.Parallel()
	s := guarded(t, func(string) bool { return true })
	if err := runtime.SetLimit(t.Context(), s.client, journal.Limit{Name: "bank", Concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	holder := s.start(bounded, &runtime.StartOptions{Labels: map[string]string{"shop": "8"}}).String()
	var shown record.Limit
	s.limitUntil("/limits/bank", "it is held", &shown, func() bool { return shown.Held == 1 })
	waiter := s.start(bounded, &runtime.StartOptions{Labels: map[string]string{"shop": "7"}}).String()
	s.limitUntil("/limits/bank", "a run waits", &shown, func() bool { return shown.Waiting == 1 })
	claim := shown.Claims[0].Claim
	ask := func(path string, into any) {
		t.Helper()
		got := s.ask("ada", "GET", path, "")
		if err := json.Unmarshal([]byte(got.body), into); err != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %s (%v)", path, got.body, err)
		}
	}
	shown = record.Limit{}
	ask("/limits/bank", &shown)
	if shown.Held != 1 || shown.Waiting != 1 || len(shown.Claims) != 1 || shown.Claims[0].Run != waiter {
		t.Errorf("ada sees %+v", shown)
	}
	var why record.Why
	ask("/runs/"+waiter+"/why", &why)
	found := false
	for _, r := range why.Reasons {
		if r.Limit != nil {
			found = true
			if len(r.Limit.Holders) != 0 || r.Limit.Held != 1 {
				t.Errorf("ada is told %+v", r.Limit)
			}
		}
	}
	if !found {
		t.Errorf("why does not name the limit: %+v", why)
	}
	for _, run := range []string{holder, waiter} {
		s.refused("ada", "POST", "/runs/"+run+"/release", `{"claim": "`+claim+`"}`, "not-found", "")
	}
}
