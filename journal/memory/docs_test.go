package memory_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestDocumentedFilters executes every filter of docs/finding-runs.md.
func TestDocumentedFilters(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/finding-runs.md")
	if err != nil {
		t.Fatal(err)
	}
	j, executed := driver.New(memory.New(nil), nil), 0
	for _, block := range regexp.MustCompile("(?s)```filter\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			executed++
			if _, err := j.List(t.Context(), journal.ListFilter{Where: strings.TrimSpace(line)}); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if executed < 25 {
		t.Errorf("only %d filters were found", executed)
	}
}
