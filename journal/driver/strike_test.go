package driver

import (
	"testing"
	"time"
)

func TestStrikesDoubleTheDelayUpToAMinute(t *testing.T) {
	t.Parallel()
	for strikes, want := range []time.Duration{3: 0, 4: 2, 5: 4, 6: 8, 7: 16, 8: 32, 9: 60, QuarantineStrikes: 60} {
		if got := StrikeDelay(strikes); got != want*time.Second {
			t.Errorf("after %d strikes %s, want %s", strikes, got, want*time.Second)
		}
	}
}
