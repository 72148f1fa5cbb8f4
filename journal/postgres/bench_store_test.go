package postgres_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/postgres"
)

// BenchmarkStore is what all stores measure.
func BenchmarkStore(b *testing.B) {
	journaltest.Bench(b, func(b *testing.B) driver.Store {
		s, err := postgres.Open(b.Context(), benchDSN(b), nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(s.Close)
		return s
	})
}
