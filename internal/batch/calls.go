package batch

// calls are the members of a batch and, at the same index, the functions that take their answers.
type calls[In, Out any] struct {
	in   []In
	done []func(Out)
	turn uint64 // at which the batch was taken; 0 for none
}

// clear empties the batch, so that nothing it refers to is kept alive. It keeps the memory, up to
// capMax members.
func (c *calls[In, Out]) clear(capMax int) {
	if cap(c.in) > capMax {
		*c = calls[In, Out]{turn: c.turn}
		return
	}
	clear(c.in)
	clear(c.done)
	c.in, c.done = c.in[:0], c.done[:0]
}

// move takes the first n calls of others.
func (c *calls[In, Out]) move(others *calls[In, Out], n int) {
	c.in, c.done = append(c.in, others.in[:n]...), append(c.done, others.done[:n]...)
	others.in, others.done = others.in[n:], others.done[n:]
}
