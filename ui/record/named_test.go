package record_test

import (
	"testing"

	"github.com/reprise-run/reprise/ui/record"
)

// TestRunsAreNamedOnce: an error that names its run again and again does so once; another run stays.
func TestRunsAreNamedOnce(t *testing.T) {
	const a, b = "run 01a23020-eac4-7097-b5db-b9acc547f07c: ", "run 01a23020-eac4-7097-b5db-b9acc547f07d: "
	for text, want := range map[string]string{
		"reset " + a + a + "it is open":               "reset " + a + "it is open",
		"retry " + a + b + a + "waits for " + b + "x": "retry " + a + b + "waits for x",
		a + "of run 7: x":                             a + "of run 7: x",
	} {
		if got := record.NamedOnce(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
