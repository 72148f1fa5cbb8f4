package batch

import (
	"sync"
	"testing"
	"testing/synctest"
)

// A caller who submits inline writes its own batch and no other: what came meanwhile goes on
// without it, in order.
func TestInlineCallerWritesOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var mu sync.Mutex
		var batches [][]int
		b := New(3, func(batch []int) []int {
			mu.Lock()
			batches = append(batches, append([]int(nil), batch...))
			mu.Unlock()
			<-gate
			return append([]int(nil), batch...)
		})
		var answers []int
		done := func(i int) {
			mu.Lock()
			defer mu.Unlock()
			answers = append(answers, i)
		}
		returned := make(chan struct{})
		go func() {
			b.SubmitInline(1, done)
			close(returned)
		}()
		synctest.Wait()
		for i := 2; i <= 6; i++ {
			b.SubmitInline(i, done) // a batch is being written: it returns at once
		}
		gate <- struct{}{}
		<-returned
		gate <- struct{}{}
		gate <- struct{}{}
		b.Wait()
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(batches) != 3 || len(batches[0]) != 1 || len(batches[1]) != 3 || len(batches[2]) != 2 {
			t.Errorf("batches %v", batches)
		}
		for i, got := range answers {
			if got != i+1 {
				t.Errorf("answers %v", answers)
			}
		}
		if len(answers) != 6 || b.busy {
			t.Errorf("%d answers, busy %v", len(answers), b.busy)
		}
	})
}
