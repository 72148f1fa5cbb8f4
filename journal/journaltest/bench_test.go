package journaltest

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
)

func BenchmarkMemory(b *testing.B) {
	Bench(b, func(*testing.B) journal.Store { return NewMemory(nil) })
}
