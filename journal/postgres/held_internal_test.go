package postgres

import (
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
)

// One impatient call of one member waits as long as it takes, and when it has ended another one.
// Batches, and those who are patient, have nothing to do with it.
func TestOneSingleWaits(t *testing.T) {
	var s singles
	ctx := driver.Impatient(t.Context())
	for range 2 {
		first, end := s.enter(ctx, 1)
		second, endSecond := s.enter(ctx, 1)
		if hasty(first, 1) || !hasty(second, 1) {
			t.Errorf("the first is bounded: %v, the second: %v", hasty(first, 1), hasty(second, 1))
		}
		endSecond()
		if third, _ := s.enter(ctx, 1); !hasty(third, 1) {
			t.Error("the third waits although the first does")
		}
		if patient, _ := s.enter(t.Context(), 1); hasty(patient, 1) {
			t.Error("a patient call is bounded")
		}
		if batch, _ := s.enter(ctx, 2); !hasty(batch, 2) {
			t.Error("a batch is not bounded")
		}
		end()
	}
}
