package runtimetest_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/internal/langtest"
)

// uncrashed are exported functions and methods of package workflow that no workflow's code calls.
var uncrashed = map[string]string{
	"Define":                   "runtime.Handle calls it, before there is a run",
	"Intercept":                "runtime.Handle calls it with the node's interceptors",
	"OnFailure":                "runtime.Handle calls it with HandleOptions.OnFailure",
	"SagaError.Unwrap":         "errors.Is calls it",
	"SagaError.JournalFailure": "the engine calls it when a run fails",
}

// TestEveryVerbIsCrashed: every exported function and method of package workflow, and every option,
// is used in a test that crashes at every turn, here or in the acceptance tests.
func TestEveryVerbIsCrashed(t *testing.T) {
	language := langtest.Load(t, "../../replay/workflow")
	used := map[string]bool{}
	for _, dir := range []string{".", "../acceptance"} {
		tests := language.Code(dir, func(_, pkg string) bool { return strings.HasSuffix(pkg, "_test") })
		maps.Copy(used, tests.Reached(langtest.CallOf("EveryCrash")))
	}
	names := append(language.Verbs(), language.Options()...)
	language.Check("a test that crashes at every turn", names, used, uncrashed)
	if len(names) < 120 {
		t.Errorf("only %d verbs and options were found", len(names))
	}
}
