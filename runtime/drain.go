package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/actor"
)

// An incarnation leaves when nothing of it is under way that may make it the owner of a run: a claim, or a start of its node's
// client. What it came to own before that, Leave hands back. What comes later would belong to nobody until a sweep finds it.

// die throws the actors away after the lease was lost. If the store can be reached again, what they owned is free at once.
func (inc *incarnation) die() error {
	inc.n.current.CompareAndSwap(inc, nil)
	inc.births.close()
	inc.cancel()
	inc.sys.Kill(actor.ErrRunLost)
	inc.writer.wait()
	inc.loops.Wait()
	grace, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	inc.births.wait(grace)
	_ = inc.leave() // else the reapers of the others see to it
	return inc.reason
}

// leave gives the lease back. Nothing of this incarnation is written any more, so that it has ended is no reason not to.
func (inc *incarnation) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	return inc.member.Leave(ctx)
}

// drain hands everything back and leaves.
func (inc *incarnation) drain() error {
	log := inc.n.tel.log
	log.Info("node drains", keyNode, inc.id, keyLive, inc.sys.Live())
	inc.n.current.CompareAndSwap(inc, nil)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		inc.settle()
		soft, cancel := context.WithTimeout(inc.ctx, inc.n.o.Drain)
		defer cancel()
		inc.sys.Drain(soft, drainGrace)
		inc.writer.wait()
	}()
	select {
	case <-drained:
	case <-inc.lost:
		inc.cancel()
		<-drained
	case <-time.After(inc.n.o.Drain + 4*drainGrace): // the store does not answer: its reaper will see to the rest
		inc.cancel()
		<-drained
	}
	err := inc.leave()
	inc.cancel()
	inc.loops.Wait()
	if err != nil {
		log.Warn("node left without handing everything back; the others will notice", keyNode, inc.id, keyError, err)
		return nil
	}
	log.Info("node left", keyNode, inc.id)
	return nil
}

// settle ends everything that makes this incarnation the owner of runs. What is under way gets a moment to be answered,
// so that runs which were taken are handed back with the others, rather than wait unknown for the end of the drain.
func (inc *incarnation) settle() {
	inc.stop()
	inc.births.close()
	grace, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	defer context.AfterFunc(grace, inc.hangUp)()
	inc.claiming.Wait()
	inc.births.wait(grace)
}

// births are the calls under way that start runs in the incarnation's ownership.
type births struct {
	mu     sync.Mutex
	closed bool
	n      int
	none   chan struct{} // closed when n is 0 once closed is true
}

// enter tells whether runs may be born. If so, leave must follow.
func (b *births) enter() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return false
	}
	b.n++
	return true
}

func (b *births) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.n--; b.n == 0 && b.closed {
		close(b.none)
	}
}

// close lets nothing enter any more.
func (b *births) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed, b.none = true, make(chan struct{})
	if b.n == 0 {
		close(b.none)
	}
}

// wait returns when all have left, or when ctx ends: such a call lasts as long as its callers like. close comes first.
func (b *births) wait(ctx context.Context) {
	select {
	case <-b.none:
	case <-ctx.Done():
	}
}
