package actor

import (
	goruntime "runtime"
	"strings"
)

// strandFrame is a function below every strand of workflow code.
const strandFrame = "reprise/replay/internal/coro"

// restingStrand begins the state of a goroutine whose strand is parked, or which has resumed one. Of the goroutines
// with a strand, only the others execute workflow code.
const restingStrand = "[coroutine"

// strandStacks returns the stacks of goroutines that execute workflow code.
func strandStacks() string {
	buf := make([]byte, stackDumpBytesMax/16)
	for {
		n := goruntime.Stack(buf, true)
		if n < len(buf) || len(buf) >= stackDumpBytesMax {
			return filterStacks(string(buf[:n]))
		}
		buf = make([]byte, 2*len(buf))
	}
}

// filterStacks keeps the goroutines of a full dump that execute strands, within stuckStackBytesMax.
func filterStacks(dump string) string {
	var b strings.Builder
	for g := range strings.SplitSeq(dump, "\n\n") {
		state, _, _ := strings.Cut(g, "\n")
		if strings.Contains(g, strandFrame) && !strings.Contains(state, restingStrand) && b.Len()+len(g) < stuckStackBytesMax {
			b.WriteString(g)
			b.WriteString("\n\n")
		}
	}
	return b.String()
}
