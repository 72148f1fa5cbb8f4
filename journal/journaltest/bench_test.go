package journaltest

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
)

func BenchmarkMemory(b *testing.B) {
	Bench(b, func(*testing.B) journal.Store { return memory.New(nil) })
}
