package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
)

// TestRefused: each refusal is a problem of its kind that names what is wrong.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) { o.BodyBytesMax = 200 })
	id := s.parked(s.start(parcel, &runtime.StartOptions{Key: "k"}))
	gone := journal.NewRunID().String()
	for _, c := range []struct{ method, path, body, kind, detail string }{
		{"GET", "/nothing", "", "not-found", `"/nothing"`},
		{"GET", "/runs/", "", "not-found", `"/runs/"`},
		{"GET", "/runs//why", "", "not-found", `"/runs//why"`},
		{"GET", "/runs/../audit", "", "not-found", `"/runs/../audit"`},
		{"PUT", "/runs/" + id, "", "method-not-allowed", "PUT"},
		{"GET", "/bulk", "", "method-not-allowed", "GET"},
		{"GET", "/runs/7", "", "invalid-request", `"7"`},
		{"GET", "/runs/" + gone, "", "not-found", gone},
		{"GET", "/runs/key=x", "", "not-found", `"key=x"`},
		{"POST", "/runs/" + gone + "/pause", "", "not-found", gone},
		{"GET", "/runs?limt=1", "", "invalid-request", `"limt" is unknown: there are limit`},
		{"GET", "/runs?limit=1&limit=2", "", "invalid-request", `"limit" is given 2 times`},
		{"GET", "/runs?limit=1001", "", "invalid-request", `"limit" is no number from 1 to 1000`},
		{"GET", "/runs?limit=x", "", "invalid-request", `"x"`},
		{"GET", "/runs?a=%zz", "", "invalid-request", "%zz"},
		{"GET", "/runs?status=opn", "", "invalid-request", `"opn"`},
		{"GET", "/runs?since=soon", "", "invalid-request", `"soon"`},
		{"GET", "/runs?label=x", "", "invalid-request", `"label" must be name=value`},
		{"GET", "/runs?where=status+is", "", "invalid-request", "filter, at its end"},
		{"GET", "/runs?cursor=x", "", "invalid-request", "cursor"},
		{"GET", "/runs/count?by=created", "", "invalid-request", "created"},
		{"GET", "/runs/count?histories=yes", "", "invalid-request", `"histories" is neither true nor false`},
		{"GET", "/runs/" + id + "/history?generation=0", "", "invalid-request", `"generation"`},
		{"GET", "/runs/" + id + "/history", `{}`, "invalid-request", "has no body"},
		{"GET", "/runs/" + id + "/published?name=x", "", "not-found", `"x"`},
		{"GET", "/bulk/" + id, "", "not-found", "no job of bulk"},
		{"GET", "/audit?before=-1", "", "invalid-request", `"before"`},
		{"POST", "/runs", `{`, "invalid-request", "at byte"},
		{"POST", "/runs", `[]`, "invalid-request", "array"},
		{"POST", "/runs", `null`, "invalid-request", "null"},
		{"POST", "/runs", `{"workflow": "parcel"} {}`, "invalid-request", "something follows"},
		{"POST", "/runs", `{"workflow": "parcel", "imput": 1}`, "invalid-request", `"imput" is unknown`},
		{"POST", "/runs", `{"Workflow": "parcel"}`, "invalid-request", `"workflow" is missing`},
		{"POST", "/runs", `{"workflow": "parcel", "priority": "high"}`, "invalid-request", `"priority" is no number`},
		{"POST", "/runs", `{"workflow": "parcel", "priority": 9}`, "invalid-request", "priority"},
		{"POST", "/runs", `{"workflow": "parcel", "delay": "soon"}`, "invalid-request", `"delay"`},
		{"POST", "/runs", `{"workflow": "parcel", "reuse": "maybe"}`, "invalid-request", `"maybe"`},
		{"POST", "/runs", `{"workflow": "family", "key": "k"}`, "key-conflict", id},
		{"POST", "/runs", `{"workflow": "parcel", "input": "` + strings.Repeat("x", 200) + `"}`, "too-large", "200"},
		{"POST", "/runs/" + id + "/retry", "", "refused-by-state", "open"},
		{"POST", "/runs/" + id + "/reset", `{"point": "event:99", "unproven": true}`, "refused-by-state", "99"},
		{"POST", "/runs/" + id + "/reset", `{"point": "there"}`, "invalid-request", `"there"`},
		{"POST", "/runs/" + id + "/fork", `{"point": "start", "results": {"x": 1}}`, "invalid-request", `"x"`},
		{"POST", "/runs/" + id + "/skip", `{"message": 0}`, "invalid-request", `"message"`},
		{"POST", "/runs/" + id + "/edit", `{"step": "weigh", "result": 1}`, "invalid-request", `"weigh"`},
		{"POST", "/runs/" + id + "/labels", `{}`, "invalid-request", "no label"},
		{"POST", "/runs/" + id + "/query", `{"name": "who"}`, "not-found", "who"},
		{"POST", "/runs/" + id + "/update", `{"name": "nothing"}`, "rejected", "nothing"},
		{"POST", "/bulk", `{"verb": "explode", "all": true}`, "invalid-request", `"explode"`},
		{"POST", "/bulk", `{"verb": "pause"}`, "invalid-request", "filter"},
		{"GET", "/runs/" + id + "/events?after=1", "", "invalid-request", `"1"`},
		{"GET", "/runs/" + id + "/events?after=1.2abc", "", "invalid-request", `"1.2abc"`},
		{"GET", "/runs/" + gone + "/events", "", "not-found", gone},
	} {
		p := s.refused("eva", c.method, c.path, c.body, c.kind, c.detail)
		if p.How == "" {
			t.Errorf("%s %s %s does not say how to go on", c.method, c.path, c.body)
		}
		for _, run := range []string{id, gone} {
			if n := strings.Count(p.Detail, run); n > 1 {
				t.Errorf("%s %s %s names the run %d times: %s", c.method, c.path, c.body, n, p.Detail)
			}
		}
	}
	if got := s.ask("eva", "PUT", "/runs/"+id, ""); got.header.Get("Allow") != "GET, DELETE" {
		t.Errorf("Allow is %q", got.header.Get("Allow"))
	}
	if got := s.ask("eva", "HEAD", "/events", ""); got.status != http.StatusMethodNotAllowed {
		t.Errorf("the head of a stream is %d", got.status)
	}
	s.refused("", "GET", "/runs", "", "unauthenticated", "Actor")
	r := httptest.NewRequest("POST", "/runs", strings.NewReader(`{"workflow": "parcel"}`))
	r.Header.Set("Actor", "eva")
	s.wantProblem("a form", s.serve(r), "wrong-media-type", `""`)
}

// TestWithout: what an API was not given it refuses.
func TestWithout(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) { o.Node, o.Backlog, o.Auth = nil, nil, nil })
	id := s.parked(s.start(parcel, nil))
	s.refused("", "POST", "/runs/"+id+"/query", `{"name": "where"}`, "unsupported", "code")
	s.refused("", "GET", "/queues", "", "unsupported", "waits")
	s.refused("", "POST", "/runs/"+id+"/reset", `{"point": "event:2"}`, "unproven", "proves")
	s.must(http.StatusOK, "POST", "/runs/"+id+"/pause", "", nil)
	list, err := s.client.Audit(t.Context(), journal.AuditFilter{})
	if err != nil || len(list) != 1 || list[0].Actor != api.Anonymous {
		t.Errorf("the audit has %+v, %v, want one entry of %s", list, err, api.Anonymous)
	}
}

// TestAway: a call ends when its time is over, and says so; so does one of a store that is closed.
func TestAway(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	client := runtime.NewClient(journal.New(store, nil), &runtime.ClientOptions{Logger: silent})
	s := &shop{t: t, client: client, server: api.New(client, &api.Options{Timeout: 20 * time.Millisecond})}
	id := s.start(parcel, nil).String() // which nobody serves
	s.refused("", "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "Bonn"}`, "timeout", "deadline")
	store.Close()
	s.refused("", "GET", "/runs", "", "unavailable", "closed")
	s.server = api.New(client, &api.Options{Auth: func(*http.Request) (string, error) { return "", nil }})
	s.refused("", "GET", "/runs", "", "unauthenticated", "nobody")
}

// TestCrossOrigin: what a browser sends for another site does nothing.
func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	id := s.parked(s.start(parcel, nil))
	post := func(header, value string) answer {
		r := httptest.NewRequest("POST", "https://reprise.example/runs/"+id+"/pause", strings.NewReader(`{}`))
		r.Header.Set("Actor", "eva")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(header, value)
		return s.serve(r)
	}
	s.wantProblem("another site", post("Sec-Fetch-Site", "cross-site"), "cross-origin", "")
	s.wantProblem("another origin", post("Origin", "https://evil.example"), "cross-origin", "")
	if list, err := s.client.Audit(t.Context(), journal.AuditFilter{}); err != nil || len(list) != 0 {
		t.Errorf("the audit has %+v, %v, want nothing", list, err)
	}
	if got := post("Sec-Fetch-Site", "same-origin"); got.status != http.StatusOK {
		t.Errorf("its own site gets %d %s", got.status, got.body)
	}
}

// TestPrefix: the handler serves below a prefix that is stripped, keys with strokes included.
func TestPrefix(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	s.start(parcel, &runtime.StartOptions{Key: "a/b//c?"})
	s.server = http.StripPrefix("/ops/reprise", s.server)
	if got := s.ask("eva", "GET", "/ops/reprise/runs/key=a%2Fb%2F%2Fc%3F/why", ""); got.status != http.StatusOK {
		t.Errorf("status %d %s", got.status, got.body)
	}
}

// TestHostile: an answer that a browser takes for a page has no tags in it, and may load nothing.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	const script = "<script>alert(1)</script>"
	run, err := runtime.Start(t.Context(), s.client, parcel, script, &runtime.StartOptions{Key: script, Labels: map[string]string{"x": script}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/runs", "/runs/" + run.ID().String(), "/runs/" + run.ID().String() + "/history", "/runs/key=%3Cscript%3E", "/%3Cscript%3E"} {
		got := s.ask("eva", "GET", path, "")
		if strings.Contains(got.body, "<") || got.header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(got.header.Get("Content-Type"), "json") {
			t.Errorf("%s: %v %s", path, got.header, got.body)
		}
	}
}
