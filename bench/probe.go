package main

import (
	"context"
	"sync"
	"time"
)

// probe is an open loop: it asks at a steady pace, whether or not it has got answers. A load that
// waits for its answers asks an engine that stands still only once, and then finds it quick on the
// average; a probe has as many questions in a stretch that stands still as in one that does not.
type probe struct {
	pace time.Duration
	ask  func(ctx context.Context, i int) error // returns with the answer
	next int                                    // question
}

// probed is what came of the questions of a stretch.
type probed struct {
	latencies
	unanswered int // at the end of the stretch; they have the time that they had waited
}

// during asks for a time. What has no answer when it is over is given up.
func (p *probe) during(ctx context.Context, d time.Duration) (probed, error) {
	return p.until(ctx, d, nil)
}

// until is during that ends earlier when a channel is closed.
func (p *probe) until(ctx context.Context, d time.Duration, done <-chan struct{}) (probed, error) {
	asking, end := context.WithCancel(ctx)
	defer end()
	var mu sync.Mutex
	var out probed
	var failed error
	var open sync.WaitGroup
	tick := time.NewTicker(p.pace)
	defer tick.Stop()
	goOn := true
	for over := time.Now().Add(d); goOn && time.Now().Before(over) && ctx.Err() == nil; p.next++ {
		i, at := p.next, time.Now()
		open.Go(func() {
			err := p.ask(asking, i)
			mu.Lock()
			defer mu.Unlock()
			out.latencies = append(out.latencies, time.Since(at))
			switch {
			case err != nil && asking.Err() != nil:
				out.unanswered++
			case err != nil && failed == nil:
				failed = err
			}
		})
		select {
		case <-tick.C:
		case <-done:
			goOn = false
		}
	}
	end()
	open.Wait()
	if failed == nil {
		failed = ctx.Err()
	}
	return out, failed
}
