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

// A caller who leaves as the call ends is not looked at: the batch is used again by then.
func TestGatheredLooksAtNobodyAfterTheEnd(t *testing.T) {
	looked := 0
	c := company{size: 1, ctxOf: func(int) context.Context { looked++; return t.Context() }, empty: func() {}}
	c.watch()
	c.close()
	before := looked
	c.watch() // its goroutine was on its way
	if looked != before {
		t.Error("a caller was looked at")
	}
}
