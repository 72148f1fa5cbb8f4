package goroutine

import (
	"iter"
	"sync"
	"testing"
)

// TestID: both ways name the same goroutine, no two have one number, and a coroutine of iter.Pull
// is a goroutine of its own, whoever resumes it.
func TestID(t *testing.T) {
	if !quick {
		t.Error("goid does not know this release of Go: ids are read from stacks, which is slow")
	}
	var mu sync.Mutex
	seen := map[int64]bool{}
	note := func() {
		id := ID()
		if slow := fromStack(); slow != id {
			t.Errorf("the id is %d, the stack says %d", id, slow)
		}
		mu.Lock()
		defer mu.Unlock()
		if id == 0 || seen[id] {
			t.Errorf("id %d is 0, or of two goroutines", id)
		}
		seen[id] = true
	}
	note()
	var all sync.WaitGroup
	for range 50 {
		all.Go(note)
	}
	all.Wait()

	next, stop := iter.Pull(func(yield func(int64) bool) {
		for yield(ID()) {
		}
	})
	defer stop()
	first, _ := next()
	all.Go(func() {
		if again, _ := next(); again != first || first == ID() {
			t.Errorf("a coroutine is goroutine %d, then %d, resumed by %d", first, again, ID())
		}
	})
	all.Wait()
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		ID()
	}
}
