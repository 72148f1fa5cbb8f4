package pool

// fifo is a queue in a ring that keeps its memory: in steady state push and pop allocate nothing.
type fifo[T any] struct {
	ring []T
	head int // index of the oldest element
	n    int // elements in the queue
}

func (q *fifo[T]) len() int { return q.n }

func (q *fifo[T]) push(v T) {
	if q.n == len(q.ring) {
		bigger := make([]T, max(2*q.n, 64))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = v
	q.n++
}

// pop removes and returns the oldest element. The queue must not be empty. The ring forgets the
// element, so that what it refers to can be collected.
func (q *fifo[T]) pop() T {
	var none T
	v := q.ring[q.head]
	q.ring[q.head] = none
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return v
}
