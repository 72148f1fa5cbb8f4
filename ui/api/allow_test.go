package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// guarded is an API where eva may do everything, and ada may see runs of shop 7 alone and do to
// them what the test lets her.
func guarded(t *testing.T, may func(verb string) bool) *shop {
	return newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, verb string, run *journal.Run) bool {
			return actor == "eva" || may(verb) && (run == nil || run.Labels["shop"] == "7" || run.Labels[schedule.LabelSet] == "shop7")
		}
	})
}

// TestUnseen: a run that an actor may not see is not listed, not counted, and gets the answers of
// one that does not exist.
func TestUnseen(t *testing.T) {
	t.Parallel()
	s := guarded(t, func(verb string) bool { return !strings.HasPrefix(verb, "bulk") })
	seven := s.parked(s.start(parcel, &runtime.StartOptions{Key: "mine", Labels: map[string]string{"shop": "7"}}))
	hidden := s.parked(s.start(parcel, &runtime.StartOptions{Key: "secret-key", Labels: map[string]string{"shop": "8"}}))
	for _, id := range []string{seven, hidden} {
		s.must(http.StatusOK, "POST", "/runs/"+id+"/pause", "", nil)
	}
	deleted := s.parked(s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "8"}}))
	s.must(http.StatusOK, "POST", "/runs/"+deleted+"/terminate", "", nil)
	s.must(http.StatusOK, "DELETE", "/runs/"+deleted, "", nil)
	absent := journal.NewRunID().String()
	bodies := validBodies()
	for path, methods := range at(described(), "paths").(object) {
		if !strings.Contains(path, "{run}") {
			continue
		}
		for method := range methods.(object) {
			method = strings.ToUpper(method)
			of := func(run string) answer {
				got := s.ask("ada", method, strings.ReplaceAll(path, "{run}", run), bodies[method+" "+path])
				got.body = strings.ReplaceAll(got.body, run, "RUN")
				return got
			}
			one, other := of(hidden), of(absent)
			if one.status != http.StatusNotFound || one.body != other.body {
				t.Errorf("%s %s of a run that is hidden is %d %s, of one that does not exist %d %s", method, path, one.status, one.body, other.status, other.body)
			}
			if one, other := of("key=secret-key"), of("key=absent-key"); one.status != http.StatusNotFound || one.body != other.body {
				t.Errorf("%s %s by key is %s, of none %s", method, path, one.body, other.body)
			}
		}
	}
	for _, path := range []string{"/runs", "/runs?key=secret-key", "/runs?where=label.shop+%3D+8", "/audit", "/audit?run=" + hidden, "/runs/count?by=workflow", "/runs/count"} {
		got := s.ask("ada", "GET", path, "")
		if got.status != http.StatusOK || strings.Contains(got.body, hidden) || strings.Contains(got.body, deleted) || strings.Contains(got.body, `"runs":2`) {
			t.Errorf("%s shows ada %d %s", path, got.status, got.body)
		}
	}
	if got := s.ask("ada", "GET", "/audit", ""); !strings.Contains(got.body, seven) {
		t.Errorf("the audit shows ada %s, want the pause of run %s", got.body, seven)
	}
	s.refused("ada", "GET", "/runs?parent="+hidden, "", "not-found", hidden)
	s.refused("ada", "GET", "/audit?run=key%3Dsecret-key", "", "not-found", "secret-key")
	s.refused("ada", "GET", "/audit?run=key%3Dabsent-key", "", "not-found", "absent-key")
	for _, body := range []string{`{"workflow": "parcel", "key": "secret-key", "labels": {"shop": "7"}}`, `{"workflow": "family", "key": "secret-key", "labels": {"shop": "7"}}`} {
		if p := s.refused("ada", "POST", "/runs", body, "key-conflict", `"secret-key"`); strings.Contains(p.Detail, hidden) {
			t.Errorf("%s tells ada %s", body, p.Detail)
		}
	}
	s.refused("ada", "POST", "/runs", `{"workflow": "parcel", "labels": {"shop": "8"}}`, "forbidden", "run start")
	s.refused("ada", "POST", "/bulk?dry_run", `{"verb": "pause", "all": true}`, "forbidden", "bulk pause")
}

// TestKeyOfUnseenJob: who may start jobs, and may not see the one that has a key, hears that the key
// is not free, and not what has it.
func TestKeyOfUnseenJob(t *testing.T) {
	t.Parallel()
	s := guarded(t, func(verb string) bool { return true })
	s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "8"}})
	var job record.Bulk
	s.must(http.StatusAccepted, "POST", "/bulk", `{"verb": "pause", "where": "shop = 8", "key": "secret-key"}`, &job)
	hidden := s.start(parcel, &runtime.StartOptions{Key: "other-key", Labels: map[string]string{"shop": "8"}}).String()
	for _, body := range []string{`{"verb": "pause", "where": "shop = 8", "key": "secret-key"}`, `{"verb": "resume", "where": "shop = 7", "key": "secret-key"}`, `{"verb": "pause", "all": true, "key": "other-key"}`} {
		if p := s.refused("ada", "POST", "/bulk", body, "key-conflict", "-key\" belongs to another job"); strings.Contains(p.Detail, "shop") || strings.Contains(p.Detail, job.Run) || strings.Contains(p.Detail, hidden) {
			t.Errorf("%s tells ada %s", body, p.Detail)
		}
	}
	s.refused("eva", "POST", "/bulk", `{"verb": "resume", "where": "shop = 8", "key": "secret-key"}`, "key-conflict", job.Run+": pause runs where shop = 8")
}

// TestOutcomesOfUnseenRuns: who may see a job, and some of its runs, is told what came of these, and
// may not act on the failures of a job that is hidden.
func TestOutcomesOfUnseenRuns(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, _ string, run *journal.Run) bool {
			return actor == "eva" || run == nil || run.Labels["shop"] == "7" || run.Workflow == bulk.Workflow && run.Key == "open"
		}
	})
	seven := s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "7"}}).String()
	hidden := s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "8"}}).String()
	for _, key := range []string{"open", "hidden"} {
		var job record.Bulk
		s.must(http.StatusAccepted, "POST", "/bulk", `{"verb": "edit", "step": "none", "payload": 1, "unproven": true, "all": true, "key": "`+key+`"}`, &job)
		clustertest.Until(t, "the job has ended", func() bool {
			s.must(http.StatusOK, "GET", "/bulk/"+job.Run, "", &job)
			return job.Status == "completed"
		})
	}
	for _, query := range []string{"", "?failures"} {
		if got := s.ask("ada", "GET", "/bulk/key=open/outcomes"+query, ""); got.status != http.StatusOK || !strings.Contains(got.body, seven) || strings.Contains(got.body, hidden) {
			t.Errorf("ada is told %d %s", got.status, got.body)
		}
	}
	s.refused("ada", "GET", "/bulk/key=hidden/outcomes", "", "not-found", "hidden")
	s.refused("ada", "POST", "/bulk?dry_run", `{"verb": "pause", "failures_of": "key=hidden"}`, "not-found", "hidden")
	var job record.Bulk
	s.must(http.StatusOK, "POST", "/bulk?dry_run", `{"verb": "reset", "point": "start", "all": true}`, &job) // by eva
	if got := s.ask("ada", "POST", "/bulk?dry_run", `{"verb": "reset", "point": "start", "all": true}`); len(job.Would) != 2 || !strings.Contains(got.body, seven) || strings.Contains(got.body, hidden) {
		t.Errorf("a dry run says to eva %+v, and to ada %s", job, got.body)
	}
	if s.must(http.StatusOK, "POST", "/bulk?dry_run", `{"verb": "pause", "failures_of": "key=open"}`, &job); job.Runs != 2 {
		t.Errorf("the dry run says %+v", job)
	}
}

// validBodies are bodies with which each operation gets as far as its run.
func validBodies() map[string]string {
	return map[string]string{
		"POST /runs": `{"workflow": "parcel"}`, "POST /runs/{run}/query": `{"name": "where", "argument": ""}`, "POST /runs/{run}/signal": `{"name": "scanned", "payload": "x"}`,
		"POST /runs/{run}/update": `{"name": "move", "argument": "Bonn"}`, "POST /runs/{run}/labels": `{"set": {"a": "b"}}`, "POST /runs/{run}/priority": `{"priority": 1}`,
		"POST /runs/{run}/reset": `{"point": "start", "unproven": true}`, "POST /runs/{run}/fork": `{"point": "start", "unproven": true}`,
		"POST /runs/{run}/skip": `{"message": 1, "unproven": true}`, "POST /runs/{run}/edit": `{"step": "step:weigh", "result": 1, "unproven": true}`,
		"POST /bulk": `{"verb": "pause", "all": true}`, "POST /schedules": `{"set": "shop7", "schedules": []}`, "POST /schedules/preview": `{"cron": "@daily"}`,
		"PUT /views/{view}": `{"address": "runs"}`, "PUT /limits/{limit}": `{"concurrency": 1}`, "POST /runs/{run}/release": `{"claim": "1:2"}`, "POST /schedules/{schedule}/backfill": `{"from": "2026-06-01", "to": "2026-06-02"}`,
	}
}

// filled is a path with names that there are.
func filled(path, run string) string {
	return strings.NewReplacer("{run}", run, "{queue}", "default", "{workflow}", "parcel", "{node}", "one", "{schedule}", "shop7%2Fnightly", "{flow}", "gifts", "{view}", "mine", "{limit}", "bank").Replace(path)
}

// TestSeenNotAllowed: what an actor may see and not do is forbidden, and nothing is done.
func TestSeenNotAllowed(t *testing.T) {
	t.Parallel()
	s := guarded(t, func(verb string) bool { return verb == api.See || verb == "run list" })
	seven := s.parked(s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "7"}}))
	s.applied(nightly, "shop7%2Fnightly")
	before := s.state(t)
	bodies := validBodies()
	for path, methods := range at(described(), "paths").(object) {
		for method, op := range methods.(object) {
			method = strings.ToUpper(method)
			verb := at(op, "x-reprise-verbs").([]any)[0].(string)
			if verb == api.See || verb == "run list" || verb == "openapi" || verb == "may" {
				continue
			}
			full := filled(path, seven)
			s.refused("ada", method, full, bodies[method+" "+path], "forbidden", "may not do")
		}
	}
	if after := s.state(t); after != before {
		t.Errorf("the store was %s and is %s", before, after)
	}
}

// TestPagesOfSome: pages of an actor who may see some runs are full and lead to all of these, and
// their cursors say nothing.
func TestPagesOfSome(t *testing.T) {
	t.Parallel()
	s := guarded(t, func(string) bool { return true })
	want := map[string]bool{}
	for i := range 500 {
		shop := "8"
		if i%50 == 7 || i%50 == 8 { // side by side
			shop = "7"
		}
		run, err := runtime.Start(t.Context(), s.client, parcel, "x", &runtime.StartOptions{Labels: map[string]string{"shop": shop}, Queue: "nobody"})
		if err != nil {
			t.Fatal(err)
		}
		if shop == "7" {
			want[run.ID().String()] = true
		}
	}
	cursor, pages := "", 0
	for n := len(want); ; pages++ {
		var page record.RunPage
		got := s.ask("ada", "GET", "/runs?limit=3&cursor="+cursor, "")
		if err := json.Unmarshal([]byte(got.body), &page); err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if full := page.Next != ""; full && len(page.Runs) != 3 {
			t.Errorf("page %d has %d runs", pages, len(page.Runs))
		}
		for _, r := range page.Runs {
			if !want[r.ID] {
				t.Errorf("page %d has run %s, which is hidden or was on a page", pages, r.ID)
			}
			delete(want, r.ID)
		}
		if cursor = page.Next; cursor == "" {
			if len(want) > 0 {
				t.Errorf("%d of %d runs are on no page", len(want), n)
			}
			break
		}
		s.refused("eva", "GET", "/runs?cursor=x"+cursor, "", "invalid-request", "cursor")
	}
	var tally record.Tally
	got := s.ask("ada", "GET", "/runs/count?by=label.shop", "")
	if err := json.Unmarshal([]byte(got.body), &tally); err != nil || tally.Runs != 20 || len(tally.Groups) != 1 {
		t.Errorf("ada counts %s", got.body)
	}
	got = s.ask("ada", "GET", "/runs/count?cap=4", "")
	if err := json.Unmarshal([]byte(got.body), &tally); err != nil || tally.Runs != 4 || !tally.Capped {
		t.Errorf("with a cap ada counts %s", got.body)
	}
}

// TestRelatives: a parent and a child that an actor may not see are left out of the other's record.
func TestRelatives(t *testing.T) {
	t.Parallel()
	var shown string // the workflow that ada may see
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, _ string, run *journal.Run) bool {
			return actor == "eva" || run == nil || run.Workflow == shown
		}
	})
	parent := s.start(family, nil)
	clustertest.Described(t, s.client, parent, "the child is there", func(d *runtime.Description) bool { return len(d.Children) == 1 && d.Children[0].Run != nil })
	var page record.RunPage
	s.must(http.StatusOK, "GET", "/runs?parent="+parent.String(), "", &page)
	child := s.parked(parseID(t, page.Runs[0].ID))
	var d record.Detail
	if s.must(http.StatusOK, "GET", "/runs/"+parent.String(), "", &d); d.Children[0].Run == nil || d.Children[0].Run.Parent != parent.String() {
		t.Errorf("eva sees %+v", d.Children)
	}
	shown = "parcel"
	for _, path := range []string{"/runs", "/runs/" + child, "/runs/" + child + "/why"} {
		if got := s.ask("ada", "GET", path, ""); got.status != http.StatusOK || strings.Contains(got.body, parent.String()) {
			t.Errorf("%s shows ada the parent: %d %s", path, got.status, got.body)
		}
	}
	shown = "family"
	if got := s.ask("ada", "GET", "/runs/"+parent.String(), ""); got.status != http.StatusOK || strings.Contains(got.body, `"id":"`+child) {
		t.Errorf("the parent shows ada the child: %d %s", got.status, got.body)
	}
}

func parseID(t *testing.T, text string) journal.RunID {
	t.Helper()
	id, err := journal.ParseRunID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
