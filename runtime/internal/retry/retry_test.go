package retry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// TestSleep: it lasts as long as it should, or as its context, and no time is none at all.
func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		if !retry.Sleep(ctx, 0) || time.Since(began) != 0 {
			t.Errorf("no time took %s", time.Since(began))
		}
		if !retry.Sleep(ctx, time.Second) || time.Since(began) != time.Second {
			t.Errorf("a second took %s", time.Since(began))
		}
		time.AfterFunc(time.Second, cancel)
		if retry.Sleep(ctx, time.Hour) || time.Since(began) != 2*time.Second {
			t.Errorf("it was woken after %s", time.Since(began))
		}
		if retry.Sleep(ctx, 0) {
			t.Error("an ended context lasts")
		}
	})
}
