package ui_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// onNoPage are the operations of the API that no page calls, and why. That each verb of the command
// has an operation is asked by the tests of the command.
var onNoPage = map[string]string{
	"GET /openapi.json":        "it is for programs",
	"GET /runs/{run}/timeline": "the page of a run draws the history, which it has for its other parts too",
}

// TestEveryOperationHasItsPage: whatever the API can do is called by a page. A page names an
// operation by its method and path, as a text in one piece.
func TestEveryOperationHasItsPage(t *testing.T) {
	t.Parallel()
	pages := map[string]string{} // sources of pages, by their names
	err := filepath.WalkDir("web/src", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(name) == "api.ts" {
			return err
		}
		text, err := os.ReadFile(name)
		pages[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var described struct {
		Paths map[string]map[string]struct {
			Verbs []string `json:"x-reprise-verbs"`
		}
	}
	if err := json.Unmarshal(text, &described); err != nil {
		t.Fatal(err)
	}
	left := maps.Clone(onNoPage)
	for path, methods := range described.Paths {
		for method, op := range methods {
			name := strings.ToUpper(method) + " " + path
			called := slices.ContainsFunc(slices.Collect(maps.Values(pages)), func(text string) bool { return strings.Contains(text, `"`+name+`"`) })
			switch why := left[name]; {
			case called && why != "":
				t.Errorf("a page calls %s, which onNoPage says no page does", name)
			case !called && why == "":
				t.Errorf("no page calls %s, which is the command's %s", name, strings.Join(op.Verbs, ", "))
			}
			delete(left, name)
		}
	}
	for name := range left {
		t.Errorf("the API has no %s, which onNoPage has", name)
	}
}
