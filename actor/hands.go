package actor

import (
	"sync"
	"time"
)

// hands are the goroutines of a system. They run mailboxes, which are meant to return quickly, on as many goroutines as there are
// cores, and errands, which may take as long as they like, each on a goroutine of its own: step bodies, and what the store
// asks for.
//
// Goroutines stay, because their stacks have grown to what a turn or a body needs. And one that is about to come free
// goes on itself with what it has caused: on a node with little to do, a step's body, its turn, the commit and the answer follow
// each other on one goroutine. Waking another one each time would cost a third of the commit.
//
// A mailbox that does not return, because its workflow's code does not await, loses its place after a moment.
type hands struct {
	size int // how many mailboxes are to run at once

	mu        sync.Mutex
	mailboxes fifo[func()]
	errands   fifo[func(*Hand)]
	idle      []*Hand // the latest last
	unused    int     // the fewest that were idle since the last trim
	serving   []*Hand // with a mailbox
	at        int     // mailboxes that began lately
	coming    int     // hands that will look for work in a moment
	round     uint64  // grows with every look
	looking   bool    // a look is to come
	ended     bool
}

// Hand is one goroutine of a system. Nil is a goroutine of somebody else's.
type Hand struct {
	hands  *hands
	wake   chan struct{}
	coming bool   // counted in hands.coming
	gone   bool   // its mailbox does not return
	round  uint64 // in which it began with its mailbox
}

func newHands(size int) *hands { return &hands{size: size} }

// Throughput implements protoactor's Dispatcher: how many messages of one mailbox are handled before others get their turn.
func (s *hands) Throughput() int { return mailboxThroughput }

// Schedule implements protoactor's Dispatcher. It never blocks.
func (s *hands) Schedule(mailbox func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		go mailbox() // of an actor that a step's end or a late answer still reaches
		return
	}
	s.mailboxes.push(mailbox)
	s.balance()
}

// do runs an errand. It never blocks.
func (s *hands) do(errand func(*Hand)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		go errand(nil)
		return
	}
	s.errands.push(errand)
	s.balance()
}

// Soon says that the errand is about to return: what is sent from now on waits for its hand rather than wake another.
func (h *Hand) Soon() { h.promise(true) }

// Busy takes Soon back.
func (h *Hand) Busy() { h.promise(false) }

func (h *Hand) promise(coming bool) {
	if h == nil {
		return
	}
	h.hands.mu.Lock()
	defer h.hands.mu.Unlock()
	h.count(coming)
	h.hands.balance()
}

// count counts the hand as coming, or not. The caller holds the lock.
func (h *Hand) count(coming bool) {
	if h.coming == coming {
		return
	}
	if h.coming = coming; coming {
		h.hands.coming++
	} else {
		h.hands.coming--
	}
}

// balance wakes as many hands as there is work for, beyond those that come anyway. The caller holds the lock.
func (s *hands) balance() {
	want := s.errands.len() + min(s.mailboxes.len(), max(s.size-s.at, 0))
	for s.coming < want {
		s.call()
	}
	if !s.looking && s.errands.len()+s.mailboxes.len() > 0 && !s.ended {
		s.looking = true
		time.AfterFunc(handsLook, s.look)
	}
}

// call wakes a hand or takes on a new one. The caller holds the lock.
func (s *hands) call() {
	n := len(s.idle) - 1
	if n < 0 {
		h := &Hand{hands: s, wake: make(chan struct{}, 1)}
		h.count(true)
		go h.serve()
		return
	}
	h := s.idle[n]
	s.idle = s.idle[:n]
	s.unused = min(s.unused, n)
	h.count(true)
	h.wake <- struct{}{}
}

// serve works until there are no hands any more, or too many. An errand that ends its goroutine ends this hand.
func (h *Hand) serve() {
	s := h.hands
	for {
		mailbox, errand := h.next()
		switch {
		case mailbox != nil:
			mailbox()
			s.mu.Lock()
			h.leave()
			s.mu.Unlock()
		case errand != nil:
			h.run(errand)
		default:
			if _, more := <-h.wake; !more {
				return
			}
		}
	}
}

func (h *Hand) run(errand func(*Hand)) {
	returned := false
	defer func() {
		if !returned {
			h.Busy() // never to come
		}
	}()
	errand(h)
	returned = true
}

// next takes a job, or joins the idle ones. Mailboxes come first, so that those who serve them go on doing so.
func (h *Hand) next() (mailbox func(), errand func(*Hand)) {
	s := h.hands
	s.mu.Lock()
	defer s.mu.Unlock()
	h.count(false)
	if s.at < s.size && s.mailboxes.len() > 0 {
		mailbox = s.mailboxes.pop()
		s.serving = append(s.serving, h)
		h.round = s.round
		s.at++
		h.count(true) // soon
	} else if s.errands.len() > 0 {
		errand = s.errands.pop()
	} else if s.ended {
		close(h.wake)
	} else {
		s.idle = append(s.idle, h)
	}
	s.balance()
	return mailbox, errand
}

// leave ends a mailbox. The caller holds the lock.
func (h *Hand) leave() {
	s := h.hands
	for i := range s.serving {
		if s.serving[i] == h {
			last := len(s.serving) - 1
			s.serving[i], s.serving[last] = s.serving[last], nil
			s.serving = s.serving[:last]
			break
		}
	}
	if !h.gone {
		s.at--
	}
	h.gone = false
}

// look gives up on mailboxes that have not returned since the look before the last one.
func (s *hands) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looking = false
	s.round++
	for _, h := range s.serving {
		if !h.gone && s.round-h.round > 1 {
			h.gone = true
			h.count(false)
			s.at--
		}
	}
	s.balance()
}

// trim lets those go that nobody has needed since the last trim.
func (s *hands) trim() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.idle[:s.unused] {
		close(h.wake)
	}
	s.idle = append(s.idle[:0], s.idle[s.unused:]...)
	s.unused = len(s.idle)
}

// end lets the idle ones go; the others end after what there is to do.
func (s *hands) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for _, h := range s.idle {
		close(h.wake)
	}
	s.idle, s.unused = nil, 0
}
