package sim

import "github.com/reprise-run/reprise/replay/workflow"

// lock runs each instruction of Body behind one mutex.
func (p *interpreter) lock(ctx workflow.Context, in *instr) error {
	mu := workflow.Mutex{Name: in.step()}
	inside := false
	err := p.strands(ctx, in, func(ctx workflow.Context, at *instr) error {
		if tried := at.ID%2 == 0 && mu.TryLock(ctx); !tried && !p.bodies.slips(doLock) {
			if err := mu.Lock(ctx); err != nil {
				return err
			}
			defer mu.Unlock()
		} else if tried {
			defer mu.Unlock()
		}
		if inside {
			p.wrong(in, "instruction %d has the mutex, and another one too", at.ID)
		}
		inside = true
		err := p.one(ctx, at)
		inside = false
		return err
	})
	return p.ended(in, "", err)
}

// semaphore runs each instruction of Body behind one semaphore. They ask in the order in which they
// stand there.
func (p *interpreter) semaphore(ctx workflow.Context, in *instr) error {
	size := in.Max
	if p.bodies.slips(doSemaphore) {
		size++
	}
	sem := workflow.NewSemaphore(size, in.step())
	held, newest := 0, 0
	err := p.strands(ctx, in, func(ctx workflow.Context, at *instr) error {
		n := 1 + at.ID%in.Max
		if at.ID%3 != 0 || !sem.TryAcquire(ctx, n) {
			if err := sem.Acquire(ctx, n); err != nil {
				return err
			}
		}
		defer sem.Release(n)
		if held += n; held > in.Max {
			p.wrong(in, "%d of %d are held", held, in.Max)
		}
		if at.ID < newest {
			p.wrong(in, "instruction %d was overtaken by %d", at.ID, newest)
		}
		newest = at.ID
		err := p.one(ctx, at)
		held -= n
		return err
	})
	if !p.bodies.slips(doSemaphore) && sem.Acquire(ctx, in.Max+1) == nil {
		p.wrong(in, "%d of %d were acquired", in.Max+1, in.Max)
	}
	if !sem.TryAcquire(ctx, in.Max) {
		p.wrong(in, "nobody has any of %d, and they cannot be had", in.Max)
	}
	return p.ended(in, "", err)
}
