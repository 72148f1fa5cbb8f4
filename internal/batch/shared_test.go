package batch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A shared call goes on as long as one of its callers waits, whoever gives up first.
func TestSharedCallGoesOnForTheLastCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5
		var batch []context.Context
		var giveUp []context.CancelFunc
		for range n {
			ctx, cancel := context.WithCancel(t.Context())
			batch, giveUp = append(batch, ctx), append(giveUp, cancel)
		}
		errEnd := errors.New("everybody gave up")
		ended := make(chan error, 1)
		go func() {
			_, err := CallShared(batch, func(c *context.Context) context.Context { return *c }, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, errEnd
			})
			ended <- err
		}()
		for i, k := range []int{3, 0, 1, 4, 2} {
			synctest.Wait()
			if len(ended) > 0 {
				t.Fatalf("the call ended while %d callers waited", n-i)
			}
			giveUp[k]()
		}
		if err := <-ended; !errors.Is(err, errEnd) {
			t.Errorf("error %v", err)
		}
	})
}

// A caller who gives up as the call ends is not looked at: the batch holds other callers by then.
func TestEndedCallLooksAtNobody(t *testing.T) {
	looked := 0
	c := callers{size: 1, ctxOf: func(int) context.Context { looked++; return t.Context() }, allGone: func() {}}
	c.watch()
	c.close()
	before := looked
	c.watch() // its goroutine was under way
	if looked != before {
		t.Error("a caller was looked at")
	}
}
