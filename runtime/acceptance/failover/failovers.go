package main

import (
	"context"
	"time"
)

// pair is a primary and its standby, which receives the log through a tunnel.
type pair struct {
	primary, standby *server
	link             *tunnel
	dsn              string // of whichever takes writes
}

// follow puts a primary and a standby on the stage.
func (s *stage) follow(ctx context.Context) (*pair, error) {
	primary, err := s.serve(ctx, nil)
	if err != nil {
		return nil, err
	}
	link, err := s.dig(primary)
	if err != nil {
		return nil, err
	}
	standby, err := startStandby(ctx, primary, link.addr())
	if err != nil {
		return nil, err
	}
	s.servers = append(s.servers, standby)
	err = primary.await(ctx, "postgres", `select exists (select from pg_stat_replication where state = 'streaming')`)
	return &pair{primary, standby, link, either(primary, standby)}, err
}

// synchronous makes commits wait for the standby.
func (p *pair) synchronous(ctx context.Context) error {
	if err := tell(ctx, p.primary, "postgres", `alter system set synchronous_standby_names = '`+standbyName+`'`, `select pg_reload_conf()`); err != nil {
		return err
	}
	return p.primary.await(ctx, "postgres", `select exists (select from pg_stat_replication where sync_state = 'sync')`)
}

// promote makes the standby the primary. It returns the end of the log that the standby has
// replayed, and so knows. What it has received says less: a standby that was restarted while the
// primary was dead has received nothing, and replays what it had.
func (p *pair) promote(ctx context.Context) (position, error) {
	p.link.cut(false)
	if _, err := ask[bool](ctx, p.standby, "postgres", `select pg_promote(true, 60)`); err != nil {
		return 0, err
	}
	replayed, err := ask[string](ctx, p.standby, "postgres", `select pg_last_wal_replay_lsn()::text`)
	if err != nil {
		return 0, err
	}
	// The new primary waits for nobody.
	if err := tell(ctx, p.standby, "postgres", `alter system reset synchronous_standby_names`, `select pg_reload_conf()`); err != nil {
		return 0, err
	}
	return parsePosition(replayed)
}

// outage is the time between the death of a primary and the promotion, as an operator or a quorum
// needs it. It is far below the lease, so nodes live through it.
const outage = 2 * time.Second

// playAsync fails over to a standby that has not received the last moments.
func playAsync(ctx context.Context, s *stage) (*facts, error) {
	p, err := s.follow(ctx)
	if err != nil {
		return nil, err
	}
	end, err := startLogClock(ctx, p.primary)
	if err != nil {
		return nil, err
	}
	if err := s.work(ctx, 3, p.dsn); err != nil {
		return nil, err
	}
	if s.lag > 0 {
		p.link.hold()
		s.note("the standby receives nothing more")
		if err := s.after(ctx, s.lag); err != nil {
			return nil, err
		}
	}
	if err := p.primary.Kill(); err != nil {
		return nil, err
	}
	s.note("the primary is dead")
	if err := s.after(ctx, outage); err != nil {
		return nil, err
	}
	replayed, err := p.promote(ctx)
	if err != nil {
		return nil, err
	}
	s.cut = end.before(replayed)
	s.note("the standby is promoted; it knows all that was acknowledged before %s", s.cut.Format(clock))
	return s.settle(ctx, p.standby)
}

// playSync fails over to a synchronous standby in the middle of the work. Nothing is lost. Nodes
// and clients know one address, which leads to whichever server is the primary, as a load
// balancer's does.
func playSync(ctx context.Context, s *stage) (*facts, error) {
	p, err := s.follow(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.synchronous(ctx); err != nil {
		return nil, err
	}
	front, err := s.dig(p.primary)
	if err != nil {
		return nil, err
	}
	if err := s.work(ctx, 3, through(front)); err != nil {
		return nil, err
	}
	if err := p.primary.Kill(); err != nil {
		return nil, err
	}
	s.note("the primary is dead")
	if err := s.after(ctx, outage); err != nil {
		return nil, err
	}
	if _, err := p.promote(ctx); err != nil {
		return nil, err
	}
	front.lead(p.standby.address())
	s.note("the standby is promoted")
	return s.settle(ctx, p.standby)
}

// playStandbyAway takes a synchronous standby away. Commits wait for it; callers lose patience and
// repeat what they asked for, which finds what the first try has written. When the primary dies
// too, whatever was acknowledged must be on the standby.
func playStandbyAway(ctx context.Context, s *stage) (*facts, error) {
	p, err := s.follow(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.synchronous(ctx); err != nil {
		return nil, err
	}
	if err := s.fleet(2, p.dsn); err != nil {
		return nil, err
	}
	if err := s.load(ctx, p.dsn); err != nil {
		return nil, err
	}
	// Of these runs every second commit is the last, so some results are on their way at any time.
	brief := work{Workflow: string(holder), Parallel: s.runs / 4, Each: order{Steps: 1, Takes: 5 * time.Millisecond}, Call: callPatience}
	if err := s.client("brief", p.dsn, brief); err != nil {
		return nil, err
	}
	if err := s.warm(ctx); err != nil {
		return nil, err
	}
	if err := p.standby.Kill(); err != nil {
		return nil, err
	}
	s.note("the standby is away")
	late := work{Workflow: string(chain), Runs: s.runs / 4, Parallel: s.runs / 4, Each: order{Steps: 2}, Call: callPatience}
	if err := s.client("late", p.dsn, late); err != nil {
		return nil, err
	}
	if err := s.after(ctx, s.away); err != nil {
		return nil, err
	}
	if err := p.primary.Kill(); err != nil {
		return nil, err
	}
	s.note("the primary is dead")
	if err := p.standby.Restart(ctx); err != nil {
		return nil, err
	}
	if _, err := p.promote(ctx); err != nil {
		return nil, err
	}
	s.note("the standby is back and promoted")
	return s.settle(ctx, p.standby)
}

// playCommitOff lets the role of the nodes have asynchronous commits, and crashes the server. The
// store asks for durable commits in its own sessions, so nothing is lost.
func playCommitOff(ctx context.Context, s *stage) (*facts, error) {
	// The server writes its log every 10 s if nobody waits for it.
	sv, err := s.serve(ctx, map[string]string{"wal_writer_delay": "10s", "wal_writer_flush_after": "0"})
	if err != nil {
		return nil, err
	}
	if err := tell(ctx, sv, "postgres", `alter role `+role+` set synchronous_commit = off`); err != nil {
		return nil, err
	}
	dsn := direct(sv)
	if err := s.work(ctx, 3, dsn); err != nil {
		return nil, err
	}
	for range s.times {
		if err := sv.Kill(); err != nil {
			return nil, err
		}
		s.note("the server has crashed")
		if err := sv.Restart(ctx); err != nil {
			return nil, err
		}
		s.note("the server is back")
		if err := s.after(ctx, time.Second); err != nil {
			return nil, err
		}
	}
	return s.settle(ctx, sv)
}
