package main

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDocuments looks for what documents name and the repository does not have.
func TestDocuments(t *testing.T) {
	t.Parallel()
	broken, checked, err := checkLinks(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if checked < 100 {
		t.Errorf("only %d names were found in documents: the check looks past them", checked)
	}
	for _, b := range broken {
		t.Error(b)
	}
}

// TestDocumentsCatchesDeadLinks plants one at a time.
func TestDocumentsCatchesDeadLinks(t *testing.T) {
	t.Parallel()
	clean := map[string]string{
		"Makefile":           "quick: ## x\n\techo\n",
		"actor/run.go":       "package actor\ntype Run struct{ Count int; Other }\nfunc (*Run) Go() {}\ntype Plain struct{ Count int }\nvar env = \"REPRISE_HERE\"\n",
		"actor/run_test.go":  "package actor_test\nfunc TestRunIsDone() {}\n",
		"actor/testdata/a.x": "",
		"docs/a.md":          "[up](../actor/run.go#L3) `actor/*.go` `run.go` `./actor/...` `TestRunIsDone` `Run.Go` `actor.Run` `actor.Plain.Count` `Run.Embedded` `REPRISE_HERE`",
		"README.md":          "[x](docs/a.md) `make quick` [web](https://example.org/x) `other.Thing` `SELECT` `due`\n```\ngo test ./actor -run TestRun\n```\n",
	}
	planted := []struct{ text, want string }{
		{"[x](docs/b.md)", "docs/b.md is not in the repository"},
		{"see `actor/gone.go`", "actor/gone.go is not in the repository"},
		{"see `actor/gone*.go`", "actor/gone*.go is not in the repository"},
		{"| a timer | `gone.go` |", "no file is called gone.go"},
		{"`TestGone`", "there is no test TestGone"},
		{"```\ngo test ./gone\n```", "./gone is not in the repository"},
		{"```\ngo test -run TestGone ./actor\n```", "there is no test TestGone"},
		{"| a timer | `fireTimer` |", "nothing is called fireTimer"},
		{"`actor.Gone`", "nothing is called actor.Gone"},
		{"`Plain.Gone`", "nothing is called Plain.Gone"},
		{"`make gone`", "the Makefile has no target gone"},
		{"`REPRISE_GONE`", "nothing reads REPRISE_GONE"},
	}
	check := func(t *testing.T, text string) []string {
		tree := fstest.MapFS{}
		for name, text := range clean {
			tree[name] = &fstest.MapFile{Data: []byte(text)}
		}
		tree["CONTRIBUTING.md"] = &fstest.MapFile{Data: []byte(text + "\n")}
		broken, _, err := checkLinks(tree)
		if err != nil {
			t.Fatal(err)
		}
		return broken
	}
	if broken := check(t, "nothing"); len(broken) > 0 {
		t.Fatalf("the clean documents have %q", broken)
	}
	for _, p := range planted {
		if broken := check(t, p.text); len(broken) != 1 || !strings.HasSuffix(broken[0], "dead link: "+p.want) {
			t.Errorf("planted %q: found %q, want %q", p.text, broken, p.want)
		}
	}
}
