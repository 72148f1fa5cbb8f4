package runtime

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/journal"
)

// A gathered call goes on as long as one of its callers waits, whoever leaves first.
func TestGatheredGoesOnForTheLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 5
		var batch []context.Context
		var leave []context.CancelFunc
		for range callers {
			ctx, cancel := context.WithCancel(t.Context())
			batch, leave = append(batch, ctx), append(leave, cancel)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := gathered(batch, func(c *context.Context) context.Context { return *c }, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, journal.ErrUnavailable
			})
			ended <- err
		}()
		for i, k := range []int{3, 0, 1, 4, 2} {
			synctest.Wait()
			if len(ended) > 0 {
				t.Fatalf("the call ended while %d callers waited", callers-i)
			}
			leave[k]()
		}
		if err := <-ended; !errors.Is(err, journal.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
	})
}
