package batch

// Of the calls that can wait, laterMax at most join a batch. So many take a millisecond or two, and
// that is what others wait for who come meanwhile. laterShare is one of how many places of a batch
// is theirs if the others fill it.
const (
	laterMax   = 100
	laterShare = 8
)

// SetPatient tells the Batcher which calls can wait, because nobody waits for them. Such calls have
// a queue of their own. Each batch takes some of them beside those that others wait for, few enough
// that it stays quick, and at least one if there is one: a flood of them delays nobody else by more
// than a small batch, and is never kept out. On a Batcher with few calls it makes no difference. It
// must be called before anything is submitted.
func (b *Batcher[In, Out]) SetPatient(patient func(In) bool) { b.patient = patient }

// add puts a call into its queue. The caller holds the lock.
func (b *Batcher[In, Out]) add(in In, done func(Out), size int, patient bool) {
	c := &b.waiting
	if patient {
		c = &b.later
	} else {
		b.bytes += size
	}
	c.in, c.done = append(c.in, in), append(c.done, done)
}

// waits tells whether calls are in no batch yet. The caller holds the lock.
func (b *Batcher[In, Out]) waits() bool { return len(b.waiting.in)+len(b.later.in) > 0 }

// fill moves calls that wait into a batch, which is empty. The caller holds the lock.
func (b *Batcher[In, Out]) fill(batch *calls[In, Out]) {
	later := len(b.later.in)
	if later == 0 && len(b.waiting.in) <= b.max && b.bytes <= bytesMax {
		*batch, b.waiting, b.bytes = b.waiting, *batch, 0
		return
	}
	n, bytes := b.fits(&b.waiting, b.max-min(later, max(b.max/laterShare, 1)), 0)
	batch.move(&b.waiting, n)
	b.bytes -= bytes
	n, _ = b.fits(&b.later, min(laterMax, b.max-n), bytes)
	batch.move(&b.later, n)
}

// fits returns how many of the calls that wait join a batch that has so many bytes, at most max,
// and the size of them. One joins in any case. The caller holds the lock.
func (b *Batcher[In, Out]) fits(c *calls[In, Out], most, before int) (n, bytes int) {
	most = min(len(c.in), most)
	if b.size == nil {
		return most, 0
	}
	for n < most {
		size := b.size(c.in[n])
		if n > 0 && before+bytes+size > bytesMax {
			break
		}
		n, bytes = n+1, bytes+size
	}
	return n, bytes
}
