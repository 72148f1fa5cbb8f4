package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/api"
	"github.com/reprise-run/reprise/ui/record"
)

// TestHideInputs: no answer has what was sent to a run, and all have what came of it.
func TestHideInputs(t *testing.T) {
	t.Parallel()
	s := newShop(t, openMemory, func(o *api.Options) { o.HideInputs = true })
	run, err := runtime.Start(t.Context(), s.client, parcel, "SECRET-input", &runtime.StartOptions{Headers: map[string]string{"token": "SECRET-header"}})
	if err != nil {
		t.Fatal(err)
	}
	id := s.parked(run.ID())
	s.must(http.StatusOK, "POST", "/runs/"+id+"/pause", "", nil)
	s.must(http.StatusOK, "POST", "/runs/"+id+"/signal", `{"name": "scanned", "payload": "SECRET-signal"}`, nil)
	var d record.Detail
	if text := s.must(http.StatusOK, "GET", "/runs/"+id, "", &d); strings.Contains(text, "SECRET") || len(d.Inbox) != 1 {
		t.Errorf("the run is shown as %s", text)
	}
	s.must(http.StatusOK, "POST", "/runs/"+id+"/resume", "", nil)
	s.ended(id, "completed")
	var events []record.Event
	s.must(http.StatusOK, "GET", "/runs/"+id+"/history", "", &events)
	for _, e := range events {
		if hidden := e.Kind == "RunStarted" || e.Kind == "SignalReceived"; (e.Payload == nil) != hidden {
			t.Errorf("event %s shows %+v", e.Kind, e.Payload)
		}
	}
}

// TestRedact: the rule sees every value and failure before the answer has it, and knows of what it
// is and who asks.
func TestRedact(t *testing.T) {
	t.Parallel()
	saw := map[string]bool{}
	s := newShop(t, openMemory, func(o *api.Options) {
		o.Redact = func(_ context.Context, actor string, from record.Source, p *record.Payload) *record.Payload {
			saw[from.Kind+" "+from.Name+" for "+actor] = true
			if p.Failure != nil {
				return &record.Payload{Failure: &record.Failure{Message: "hidden"}}
			}
			return &record.Payload{Value: json.RawMessage(`"hidden"`)}
		}
	})
	id := s.parked(s.start(parcel, nil))
	failed := s.start(broken, nil).String()
	s.ended(failed, "failed")
	asked := []string{s.must(http.StatusOK, "POST", "/runs/"+id+"/update", `{"name": "move", "argument": "Bonn"}`, nil)}
	asked = append(asked, s.must(http.StatusOK, "POST", "/runs/"+id+"/query", `{"name": "where", "argument": ""}`, nil),
		s.must(http.StatusOK, "POST", "/runs/"+id+"/edit?dry_run", `{"step": "step:weigh", "result": 8}`, nil))
	for _, path := range []string{"", "/history", "/published", "/why"} {
		for _, run := range []string{id, failed} {
			asked = append(asked, s.must(http.StatusOK, "GET", "/runs/"+run+path, "", nil))
		}
	}
	asked = append(asked, s.must(http.StatusOK, "GET", "/runs", "", nil))
	for _, text := range asked {
		for _, secret := range []string{"Berlin", "Bonn", "no money", `"value":7`, `"value":8`} {
			if strings.Contains(text, secret) {
				t.Errorf("%q is shown: %s", secret, text)
			}
		}
	}
	for _, want := range []string{"input ", "step weigh", "step pay", "outcome ", "update move", "answer move", "answer where", "published weight"} {
		if !saw[want+" for eva"] {
			t.Errorf("the rule has not seen %q: %v", want, saw)
		}
	}
}
