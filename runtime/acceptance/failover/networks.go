package main

import (
	"context"
	"fmt"
	"time"
)

// parted is a node in the middle of long steps, and another one, which waits. Each reaches the
// server through a tunnel of its own.
type parted struct {
	server  *server
	tunnel  *tunnel  // of the busy node; faults that part the two are here
	busy    *process // the busy node
	waiting *tunnel  // of the other one
}

// part puts both on the stage. All steps run on the first one, because it was alone when they
// began.
func (s *stage) part(ctx context.Context) (*parted, error) {
	sv, err := s.serve(ctx, nil)
	if err != nil {
		return nil, err
	}
	t, err := s.dig(sv)
	if err != nil {
		return nil, err
	}
	waiting, err := s.dig(sv)
	if err != nil {
		return nil, err
	}
	busy, err := s.node(0, through(t))
	if err != nil {
		return nil, err
	}
	w := work{Workflow: string(holder), Runs: s.runs, Parallel: s.runs, Each: order{Steps: 1, Takes: s.takes}, Call: s.patience}
	if err := s.client(w.Workflow, direct(sv), w); err != nil {
		return nil, err
	}
	err = s.until(ctx, "the steps", func(entries []entry) bool { return count(entries, begun) >= s.runs })
	if err != nil {
		return nil, err
	}
	if _, err := s.node(1, through(waiting)); err != nil {
		return nil, err
	}
	err = s.until(ctx, "two nodes", func(entries []entry) bool { return count(entries, joined) >= 2 })
	if err != nil {
		return nil, err
	}
	return &parted{sv, t, busy, waiting}, s.after(ctx, partedFor) // both have renewed a few times
}

const partedFor = 2500 * time.Millisecond

// playFault parts the nodes by a fault, heals it, and lets the work end.
func playFault(fault func(context.Context, *stage, *parted) error, heal func(*parted) error) play {
	return func(ctx context.Context, s *stage) (*facts, error) {
		p, err := s.part(ctx)
		if err != nil {
			return nil, err
		}
		s.note("the fault begins")
		began := time.Now()
		if err := fault(ctx, s, p); err != nil {
			return nil, err
		}
		if err := s.after(ctx, time.Until(began.Add(s.away))); err != nil {
			return nil, err
		}
		if err := heal(p); err != nil {
			return nil, err
		}
		s.note("the fault ends")
		return s.settle(ctx, p.server)
	}
}

// play is the course of a scenario. It returns what is known at the end.
type play func(context.Context, *stage) (*facts, error)

func released(p *parted) error { p.tunnel.release(); return nil }

// halfOpen: what both ends send waits somewhere, and arrives when the fault ends.
func halfOpen(_ context.Context, _ *stage, p *parted) error { p.tunnel.hold(); return nil }

// dropped: what both ends send is lost, and neither learns of it.
func dropped(_ context.Context, _ *stage, p *parted) error { p.tunnel.lose(); return nil }

// halfEnded: the server's half of each connection ends at once, and the client's half stays silent.
func halfEnded(_ context.Context, _ *stage, p *parted) error {
	p.tunnel.lose()
	p.tunnel.endServerHalf()
	return nil
}

// keepalives: packets are lost, and the server, whose keepalives are set tightly, ends its half of
// the connections after a while.
func keepalives(ctx context.Context, s *stage, p *parted) error {
	p.tunnel.lose()
	if err := s.after(ctx, keepalivesFor); err != nil {
		return err
	}
	s.note("the server ends the connections")
	p.tunnel.endServerHalf()
	return nil
}

// keepalivesFor is what a server with an idle time of 2 s and three probes a second apart needs.
const keepalivesFor = 5 * time.Second

// stopped: the process of the node stands still, and its connections with it.
func stopped(_ context.Context, _ *stage, p *parted) error { return freeze(p.busy.cmd.Process) }

func continued(p *parted) error { return thaw(p.busy.cmd.Process) }

// slow: the sessions of both listeners end, and logging in takes 1.5 s.
func slow(_ context.Context, s *stage, p *parted) error {
	p.slowDown(loginTakes)
	return p.cutListeners(s)
}

func (p *parted) slowDown(delay time.Duration) {
	p.tunnel.slowDown(delay)
	p.waiting.slowDown(delay)
}

// cutListeners ends the sessions that listen for hints. That there are none would prove nothing.
func (p *parted) cutListeners(s *stage) error {
	n := p.tunnel.cut(true) + p.waiting.cut(true)
	s.note("%d listeners are cut off", n)
	if n < 2 {
		return fmt.Errorf("%d sessions listen for hints, want one of each node", n)
	}
	return nil
}

const loginTakes = 1500 * time.Millisecond

func quick(p *parted) error { p.slowDown(0); return nil }

// limited: the sessions of both listeners end, and the server lets nobody in.
func limited(ctx context.Context, s *stage, p *parted) error {
	if err := tell(ctx, p.server, "postgres", `alter role `+role+` connection limit 1`); err != nil {
		return err
	}
	return p.cutListeners(s)
}

func unlimited(p *parted) error {
	return tell(context.Background(), p.server, "postgres", `alter role `+role+` connection limit -1`)
}
