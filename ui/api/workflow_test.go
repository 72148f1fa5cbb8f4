package api_test

import (
	"encoding/json"
	"net/http"

	"github.com/reprise-run/reprise/ui/record"
)

// typeVerbs: a workflow has the types of its input, its output and the messages that its
// registration names; a type that has no JSON has none.
func (s *shop) typeVerbs() {
	var w record.Workflow
	s.must(http.StatusOK, "GET", "/workflows/parcel", "", &w)
	if len(w.Versions) != 1 || w.Versions[0].Version != 1 || len(w.Versions[0].Served) != 1 || w.Versions[0].Served[0].Nodes[0] != "one" || len(w.Versions[0].Messages) != 3 {
		s.t.Fatalf("the workflow is %+v", w)
	}
	const text = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"string"}`
	v := w.Versions[0]
	s.sameJSON("the input", v.Input, text)
	s.sameJSON("the output", v.Output, text)
	for i, want := range []record.MessageType{
		{Kind: "signal", Name: "scanned", Input: json.RawMessage(text)},
		{Kind: "query", Name: "where", Input: json.RawMessage(text), Output: json.RawMessage(text)},
		{Kind: "update", Name: "route", Input: json.RawMessage(`{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"address","type":"object",
			"properties":{"street":{"type":"string"},"zip":{"type":["integer","null"]}},"required":["street"],"x-order":["street","zip"]}`)},
	} {
		got := v.Messages[i]
		if got.Kind != want.Kind || got.Name != want.Name || len(got.Output) > 0 != (len(want.Output) > 0) {
			s.t.Errorf("message %d is %+v", i, got)
		}
		s.sameJSON(want.Kind, got.Input, string(want.Input))
	}
	s.must(http.StatusOK, "GET", "/workflows/counts", "", &w)
	s.sameJSON("the input", w.Versions[0].Input, `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"integer"}`)
	s.refused("eva", "GET", "/workflows/none", "", "not-found", `"none"`)
}

// sameJSON compares values, and not how they are written.
func (s *shop) sameJSON(what string, got json.RawMessage, want string) {
	s.t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		s.t.Errorf("%s: %v in %s", what, err, got)
	}
	_ = json.Unmarshal([]byte(want), &b)
	if !equalJSON(a, b) {
		s.t.Errorf("%s is %s, want %s", what, got, want)
	}
}
