package actor

import "strings"

// strandFrame is a function below every strand of workflow code.
const strandFrame = "reprise/replay/internal/coro"

// filterStacks keeps the goroutines of a full dump that run strands, within stuckStackBytesMax.
func filterStacks(dump string) string {
	var b strings.Builder
	for g := range strings.SplitSeq(dump, "\n\n") {
		if strings.Contains(g, strandFrame) && b.Len()+len(g) < stuckStackBytesMax {
			b.WriteString(g)
			b.WriteString("\n\n")
		}
	}
	return b.String()
}
