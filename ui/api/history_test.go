package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// TestHistoryInParts: a history is read in parts, and large payloads are left out and had one by one.
func TestHistoryInParts(t *testing.T) {
	t.Parallel()
	for _, hidden := range []bool{false, true} {
		s := newShop(t, openSQLite, func(o *api.Options) { o.HideInputs = hidden })
		run, err := runtime.Start(t.Context(), s.client, parcel, strings.Repeat("far ", 100), nil)
		if err != nil {
			t.Fatal(err)
		}
		id := s.parked(run.ID())
		for range 3 {
			s.must(http.StatusOK, "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "`+strings.Repeat("Lima ", 50)+`"}`, nil)
		}
		s.must(http.StatusOK, "POST", "/runs/"+id+"/signal", `{"name": "scanned", "payload": "`+strings.Repeat("Eva ", 50)+`"}`, nil)
		s.ended(id, "completed")
		all := s.history(id, "")
		if len(all) != 7 {
			t.Fatalf("the history is %+v", all)
		}
		var parts []record.Event
		for after := int32(0); len(parts) < len(all); after = parts[len(parts)-1].Seq {
			part := s.history(id, fmt.Sprintf("?after=%d&limit=2", after))
			if len(part) == 0 || len(part) > 2 {
				t.Fatalf("behind event %d are %+v", after, part)
			}
			parts = append(parts, part...)
		}
		same := func(a, b record.Event) bool {
			return a.Seq == b.Seq && a.Kind == b.Kind && (a.Payload == nil) == (b.Payload == nil)
		}
		if !slices.EqualFunc(all, parts, same) {
			t.Errorf("in parts it is %+v, want %+v", parts, all)
		}
		if rest := s.history(id, "?generation=1&after=5"); len(rest) != 2 || rest[0].Seq != 6 {
			t.Errorf("behind event 5 are %+v", rest)
		}
		for i, e := range s.history(id, "?payload_bytes=100") {
			// What is hidden is not told of: neither are inputs nor messages left out.
			large := slices.Contains([]string{"RunCompleted"}, e.Kind) || !hidden && slices.Contains([]string{"UpdateReceived", "SignalReceived"}, e.Kind)
			if e.LeftOut != large || large && e.Payload != nil || !large && !same(e, all[i]) {
				t.Errorf("hidden %t: event %+v leaves out %t", hidden, e, e.LeftOut)
			}
		}
		s.refused("eva", "GET", "/runs/"+id+"/history?payload_bytes=-1", "", "invalid-request", `"payload_bytes"`)
		s.refused("eva", "GET", "/runs/"+id+"/history?limit=0", "", "invalid-request", `"limit"`)
		if hidden {
			continue
		}
		s.refused("eva", "GET", "/runs/"+journal.NewRunID().String()+"/history?after=1", "", "not-found", "")
	}
}

func (s *shop) history(id, query string) (list []record.Event) {
	s.t.Helper()
	s.must(http.StatusOK, "GET", "/runs/"+id+"/history"+query, "", &list)
	return list
}

// TestMay: a run's record says what its reader may do with it, if anybody is asked, and which command
// has started it.
func TestMay(t *testing.T) {
	t.Parallel()
	s := guarded(t, func(verb string) bool { return verb == "run show" || verb == "run list" || verb == "run pause" })
	id := s.parked(s.start(parcel, &runtime.StartOptions{Labels: map[string]string{"shop": "7"}}))
	var d record.Detail
	s.must(http.StatusOK, "GET", "/runs/"+id, "", &d)
	for _, verb := range []string{"run show", "run terminate", "run set-labels", "run fork", "flow draw"} {
		if !slices.Contains(d.May, verb) {
			t.Errorf("eva may do everything, but the record says %q", d.May)
		}
	}
	if got := s.ask("ada", "GET", "/runs/"+id, ""); !strings.Contains(got.body, `"may":["run pause","run show"]`) {
		t.Errorf("ada is told %s", got.body)
	}
	open := newShop(t, openMemory, nil)
	parent := open.start(family, nil)
	var page record.RunPage
	for len(page.Runs) == 0 {
		open.must(http.StatusOK, "GET", "/runs?where=parent+%3D+%22"+parent.String()+"%22", "", &page)
	}
	if c := page.Runs[0]; c.ParentCmd != 1 || c.ParentGen != 1 {
		t.Errorf("the child is %+v", c)
	}
	if text := open.must(http.StatusOK, "GET", "/runs/"+parent.String(), "", nil); strings.Contains(text, `"may"`) {
		t.Errorf("nobody is asked, and the record says %s", text)
	}
}
