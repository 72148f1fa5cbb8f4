package runtime

import (
	"sync"
	"testing"
	"testing/synctest"
)

// A caller who leads writes its own call and nobody else's: what came meanwhile goes on without it, in order.
func TestLaneLeadsForItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		var mu sync.Mutex
		var batches [][]int
		l := newLane(3, func(batch []int) []int {
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
		led := make(chan struct{})
		go func() {
			l.lead(1, done)
			close(led)
		}()
		synctest.Wait()
		for i := 2; i <= 6; i++ {
			l.lead(i, done) // the lane is busy: it does not wait
		}
		gate <- struct{}{}
		<-led
		gate <- struct{}{}
		gate <- struct{}{}
		l.wait()
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
		if len(answers) != 6 || l.busy {
			t.Errorf("%d answers, busy %v", len(answers), l.busy)
		}
	})
}
