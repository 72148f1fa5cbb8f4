package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/ui/record"
)

// viewVerbs: addresses are saved under names of any kind.
func (s *shop) viewVerbs() {
	path := "/views/" + url.PathEscape("failed / “blocked” 🙂")
	var changed record.ViewChange
	for _, address := range []string{"runs?where=status+%3D+failed", "failures?since=1d#top"} {
		if s.must(http.StatusOK, "PUT", path, `{"address": "`+address+`", "reason": "for the shift"}`, &changed); changed.Name != "failed / “blocked” 🙂" || changed.Done != "saved" {
			s.t.Errorf("the answer is %+v", changed)
		}
	}
	var list []record.View
	s.must(http.StatusOK, "GET", "/views", "", &list)
	if len(list) != 1 || list[0].Address != "failures?since=1d#top" || list[0].Name != changed.Name || list[0].Actor != "eva" || list[0].At.IsZero() {
		s.t.Errorf("the views are %+v", list)
	}
	for _, address := range []string{"", "//evil.example", "javascript:alert(1)", "/runs", "../x", `\\\\evil.example`} {
		s.refused("eva", "PUT", "/views/x", `{"address": "`+address+`"}`, "invalid-request", "below the pages")
	}
	s.refused("eva", "PUT", "/views/x", `{}`, "invalid-request", `"address" is missing`)
	s.refused("eva", "PUT", "/views/"+strings.Repeat("x", 101), `{"address": "runs"}`, "invalid-request", "name of a view")
	s.must(http.StatusOK, "DELETE", path+"?reason=over", "", nil)
	s.refused("eva", "DELETE", path, "", "not-found", "no such saved view")
	var audit []record.Audit
	s.must(http.StatusOK, "GET", "/audit?verb=delete-view", "", &audit)
	if len(audit) != 1 || audit[0].Actor != "eva" || audit[0].Reason != "over" || audit[0].Detail != changed.Name {
		s.t.Errorf("the audit has %+v", audit)
	}
}

// mayVerb: where nobody is asked, everything may be done.
func (s *shop) mayVerb() {
	var may record.May
	if s.must(http.StatusOK, "GET", "/may?workflow=parcel&queue=q", "", &may); !slices.Contains(may.Verbs, "run start") || slices.Contains(may.Verbs, "run cancel") {
		s.t.Errorf("the verbs are %q", may.Verbs)
	}
}
