package driver_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// The stored forms are part of the database's format: databases that exist hold these bytes.
func TestStoredForms(t *testing.T) {
	labels, err := driver.EncodeLabels(map[string]string{"b": "2", "a": "<1>"})
	if want := `{"a":"\u003c1\u003e","b":"2"}`; err != nil || labels != want {
		t.Errorf("EncodeLabels: %s %v, want %s", labels, err, want)
	}
	three, four := journal.Route{Queue: "q", Workflow: "w", Version: 3}, journal.Route{Queue: "q", Workflow: "w", Version: 4}
	routes, err := driver.EncodeRoutes(&journal.Node{Routes: []journal.Route{three, four}, Signals: map[journal.Route][]string{four: {"go", "stop"}},
		Types: map[journal.Route][]journal.Type{four: {{Kind: "signal", Name: "go", In: json.RawMessage(`{"type":"string"}`)}}}})
	if want := `[{"queue":"q","workflow":"w","version":3},{"queue":"q","workflow":"w","version":4,"signals":["go","stop"],` +
		`"types":[{"kind":"signal","name":"go","in":{"type":"string"}}]}]`; err != nil || routes != want {
		t.Errorf("EncodeRoutes: %s %v, want %s", routes, err, want)
	}
	attempts, err := driver.EncodeAttempts([]journal.Attempt{{Cmd: 1, Name: "s", Made: 2, NextAt: time.Unix(3, 0).UTC()}})
	if want := `[{"cmd":1,"name":"s","made":2,"next":"1970-01-01T00:00:03Z"}]`; err != nil || string(attempts) != want {
		t.Errorf("EncodeAttempts: %s %v, want %s", attempts, err, want)
	}
	attempts, err = driver.EncodeAttempts([]journal.Attempt{{Cmd: 1, Name: "s", Made: 2, Panics: 1}})
	if want := `[{"cmd":1,"name":"s","made":2,"panics":1,"next":"0001-01-01T00:00:00Z"}]`; err != nil || string(attempts) != want {
		t.Errorf("EncodeAttempts: %s %v, want %s", attempts, err, want)
	}
}

// What is empty is stored as nothing, and nothing is read back as empty. Drivers store null for it.
func TestStoredNothing(t *testing.T) {
	if s, err := driver.EncodeLabels(map[string]string{}); s != "" || err != nil {
		t.Errorf("EncodeLabels of none: %q %v", s, err)
	}
	if b, err := driver.EncodeAttempts([]journal.Attempt{}); b != nil || err != nil {
		t.Errorf("EncodeAttempts of none: %q %v", b, err)
	}
	if m, err := driver.DecodeLabels(""); m != nil || err != nil {
		t.Errorf("DecodeLabels of nothing: %v %v", m, err)
	}
	if list, err := driver.DecodeAttempts(nil); list != nil || err != nil {
		t.Errorf("DecodeAttempts of nothing: %v %v", list, err)
	}
}

// Each decoder reads what its encoder wrote, and calls everything else malformed.
func TestStoredRoundTrip(t *testing.T) {
	labels := map[string]string{"a": "<1>", "": "ü"}
	routes := []journal.Route{{Queue: "q", Workflow: "w", Version: 3}, {}}
	attempts := []journal.Attempt{{Cmd: 1, Name: "s", Made: 2, Panics: 1, NextAt: time.Unix(3, 0).UTC(),
		Failure: &journal.Failure{Type: "t", Message: "m"}, Heartbeat: &journal.Payload{Data: []byte("x")}}}
	check := func(what string, want, got any, err, malformed error) {
		t.Helper()
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", what, err, diff)
		}
		if !errors.Is(malformed, driver.ErrMalformed) {
			t.Errorf("%s that are malformed: %v", what, malformed)
		}
	}
	s, _ := driver.EncodeLabels(labels)
	m, err := driver.DecodeLabels(s)
	_, malformed := driver.DecodeLabels("{")
	check("labels", labels, m, err, malformed)
	n := journal.Node{Routes: routes}
	if len(routes) > 1 {
		n.Signals = map[journal.Route][]string{routes[1]: {"go", "stop"}}
		n.Types = map[journal.Route][]journal.Type{routes[0]: {{Kind: journal.TypeWorkflow, In: json.RawMessage(`{}`), Out: json.RawMessage(`{"type":"null"}`)}}}
	}
	s, _ = driver.EncodeRoutes(&n)
	var got journal.Node
	err = driver.DecodeRoutes(s, &got)
	check("routes", n, got, err, driver.DecodeRoutes("", &journal.Node{}))
	b, _ := driver.EncodeAttempts(attempts)
	a, err := driver.DecodeAttempts(b)
	_, malformed = driver.DecodeAttempts([]byte("null!"))
	check("attempts", attempts, a, err, malformed)
}
