package main

import (
	"context"
	"time"
)

// playKills kills nodes in the middle of steps, one after the other, and starts new ones.
func playKills(ctx context.Context, s *stage) (*facts, error) {
	sv, err := s.serve(ctx, nil)
	if err != nil {
		return nil, err
	}
	dsn := direct(sv)
	if err := s.fleet(3, dsn); err != nil {
		return nil, err
	}
	// So many that each node always has some, and no processor has much to do.
	w := work{Workflow: string(holder), Parallel: s.runs, Over: s.takes, Each: order{Steps: 1, Takes: s.takes}, Call: s.patience}
	if err := s.client(w.Workflow, dsn, w); err != nil {
		return nil, err
	}
	for i := range s.times {
		err := s.until(ctx, "runs that moved", func(entries []entry) bool { return inside(entries, s.nodes[i%3].name) >= 3 })
		if err != nil {
			return nil, err
		}
		s.killNode(i % 3)
		if _, err := s.node(i%3, dsn); err != nil {
			return nil, err
		}
		if err := s.after(ctx, betweenKills); err != nil {
			return nil, err
		}
	}
	return s.settle(ctx, sv)
}

// betweenKills is longer than a takeover should take, so that one death does not hide another.
const betweenKills = 3 * time.Second

// inside counts the bodies that a process is in.
func inside(entries []entry, name string) (n int) {
	for _, e := range entries {
		switch {
		case e.By != name:
		case e.What == begun:
			n++
		case e.What == ended, e.What == cancelled:
			n--
		}
	}
	return n
}

// playRolling restarts all nodes in turns, while the work goes on. Nobody should notice.
func playRolling(ctx context.Context, s *stage) (*facts, error) {
	sv, dsn, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	for range s.times {
		for slot := range len(s.nodes) {
			if err := s.restart(ctx, slot, dsn); err != nil {
				return nil, err
			}
		}
	}
	return s.settle(ctx, sv)
}

// playTerminated ends all sessions of the database, again and again. Nodes and clients connect
// again; nobody is dead.
func playTerminated(ctx context.Context, s *stage) (*facts, error) {
	sv, _, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	for range s.times {
		n, err := ask[int](ctx, sv, "postgres", `select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '`+database+`'`)
		if err != nil {
			return nil, err
		}
		s.note("%d sessions are terminated", n)
		if err := s.after(ctx, betweenTerminations); err != nil {
			return nil, err
		}
	}
	return s.settle(ctx, sv)
}

const betweenTerminations = 1500 * time.Millisecond
