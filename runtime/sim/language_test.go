package sim

import (
	"strings"
	"testing"

	"github.com/reprise-run/reprise/internal/langtest"
)

// unsaid are what no program can say.
var unsaid = map[string]string{
	"Intercept":                "the nodes of programs have interceptors, which call it",
	"StepIn":                   "its database is no store, so there is nothing to simulate; to the engine it is Step",
	"StepInAsync":              "it is StepIn, which is Step to the engine",
	"DoIn":                     "it is StepIn, which is Step to the engine",
	"SagaError.Error":          "whoever writes an error calls it",
	"SagaError.Unwrap":         "errors.Is calls it",
	"SagaError.JournalFailure": "the engine calls it",
}

// TestLanguage: programs say all that authors of workflows can: each exported function and method
// of the language is used by the code that executes programs.
func TestLanguage(t *testing.T) {
	language := langtest.Load(t, "../../replay/workflow")
	language.Check("programs", language.Verbs(), simulator(language).Used(executes), unsaid)
}

func simulator(language *langtest.Language) *langtest.Code {
	return language.Code(".", func(file, _ string) bool {
		return strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "_race_test.go")
	})
}

// executes tells whether a file holds code that executes programs, and not such that checks them.
func executes(file string) bool {
	return !strings.HasPrefix(file, "check_") && !strings.HasPrefix(file, "model_") && !strings.HasPrefix(file, "mutation_")
}

// plansLooked is among how many plans each verb must be.
const plansLooked = 500

// TestVerbs: each verb is drawn.
func TestVerbs(t *testing.T) {
	drawn := map[string]bool{}
	var visit func([]instr)
	visit = func(body []instr) {
		for i := range body {
			drawn[string(body[i].Do)] = true
			visit(body[i].Body)
		}
	}
	for seed := range uint64(plansLooked) {
		for _, r := range generate(seed + 1).Runs {
			visit(r.Program)
		}
	}
	verbs := simulator(langtest.Load(t, "../../replay/workflow")).Constants("verb")
	for _, verb := range verbs {
		if !drawn[verb] {
			t.Errorf("%s is never drawn", verb)
		}
	}
	if len(verbs) < len(weights) {
		t.Errorf("%d verbs are found, %d are drawn", len(verbs), len(weights))
	}
}
