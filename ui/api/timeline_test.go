package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// counted starts a run with so many steps, and waits until they have ended.
func (s *shop) counted(steps int) string {
	s.t.Helper()
	run, err := runtime.Start(clustertest.Context(s.t), s.client, counts, steps, nil)
	return s.parked(clustertest.MustStart(s.t, run, err).ID())
}

// timelineVerbs: a history is read in pages, without payloads, as lines, and as spans.
func (s *shop) timelineVerbs() {
	id := s.counted(30)
	var page, all []record.Event
	for after, more := 0, true; more && len(all) < 100; more = len(page) == 8 {
		s.must(http.StatusOK, "GET", fmt.Sprintf("/runs/%s/history?after=%d&limit=8", id, after), "", &page)
		if all = append(all, page...); len(page) > 8 {
			s.t.Errorf("a page has %d events", len(page))
		}
		after = int(all[len(all)-1].Seq)
	}
	if len(all) != 31 || all[30].Seq != 31 || all[3].Payload == nil || len(all[3].Issued) == 0 {
		s.t.Errorf("the pages of the history have %+v", all)
	}
	var lean []record.Event
	if s.must(http.StatusOK, "GET", "/runs/"+id+"/history?compact&generation=1", "", &lean); len(lean) != 31 || lean[3].Payload != nil || len(lean[3].Issued) > 0 || lean[3].Name != "count" {
		s.t.Errorf("the compact history is %+v", lean)
	}
	lines := strings.Split(strings.TrimSpace(s.must(http.StatusOK, "GET", "/runs/"+id+"/download", "", nil)), "\n")
	if len(lines) != 31 || !strings.Contains(lines[30], `"seq":31,`) || strings.Contains(s.must(http.StatusOK, "GET", "/runs/"+id+"/download?compact", "", nil), "payload") {
		s.t.Errorf("the lines are %q", lines)
	}
	var t record.Timeline
	var spans []record.Span
	for more := true; more && len(spans) < 100; more = t.Next > 0 {
		path := fmt.Sprintf("/runs/%s/timeline?after=%d&limit=7", id, t.Next)
		t = record.Timeline{}
		s.must(http.StatusOK, "GET", path, "", &t)
		spans = append(spans, t.Spans...)
	}
	if len(spans) != 30 || t.Total != 30 || t.Events != 31 || t.Lanes != 1 || t.Run.ID != id || t.Generation != 1 {
		s.t.Errorf("the timeline is %+v with %d spans", t, len(spans))
	}
	for i, span := range spans {
		if span.Kind != "step" || span.Name != "count" || span.Outcome != "completed" || span.Attempts != 1 || span.EndAt == nil || int(span.Seq) != i+2 || int(span.Cmd) != i+1 {
			s.t.Errorf("span %d is %+v", i, span)
		}
	}
	s.refused("eva", "GET", "/runs/"+id+"/timeline?limit=50001", "", "invalid-request", `"limit"`)
	for _, path := range []string{"history", "timeline", "download"} {
		s.refused("eva", "GET", "/runs/"+id+"/"+path+"?generation=7", "", "not-found", "no generation 7")
		s.refused("eva", "GET", "/runs/"+id+"/"+path+"?generation=0", "", "invalid-request", `"generation"`)
	}
}

// TestTimelineOfRelatives: a span of a child has its id, for actors who may see it.
func TestTimelineOfRelatives(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Allow = func(_ context.Context, actor, _ string, run *journal.Run) bool {
			return actor == "eva" || run == nil || run.Workflow == "family"
		}
	})
	parent := s.start(family, nil)
	d := clustertest.Described(t, s.client, parent, "the child is there", func(d *runtime.Description) bool { return len(d.Children) == 1 && d.Children[0].Run != nil })
	for actor, want := range map[string]string{"eva": d.Children[0].Run.ID.String(), "ada": ""} {
		var line record.Timeline
		got := s.ask(actor, "GET", "/runs/"+parent.String()+"/timeline", "")
		if err := json.Unmarshal([]byte(got.body), &line); err != nil || len(line.Spans) != 1 || line.Spans[0].Kind != "child" || line.Spans[0].Run != want || line.Spans[0].EndAt != nil {
			t.Errorf("%s is shown %s", actor, got.body)
		}
	}
}

// TestHistoryOfAFork: the generation that a fork has of another run is none of its own.
func TestHistoryOfAFork(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	var fork record.Forked
	s.must(http.StatusCreated, "POST", "/runs/"+s.counted(3)+"/fork", `{"point": "event:3"}`, &fork)
	s.parked(parseID(t, fork.Run))
	s.must(http.StatusOK, "GET", "/runs/"+fork.Run+"/history?generation=2", "", nil)
	for _, path := range []string{"history", "timeline", "download"} {
		s.refused("eva", "GET", "/runs/"+fork.Run+"/"+path+"?generation=1", "", "not-found", "no generation 1")
	}
}

// pagedStore answers loads in small pages, and fails one of them.
type pagedStore struct {
	driver.Store
	loads, fails int
}

func (s *pagedStore) Load(ctx context.Context, list []driver.LoadRequest) ([]driver.History, error) {
	if s.loads++; s.loads == s.fails {
		return nil, journal.ErrUnavailable
	}
	for i := range list {
		list[i].Limit = 10
	}
	return s.Store.Load(ctx, list)
}

// TestDownload: a download is read page by page, and one that ends early breaks its connection.
func TestDownload(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, nil)
	id := s.counted(45)
	paged := &pagedStore{Store: runtime.JournalOf(s.client).Store().(driver.Store)}
	s.server = api.New(runtime.NewClient(journal.New(paged, nil), &runtime.ClientOptions{Logger: silent}), &s.o)
	if lines := strings.Count(s.ask("eva", "GET", "/runs/"+id+"/download", "").body, "\n"); lines != 46 || paged.loads != 5 {
		t.Errorf("there are %d lines in %d pages", lines, paged.loads)
	}
	paged.loads, paged.fails = 0, 1
	s.refused("eva", "GET", "/runs/"+id+"/download", "", "unavailable", "unavailable")
	paged.loads, paged.fails = 0, 3
	r := httptest.NewRequest(http.MethodGet, "/runs/"+id+"/download", nil)
	r.Header.Set("Actor", "eva")
	defer func() {
		if broken := recover(); broken != http.ErrAbortHandler {
			t.Errorf("the answer ends with %v", broken)
		}
	}()
	s.serve(r)
	t.Error("the answer ends as if it were whole")
}
