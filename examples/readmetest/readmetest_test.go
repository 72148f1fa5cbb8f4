package readmetest

import (
	"slices"
	"testing"
)

// TestTutorial: the tutorial's text and its program do not differ. The program is a module of its
// own, so the test is here.
func TestTutorial(t *testing.T) { Document(t, "../../docs/tutorial.md", "../tutorial") }

// TestPages: so do the other pages, with programs that are tests, or the tutorial's.
func TestPages(t *testing.T) {
	for _, page := range []string{"interceptors", "operations", "security", "testing"} {
		Document(t, "../../docs/"+page+".md", "../../runtime/acceptance/pages", "../tutorial")
	}
}

func TestCompareFindsWhatDiffers(t *testing.T) {
	programs := map[string]string{"a.go": "func f() {\n\ta()\n\n\tb()\n}\n", "b.go": "// c() is last\nd()\n"}
	for document, want := range map[string][]string{
		"```go\na()\nb()\n```":             nil, // indents and empty lines do not count
		"```go\nb()\na()\n```":             {"b()\na()\n"},
		"```go\na()\n```\n```go\nc()\n```": {"c()\n"},
		"```go\nf() {\n```":                {"f() {\n"},  // a part of a line
		"```go\n}\nd()\n```":               {"}\nd()\n"}, // of two files
		"```sh\nx\n```\n```go\nd()\n```":   nil,
	} {
		if blocks, strange := compare(document, programs); blocks == 0 || !slices.Equal(strange, want) {
			t.Errorf("%q: %d blocks, of which these are strange: %q, want %q", document, blocks, strange, want)
		}
	}
}
