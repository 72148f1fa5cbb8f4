package list

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQueue compares the queue with a slice over random calls.
func TestQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var q Queue[int]
	var want []int
	for i := range 20_000 {
		if len(want) == 0 || random.IntN(100) < 51 {
			q.Push(i)
			want = append(want, i)
		} else {
			if got := q.Pop(); got != want[0] {
				t.Fatalf("step %d: got %d, want %d", i, got, want[0])
			}
			want = want[1:]
		}
		if q.Len() != len(want) || !slices.Equal(q.All(), want) {
			t.Fatalf("step %d: %v, want %v", i, q.All(), want)
		}
		if len(want) > 0 {
			if k := random.IntN(len(want)); *q.At(k) != want[k] {
				t.Fatalf("step %d: place %d has %d, want %d", i, k, *q.At(k), want[k])
			}
		}
	}
}

// TestQueueMemory: what was popped holds no memory, and a queue that is never empty does not grow.
func TestQueueMemory(t *testing.T) {
	var q Queue[*int]
	for range 10 {
		q.Push(new(int))
	}
	for range 100_000 {
		q.Push(new(int))
		q.Pop()
	}
	if cap(q.items) > 256 {
		t.Errorf("%d elements have room for %d", q.Len(), cap(q.items))
	}
	for i, v := range q.items[:q.head] {
		if v != nil {
			t.Fatalf("place %d before the head still holds its element", i)
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { q.Push(nil); q.Pop() }); allocs != 0 {
		t.Errorf("a queue in use makes %v allocations for an element", allocs)
	}
}
