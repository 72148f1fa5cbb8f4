package workflow_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/internal/langtest"
)

// unshown are exported functions and methods that need no example.
var unshown = map[string]string{
	"SagaError.Error":          "whoever prints an error calls it",
	"SagaError.Unwrap":         "errors.Is calls it",
	"SagaError.JournalFailure": "the engine calls it",
}

// TestExamples: everything that can be called is called by a runnable example. Examples are found
// by what they call, not by their name: Lock and Unlock are best shown together.
func TestExamples(t *testing.T) {
	language := langtest.Load(t, ".")
	tests := language.Code(".", func(_, pkg string) bool { return strings.HasSuffix(pkg, "_test") })
	used := tests.Reached(func(n ast.Node) bool {
		fn, ok := n.(*ast.FuncDecl)
		return ok && strings.HasPrefix(fn.Name.Name, "Example")
	})
	language.Check("a runnable example", language.Verbs(), used, unshown)
}

// TestExamplesRun: go test runs only examples that have an output.
func TestExamplesRun(t *testing.T) {
	names, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, ex := range doc.Examples(file) {
			if ex.Output == "" {
				t.Errorf("example %s has no output, so it is not run", ex.Name)
			}
		}
	}
}
