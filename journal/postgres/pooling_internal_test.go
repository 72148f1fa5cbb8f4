package postgres

import (
	"context"
	"errors"
	"testing"
	"time"
)

// Who waits for another one's look at the pooler waits no longer than its own context lasts, and a
// fresh finding is believed without a look.
func TestPoolingIsLookedAtByOne(t *testing.T) {
	p := newPooling()
	p.looks <- struct{}{} // somebody looks, and gets no answer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.check(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a check behind one that hangs: %v, want %v", err, context.Canceled)
	}
	p.proven = time.Now()
	<-p.looks
	for range 2 {
		if err := p.check(t.Context(), nil); err != nil {
			t.Errorf("a check behind one that has found sessions that last: %v", err)
		}
	}
}
