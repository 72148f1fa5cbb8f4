package actor

// fifo is a queue in a ring that keeps its memory.
type fifo[T any] struct {
	ring []T
	head int
	n    int
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

// pop returns the oldest. There must be one.
func (q *fifo[T]) pop() T {
	var none T
	v := q.ring[q.head]
	q.ring[q.head] = none
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return v
}
