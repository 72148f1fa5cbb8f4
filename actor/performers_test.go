package actor

import (
	goruntime "runtime"
	"testing"
	"testing/synctest"
)

// Goroutines are used again, also after one was ended by its body; those that nobody needs are let go by the second trim.
func TestPerformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var p *performers
		p = newPerformers(func(a *attempt) {
			if <-release; a.number < 0 {
				goruntime.Goexit()
			}
		})
		idle := func() int {
			p.mu.Lock()
			defer p.mu.Unlock()
			return len(p.idle)
		}
		for i := range 10 {
			p.start(&attempt{number: i - 1})
		}
		for range 10 {
			release <- struct{}{}
		}
		synctest.Wait()
		if idle() != 9 {
			t.Errorf("%d wait after ten bodies, one of which ended its goroutine", idle())
		}
		p.trim() // all were needed lately
		for range 4 {
			p.start(&attempt{})
		}
		for range 4 {
			release <- struct{}{}
		}
		synctest.Wait()
		if idle() != 9 {
			t.Errorf("%d wait, want the nine from before", idle())
		}
		p.trim()
		if idle() != 4 {
			t.Errorf("%d wait after a trim, want the four that were needed", idle())
		}
		p.start(&attempt{})
		p.end()
		release <- struct{}{} // ends after its body
	})
}
