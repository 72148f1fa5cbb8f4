package actor

import "sync"

// performers are the goroutines that step bodies run on, each for as long as its body takes. They wait for another body
// afterwards, because their stacks have grown to what one needs.
type performers struct {
	perform func(*attempt)

	mu     sync.Mutex
	idle   []chan *attempt // of goroutines that wait, the latest last
	unused int             // the fewest that have waited since the last trim
	ended  bool
}

func newPerformers(perform func(*attempt)) *performers { return &performers{perform: perform} }

// start never blocks.
func (p *performers) start(a *attempt) {
	p.mu.Lock()
	n := len(p.idle) - 1
	if n < 0 {
		p.mu.Unlock()
		go p.serve(a)
		return
	}
	next := p.idle[n]
	p.idle = p.idle[:n]
	p.unused = min(p.unused, n)
	p.mu.Unlock()
	next <- a
}

// serve performs attempts until the performers end or there are too many. A body that ends its goroutine ends this one.
func (p *performers) serve(a *attempt) {
	next := make(chan *attempt, 1)
	for a != nil {
		p.perform(a)
		p.mu.Lock()
		if p.ended {
			p.mu.Unlock()
			return
		}
		p.idle = append(p.idle, next)
		p.mu.Unlock()
		a = <-next
	}
}

// trim lets those go that nobody has needed since the last trim.
func (p *performers) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.idle[:p.unused] {
		c <- nil
	}
	p.idle = append(p.idle[:0], p.idle[p.unused:]...)
	p.unused = len(p.idle)
}

// end lets the idle ones go; the others end after their bodies.
func (p *performers) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, c := range p.idle {
		c <- nil
	}
	p.idle, p.unused = nil, 0
}
