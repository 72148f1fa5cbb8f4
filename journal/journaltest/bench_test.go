package journaltest

import (
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

func BenchmarkMemory(b *testing.B) {
	Bench(b, func(*testing.B) driver.Store { return memory.New(nil) })
}
