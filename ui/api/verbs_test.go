package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/record"
)

// TestVerbs calls every operation on every store and compares each answer with the description.
func TestVerbs(t *testing.T) {
	t.Parallel()
	t.Run("memory", func(t *testing.T) { t.Parallel(); everyVerb(newShop(t, openMemory, nil)) })
	t.Run("sqlite", func(t *testing.T) { t.Parallel(); everyVerb(newShop(t, openSQLite, nil)) })
	t.Run("postgres", func(t *testing.T) { t.Parallel(); everyVerb(newShop(t, openPostgres, nil)) })
}

func everyVerb(s *shop) {
	id := s.startVerbs()
	s.readVerbs(id)
	s.messageVerbs(id)
	s.adminVerbs(id)
	s.backVerbs()
	s.scopeVerbs()
	s.bulkVerbs()
	s.bulkOutcomes()
	s.timelineVerbs()
	s.failureVerbs()
	s.viewVerbs()
	s.mayVerb()
	s.limitVerbs()
	s.limitedStart()
	s.scheduleVerbs()
	s.flowVerbs()
	s.auditVerbs(id)
	s.fleetVerbs()
	for path, methods := range at(described(), "paths").(object) {
		for method, op := range methods.(object) {
			pattern := strings.ToUpper(method) + " " + path
			streams := at(op, "responses", "200", "x-reprise-events") != nil // see the tests of streams
			if !s.called[pattern] && !streams {
				s.t.Errorf("nobody has called %s", pattern)
			}
		}
	}
}

// startVerbs starts a parcel that waits for its signal and returns its id.
func (s *shop) startVerbs() string {
	var first, second record.Started
	const body = `{"workflow": "parcel", "input": "Berlin", "key": "a/b c", "labels": {"shop": "7"}, "headers": {"h": "1"}, "priority": 2, "delay": "0s", "run_timeout": "3d", "reuse": "reject"}`
	s.must(http.StatusCreated, "POST", "/runs", body, &first)
	s.must(http.StatusOK, "POST", "/runs", body, &second)
	if !first.Created || second.Created || first.Run != second.Run {
		s.t.Errorf("the starts say %+v and %+v, want the same run", first, second)
	}
	id, err := journal.ParseRunID(first.Run)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.parked(id)
}

func (s *shop) readVerbs(id string) {
	byKey := "/runs/" + url.PathEscape("key=a/b c")
	var shown, keyed record.Detail
	s.must(http.StatusOK, "GET", "/runs/"+id, "", &shown)
	s.must(http.StatusOK, "GET", byKey, "", &keyed)
	if shown.Run.ID != id || keyed.Run.ID != id || string(shown.Input.Value) != `"Berlin"` || shown.Headers["h"] != "1" || shown.Run.Labels["shop"] != "7" {
		s.t.Errorf("the run is shown as %+v and %+v", shown, keyed)
	}
	var why record.Why
	if s.must(http.StatusOK, "GET", "/runs/"+id+"/why", "", &why); why.Reasons[0].Kind != string(runtime.ReasonSignal) {
		s.t.Errorf("it stands because of %+v", why.Reasons)
	}
	var events []record.Event
	s.must(http.StatusOK, "GET", byKey+"/history?generation=1", "", &events)
	s.must(http.StatusOK, "GET", "/runs/"+id+"/history", "", &events)
	if len(events) != 2 || string(events[1].Payload.Value) != "7" {
		s.t.Errorf("the history is %+v", events)
	}
	var published []record.Published
	if s.must(http.StatusOK, "GET", "/runs/"+id+"/published?name=weight", "", &published); len(published) != 1 || string(published[0].Value.Value) != "7" {
		s.t.Errorf("it has published %+v", published)
	}
	var answered record.Answer
	if s.must(http.StatusOK, "POST", "/runs/"+id+"/query", `{"name": "where", "argument": "to "}`, &answered); string(answered.Answer) != `"to Berlin"` {
		s.t.Errorf("the query answers %s", answered.Answer)
	}
	var replayed record.Replayed
	if s.must(http.StatusOK, "GET", "/runs/"+id+"/replay", "", &replayed); !replayed.Fits {
		s.t.Error("the code does not fit")
	}
	s.start(parcel, nil)
	var page record.RunPage
	if s.must(http.StatusOK, "GET", "/runs?limit=1", "", &page); len(page.Runs) != 1 || page.Next == "" {
		s.t.Errorf("the page is %+v", page)
	}
	if s.must(http.StatusOK, "GET", "/runs?limit=1&cursor="+page.Next, "", &page); len(page.Runs) != 1 || page.Runs[0].ID != id {
		s.t.Errorf("the second page is %+v", page)
	}
	q := url.Values{"where": {`label.shop = "7" and status = open`}, "workflow": {"parcel"}, "version": {"1"}, "status": {"open"}, "state": {"ready"}, "key_prefix": {"a/"},
		"label": {"shop=7"}, "since": {"3d"}, "until": {"2099-01-01T00:00:00Z"}}
	if s.must(http.StatusOK, "GET", "/runs?"+q.Encode(), "", &page); len(page.Runs) != 1 || page.Runs[0].ID != id {
		s.t.Errorf("the filter selects %+v", page)
	}
	var tally record.Tally
	s.must(http.StatusOK, "GET", "/runs/count?by=workflow&by=created:1d&histories&where=status+%3D+open", "", &tally)
	if tally.Runs != 2 || len(tally.Groups) != 1 || tally.Groups[0].Values["workflow"] != "parcel" || tally.Groups[0].Steps == 0 {
		s.t.Errorf("it counts %+v", tally)
	}
}

func (s *shop) messageVerbs(id string) {
	var answered record.Answer
	for range 2 {
		if s.must(http.StatusOK, "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "Bonn", "key": "m"}`, &answered); string(answered.Answer) != `"Berlin"` {
			s.t.Errorf("the update answers %s", answered.Answer)
		}
	}
	s.refused("eva", "POST", "/runs/"+id+"/update", `{"name": "move", "argument": ""}`, "rejected", "no place")
	s.refused("eva", "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "fail"}`, "update-failed", "the road is closed")
	s.must(http.StatusOK, "POST", "/queues/default/pause", `{"workflow": "parcel"}`, nil)
	p := s.refused("bob", "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "Kiel", "refuse_paused": true}`, "refused-by-state", "eva has paused")
	if s.must(http.StatusOK, "POST", "/queues/default/resume", `{"workflow": "parcel"}`, nil); !strings.Contains(p.How, "nothing was sent") {
		s.t.Errorf("the refusal says %q", p.How)
	}
	if s.must(http.StatusOK, "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "Bonn", "refuse_paused": true}`, &answered); string(answered.Answer) != `"Bonn"` {
		s.t.Errorf("the update answers %s", answered.Answer)
	}
	other := s.parked(s.start(parcel, nil))
	s.must(http.StatusOK, "POST", "/runs/"+other+"/signal", `{"name": "scanned", "payload": "Ada", "key": "s"}`, nil)
	s.ended(other, "completed")
	var shown record.Detail
	if s.must(http.StatusOK, "GET", "/runs/"+other, "", &shown); string(shown.Outcome.Value) != `"scanned by Ada"` {
		s.t.Errorf("the outcome is %+v", shown.Outcome)
	}
	s.refused("eva", "POST", "/runs/"+other+"/signal", `{"name": "scanned"}`, "refused-by-state", "closed")
	cancelled := s.parked(s.start(parcel, nil))
	s.must(http.StatusOK, "POST", "/runs/"+cancelled+"/cancel", `{"reason": "not wanted"}`, nil)
	s.ended(cancelled, "cancelled")
}

// ended waits until a run has a status.
func (s *shop) ended(id, status string) {
	s.t.Helper()
	clustertest.Until(s.t, "run "+id+" is "+status, func() bool {
		var d record.Detail
		s.must(http.StatusOK, "GET", "/runs/"+id, "", &d)
		return d.Run.Status == status
	})
}

func (s *shop) adminVerbs(id string) {
	var sent record.Sent
	for _, verb := range []struct{ path, body, done string }{
		{"pause", `{"reason": "wait", "cancel_steps": true, "freeze_timers": true}`, "paused"}, {"resume", `{"reason": "go"}`, "resumed"}, {"resume", ``, "resumed"},
		{"labels", `{"set": {"ticket": "1"}, "remove": ["shop"], "reason": "sorted"}`, "labels set"}, {"priority", `{"priority": 1, "reason": "urgent"}`, "priority set"},
	} {
		if s.must(http.StatusOK, "POST", "/runs/"+id+"/"+verb.path, verb.body, &sent); sent.Done != verb.done || sent.Run != id {
			s.t.Errorf("%s says %+v", verb.path, sent)
		}
		var d record.Detail
		if s.must(http.StatusOK, "GET", "/runs/"+id, "", &d); (d.Run.State == "paused") != (verb.path == "pause") {
			s.t.Errorf("behind %s the run is %s", verb.path, d.Run.State)
		}
		if len(d.Freezes) != 1 || (d.Freezes[0].Until == nil) != (verb.path == "pause") {
			s.t.Errorf("behind %s its timers stood still %+v", verb.path, d.Freezes)
		}
		if verb.path == "priority" && (d.Run.Priority != 1 || d.Run.Labels["ticket"] != "1" || d.Run.Labels["shop"] != "") {
			s.t.Errorf("the run has priority %d and labels %v", d.Run.Priority, d.Run.Labels)
		}
	}
	ended := s.parked(s.start(parcel, nil))
	s.refused("eva", "DELETE", "/runs/"+ended, "", "refused-by-state", "open")
	s.must(http.StatusOK, "POST", "/runs/"+ended+"/terminate", `{"reason": "no use"}`, nil)
	s.must(http.StatusOK, "DELETE", "/runs/"+ended+"?reason=cleaned", "", nil)
	s.refused("eva", "GET", "/runs/"+ended, "", "not-found", ended)
}

func (s *shop) backVerbs() {
	failed := s.start(broken, nil).String()
	s.ended(failed, "failed")
	var back record.Rewound
	if s.must(http.StatusOK, "POST", "/runs/"+failed+"/retry?dry_run", `{}`, &back); back.Done != "nothing" || len(back.Steps) != 1 {
		s.t.Errorf("the dry run says %+v", back)
	}
	s.ended(failed, "failed")
	if s.must(http.StatusOK, "POST", "/runs/"+failed+"/retry?dry_run=false", `{"reason": "again"}`, &back); back.Done != "retried" {
		s.t.Errorf("the retry says %+v", back)
	}
	run := s.parked(s.start(parcel, nil))
	s.must(http.StatusOK, "POST", "/runs/"+run+"/reset", `{"point": "step:weigh", "reason": "heavier", "no_messages": true, "messages": ["scanned"]}`, &back)
	if back.Done != "reset" || back.Generation != 2 {
		s.t.Errorf("the reset says %+v", back)
	}
	parked := func(id string) {
		s.t.Helper()
		run, _ := journal.ParseRunID(id)
		s.parked(run)
	}
	parked(run)
	var forked record.Forked
	s.must(http.StatusOK, "POST", "/runs/"+run+"/fork?dry_run=true", `{"point": "event:2"}`, &forked)
	if s.must(http.StatusCreated, "POST", "/runs/"+run+"/fork", `{"point": "event:2", "key": "fork", "results": {"2": 8}}`, &forked); forked.Run == "" || len(forked.Of.Replaced) != 1 {
		s.t.Errorf("the fork says %+v", forked)
	}
	s.refused("eva", "POST", "/runs/"+run+"/fork", `{"point": "event:2", "key": "fork"}`, "key-conflict", forked.Run)
	s.must(http.StatusOK, "POST", "/runs/"+run+"/edit", `{"step": "step:weigh", "result": 9, "reason": "weighed by hand"}`, &back)
	parked(run)
	s.must(http.StatusOK, "POST", "/runs/"+run+"/pause", "", nil)
	s.must(http.StatusOK, "POST", "/runs/"+run+"/signal", `{"name": "scanned", "payload": 3}`, nil)
	var shown record.Detail
	if s.must(http.StatusOK, "GET", "/runs/"+run, "", &shown); len(shown.Inbox) != 1 || len(shown.Rewinds) != 3 {
		s.t.Fatalf("the run has %d messages and has gone back %d times", len(shown.Inbox), len(shown.Rewinds))
	}
	s.must(http.StatusOK, "POST", "/runs/"+run+"/skip?dry_run", `{"message": 1}`, &back)
	s.must(http.StatusOK, "POST", "/runs/"+run+"/skip", `{"message": 1, "reason": "a number"}`, &back)
}

func (s *shop) scopeVerbs() {
	var scope record.Scope
	s.must(http.StatusOK, "POST", "/queues/default/pause", `{"workflow": "parcel", "reason": "strike"}`, &scope)
	s.must(http.StatusOK, "POST", "/workflows/family/pause", `{"version": 1, "queue": "default", "cancel_steps": true}`, &scope)
	if scope != (record.Scope{Workflow: "family", Version: 1, Queue: "default", Done: "paused"}) {
		s.t.Errorf("the pause says %+v", scope)
	}
	var pauses []record.Pause
	if s.must(http.StatusOK, "GET", "/pauses", "", &pauses); len(pauses) != 2 || pauses[0].Actor != "eva" {
		s.t.Errorf("the pauses are %+v", pauses)
	}
	var served []record.Served
	s.must(http.StatusOK, "GET", "/workflows", "", &served)
	if !slices.ContainsFunc(served, func(r record.Served) bool {
		return r.Workflow == "parcel" && strings.Contains(r.Paused, "strike") && len(r.Nodes) == 1
	}) {
		s.t.Errorf("the workflows are %+v", served)
	}
	s.typeVerbs()
	var queues []record.Queue
	if s.must(http.StatusOK, "GET", "/queues", "", &queues); len(queues) < 3 {
		s.t.Errorf("the queues are %+v", queues)
	}
	s.must(http.StatusOK, "POST", "/queues/default/resume", `{"workflow": "parcel", "reason": "over"}`, &scope)
	s.must(http.StatusOK, "POST", "/workflows/family/resume", `{"version": 1, "queue": "default"}`, &scope)
	if s.must(http.StatusOK, "GET", "/pauses", "", &pauses); len(pauses) != 0 {
		s.t.Errorf("the pauses are %+v", pauses)
	}
}

func (s *shop) bulkVerbs() {
	for range 3 {
		s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"bulk": "1"}})
	}
	const body = `{"verb": "set-labels", "where": "bulk = \"1\"", "labels": {"x": "y"}, "reason": "sorted", "key": "job"}`
	var job record.Bulk
	if s.must(http.StatusOK, "POST", "/bulk?dry_run", body, &job); job.Runs != 3 || job.Run != "" {
		s.t.Errorf("the dry run says %+v", job)
	}
	if s.must(http.StatusAccepted, "POST", "/bulk", body, &job); job.Run == "" {
		s.t.Errorf("the job says %+v", job)
	}
	clustertest.Until(s.t, "the job has ended", func() bool {
		s.must(http.StatusOK, "GET", "/bulk/"+job.Run, "", &job)
		return job.Status == "completed"
	})
	if job.Done != 3 {
		s.t.Errorf("the job says %+v", job)
	}
	first := job.Run
	if s.must(http.StatusOK, "POST", "/bulk", body, &job); job.Run != first || !job.EndedBefore || job.Done != 3 {
		s.t.Errorf("a second start with the key is job %+v, not %s", job, first)
	}
	if s.must(http.StatusOK, "POST", "/bulk?dry_run", body, &job); job.Run != first || !job.EndedBefore {
		s.t.Errorf("a dry run with the key is job %+v, not %s", job, first)
	}
	for _, query := range []string{"", "?dry_run"} {
		s.refused("eva", "POST", "/bulk"+query, `{"verb": "terminate", "where": "bulk = \"1\"", "key": "job"}`, "key-conflict", first+`: set-labels runs where bulk = "1"`)
	}
	s.refused("eva", "POST", "/bulk", `{"verb": "delete", "all": true, "signal": "x"}`, "invalid-request", "signal")
	s.refused("eva", "POST", "/bulk", `{"verb": "resume", "all": true, "freeze_timers": true}`, "invalid-request", "frozen")
	s.refused("eva", "POST", "/runs/"+first+"/fork", `{"point": "start", "input": {"actor": "root"}}`, "forbidden", "reprise.bulk")
	s.refused("eva", "POST", "/runs", `{"workflow": "reprise.bulk", "input": {"actor": "root"}}`, "forbidden", "reprise.bulk")
	s.refused("eva", "POST", "/runs", `{"workflow": "reprise.schedule", "input": {}}`, "forbidden", "reprise.schedule")
	s.refused("eva", "POST", "/runs", `{"workflow": "parcel", "on_failure": "reprise.bulk"}`, "forbidden", "reprise.bulk")
	for _, message := range []string{"signal", "update"} {
		s.refused("eva", "POST", "/runs/"+first+"/"+message, `{"name": "reprise.schedule.order"}`, "forbidden", "reprise.schedule.order")
	}
	s.refused("eva", "POST", "/bulk", `{"verb": "signal", "all": true, "signal": "reprise.schedule.order"}`, "forbidden", "reprise.schedule.order")
}

// bulkOutcomes: what came of each run of a job is read by page, and another job acts on its failures.
func (s *shop) bulkOutcomes() {
	var job record.Bulk
	end := func() {
		s.t.Helper()
		clustertest.Until(s.t, "the job has ended", func() bool {
			s.must(http.StatusOK, "GET", "/bulk/"+job.Run, "", &job)
			return job.Status == "completed"
		})
	}
	s.must(http.StatusAccepted, "POST", "/bulk", `{"verb": "edit", "step": "none", "payload": 1, "unproven": true, "where": "bulk = \"1\"", "key": "none"}`, &job)
	end()
	var ids []string
	query := "failures&limit=2"
	for next := ""; ; {
		var page record.OutcomePage
		s.must(http.StatusOK, "GET", "/bulk/"+job.Run+"/outcomes?"+query+next, "", &page)
		for _, o := range page.Outcomes {
			if ids = append(ids, o.Run); o.What != "failed" || !strings.Contains(o.Error, "none") || o.At.IsZero() {
				s.t.Errorf("an outcome is %+v", o)
			}
		}
		if next = "&cursor=" + page.Next; page.Next == "" {
			break
		}
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 3 {
		s.t.Errorf("those that failed are %v, want three", ids)
	}
	source := job.Run
	s.must(http.StatusAccepted, "POST", "/bulk", `{"verb": "set-labels", "labels": {"failed": "1"}, "failures_of": "key=none"}`, &job)
	if end(); job.Runs != 3 || job.Done != 3 {
		s.t.Errorf("the job of failures says %+v", job)
	}
	for _, id := range ids {
		s.must(http.StatusOK, "POST", "/runs/"+id+"/signal", `{"name": "spoilt", "payload": "x"}`, nil)
	}
	s.must(http.StatusOK, "POST", "/bulk?dry_run", `{"verb": "skip", "message": "spoilt", "failures_of": "key=none", "unproven": true}`, &job)
	if len(job.Would) != 3 || len(job.Would[0].Messages) != 1 || job.Would[0].Messages[0].Fate != "dropped" || job.Would[0].Messages[0].Name != "spoilt" {
		s.t.Errorf("the dry run of a skip says %+v", job)
	}
	job = record.Bulk{}
	s.must(http.StatusAccepted, "POST", "/bulk", `{"verb": "skip", "message": "spoilt", "failures_of": "key=none", "unproven": true}`, &job)
	if end(); job.Done != 3 {
		s.t.Errorf("the job that skips says %+v", job)
	}
	s.must(http.StatusAccepted, "POST", "/bulk", `{"verb": "fork", "point": "start", "input": 2, "queue": "none", "failures_of": "key=none"}`, &job)
	if end(); job.Done != 3 {
		s.t.Errorf("the job that forks says %+v", job)
	}
	s.refused("eva", "POST", "/bulk", `{"verb": "fork", "point": "start", "results": {"weigh": 1}, "all": true}`, "invalid-request", "keeps no step")
	s.refused("eva", "GET", "/bulk/"+source+"/outcomes?cursor=x", "", "invalid-request", "cursor")
	s.refused("eva", "GET", "/bulk/"+ids[0]+"/outcomes", "", "not-found", "no job of bulk")
	s.refused("eva", "POST", "/bulk", `{"verb": "pause", "failures_of": "`+ids[0]+`"}`, "invalid-request", "no bulk job")
	s.refused("eva", "POST", "/bulk", `{"verb": "pause", "all": true, "failures_of": "`+source+`"}`, "invalid-request", "leave one of them out")
}

// auditVerbs: what was done is in the audit under the name of who was asked for.
func (s *shop) auditVerbs(id string) {
	var all []record.Audit
	s.must(http.StatusOK, "GET", "/audit?actor=eva&limit=1000", "", &all)
	var verbs []string
	for _, e := range all {
		verbs = append(verbs, e.Verb)
	}
	for _, verb := range []string{"pause", "resume", "set-labels", "set-priority", "retry", "reset", "skip", "edit", "fork", "terminate", "delete"} {
		if !slices.Contains(verbs, verb) {
			s.t.Errorf("the audit has no %s by eva: %v", verb, verbs)
		}
	}
	var some []record.Audit
	s.must(http.StatusOK, "GET", "/audit?verb=pause&limit=1&run="+id, "", &some)
	if len(some) != 1 || some[0].Reason != "wait" {
		s.t.Fatalf("the audit has %+v", some)
	}
	if s.must(http.StatusOK, "GET", "/audit?verb=pause&run="+id+"&before="+strconv.FormatInt(some[0].Number, 10), "", &some); len(some) != 0 {
		s.t.Errorf("before that the audit has %+v", some)
	}
	for _, e := range all {
		if e.Verb == "delete" && e.Reason != "cleaned" {
			s.t.Errorf("the deletion is %+v", e)
		}
	}
}

func (s *shop) fleetVerbs() {
	var nodes []record.Node
	if s.must(http.StatusOK, "GET", "/nodes", "", &nodes); len(nodes) != 1 || nodes[0].Name != "one" {
		s.t.Errorf("the nodes are %+v", nodes)
	}
	s.must(http.StatusOK, "GET", "/openapi.json", "", nil)
	s.refused("eva", "POST", "/nodes/two/drain", "", "not-found", `"two"`)
	var node record.Node
	if s.must(http.StatusOK, "POST", "/nodes/one/drain", `{"reason": "new version"}`, &node); !node.Draining {
		s.t.Errorf("the node is %+v", node)
	}
}
