package goroutine

import (
	"sync"
	"testing"
)

// TestLocal: a value belongs to one goroutine, and is gone when it is taken back.
func TestLocal(t *testing.T) {
	var l Local
	if before := l.Swap(1); before != nil || l.Get() != 1 {
		t.Errorf("set: before %v, now %v", before, l.Get())
	}
	var other sync.WaitGroup
	other.Go(func() {
		if l.Get() != nil {
			t.Errorf("another goroutine has %v", l.Get())
		}
	})
	other.Wait()
	if before := l.Swap(2); before != 1 {
		t.Errorf("set again: before %v", before)
	}
	if before := l.Swap(nil); before != 2 || l.Get() != nil {
		t.Errorf("taken back: before %v, now %v", before, l.Get())
	}
}
