package list

// compactMin is how many freed places a queue bears before it moves what is left: moving less often
// than every few elements is not worth a test.
const compactMin = 32

// Queue is a queue, first in, first out, whose elements can also be reached by their place. The
// zero Queue is empty. It keeps its memory when it is empty, and while it is not, at most about as
// many freed places as it has elements: a queue that is never quite empty does not grow for ever.
type Queue[T any] struct {
	items []T
	head  int // items before it are freed and zero
}

// Len is the number of elements.
func (q *Queue[T]) Len() int { return len(q.items) - q.head }

// Push appends v. Moving the elements to the front costs each at most one move for every element
// that was popped, so a Push costs the same on average however long the queue is.
func (q *Queue[T]) Push(v T) {
	if q.head > compactMin && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
}

// Pop takes the oldest element out. There must be one.
func (q *Queue[T]) Pop() T {
	var none T
	v := q.items[q.head]
	q.items[q.head] = none // what it points to may be large
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return v
}

// At returns the element at a place, 0 for the oldest. The pointer is good until the next Push or
// Pop.
func (q *Queue[T]) At(i int) *T { return &q.items[q.head+i] }

// All returns the elements, the oldest first. The slice is the queue's own, to be read until the
// next Push or Pop.
func (q *Queue[T]) All() []T { return q.items[q.head:] }
