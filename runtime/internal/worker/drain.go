package worker

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// The two ends of a worker. Leave is called only when no claim and no owning start is in flight, or
// when they were waited for in vain. Leave hands back what was acquired before; a run acquired
// later would belong to a node that is gone until a sweep frees it.

// Abort throws the actors away after the lease was lost and returns why it was. Nothing is written:
// what the actors had in flight is refused by the fence (J3). If the store can be reached again,
// what they owned is free at once; else when the lease ends.
func (w *Worker) Abort() error {
	w.starts.gate.close()
	w.kill()
	w.sys.Kill(actor.ErrRunLost)
	w.writer.wait()
	w.loops.Wait()
	grace, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	w.starts.gate.wait(grace)
	_ = w.leave() // on failure the other nodes' reapers do the same
	return w.reason
}

// Drain hands everything back and leaves: it acquires nothing more, lets steps end for
// Config.Drain, cancels the others with actor.ErrShutdown, writes what is left to write, and
// leaves. It ends early if the lease is lost meanwhile, and at last when the store does not answer
// for four times drainGrace.
func (w *Worker) Drain() error {
	log := w.cfg.Log
	log.Info("node drains", logkey.Node, w.id, logkey.Live, w.sys.Live())
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		w.stopAcquiring()
		soft, cancel := context.WithTimeout(w.alive, w.cfg.Drain)
		defer cancel()
		w.sys.Drain(soft, drainGrace)
		w.writer.wait()
	}()
	select {
	case <-drained:
	case <-w.lost:
		w.kill()
		<-drained
	case <-time.After(w.cfg.Drain + 4*drainGrace):
		w.kill() // the store does not answer: other nodes free what is left when the lease ends
		<-drained
	}
	err := w.leave()
	w.kill()
	w.loops.Wait()
	if err != nil {
		log.Warn("node left without handing back all runs; other nodes take them when its lease ends",
			logkey.Node, w.id, logkey.Error, err)
		return nil
	}
	log.Info("node left", logkey.Node, w.id)
	return nil
}

// stopAcquiring ends everything that makes this worker the owner of runs. Calls in flight get a
// moment to be answered: runs that they acquired are handed back with the others then, instead of
// waiting unknown for the end of the drain.
func (w *Worker) stopAcquiring() {
	w.endClaims()
	w.starts.gate.close()
	grace, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	defer context.AfterFunc(grace, w.abortClaims)()
	w.claiming.Wait()
	w.starts.gate.wait(grace)
}

// leave gives the lease back. Its context is not alive: nothing of this worker is written any more,
// and the end of the worker is no reason to keep what it owned.
func (w *Worker) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), drainGrace)
	defer cancel()
	return w.cfg.Member.Leave(ctx)
}
