package runtime

import (
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// limitedText names the limits that a run waits for before it begins.
func limitedText(run *journal.Run) string {
	var names []string
	for _, n := range run.Limits {
		names = append(names, n.String())
	}
	return "it begins when it has what it holds until it closes: " + strings.Join(names, "; ")
}
