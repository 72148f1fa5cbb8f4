package actor

import (
	"container/list"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/journal"
)

// shard spawns the run actors of its part of the run ids and is the only one to resolve an id.
// Spawn and send happen on its goroutine, so a run always sees Started first.
type shard struct {
	host  *host
	props *proto.Props
	runs  map[journal.RunID]*entry
	warm  *list.List // of journal.RunID, longest parked first
	spare []*entry   // whose actors have no run
}

// entry is one child.
type entry struct {
	pid  *proto.PID
	sent int           // messages forwarded so far
	warm *list.Element // while parked
	at   time.Time     // parked since
}

func newShard(h *host) *shard {
	sh := &shard{host: h, runs: map[journal.RunID]*entry{}, warm: list.New()}
	sh.props = proto.PropsFromProducer(func() proto.Actor { return &run{host: h} }, proto.WithDispatcher(h.pool))
	return sh
}

// Receive implements proto.Actor.
func (s *shard) Receive(ctx proto.Context) {
	switch m := ctx.Message().(type) {
	case *activate:
		e := s.runs[m.claimed.Task.Run]
		if e == nil {
			e = s.child(ctx)
			s.runs[m.claimed.Task.Run] = e
		}
		s.cool(e)
		s.forward(ctx, e, m)
	case attention:
		if e := s.runs[m.run]; e != nil && e.warm == nil {
			s.forward(ctx, e, m)
		}
	case drain:
		for _, e := range s.runs {
			s.forward(ctx, e, m)
		}
	case parked:
		if e := s.runs[m.run]; e != nil && e.warm == nil && e.sent == m.seen {
			e.warm, e.at = s.warm.PushBack(m.run), time.Now()
			s.evict(ctx, s.host.o.WarmMax/shardCount, 0)
		}
	case sweep:
		s.evict(ctx, s.warm.Len(), s.host.o.WarmIdle)
	case vacant:
		if e := s.runs[m.run]; e != nil && e.sent == m.seen {
			s.cool(e)
			delete(s.runs, m.run)
			s.retire(ctx, e)
		}
	}
}

// child returns an actor for a run that has none: making one costs more than most runs do with it.
func (s *shard) child(ctx proto.Context) *entry {
	n := len(s.spare) - 1
	if n < 0 {
		return &entry{pid: ctx.Spawn(s.props)}
	}
	e := s.spare[n]
	s.spare[n], s.spare = nil, s.spare[:n]
	s.host.spare.Add(-1)
	return e
}

// retire keeps the actor of a run that is gone for another one. Answers to the former run that are
// still on their way are told by their epoch.
func (s *shard) retire(ctx proto.Context, e *entry) {
	if len(s.spare) >= spareMax/shardCount {
		ctx.Stop(e.pid)
		return
	}
	s.spare = append(s.spare, e)
	s.host.spare.Add(1)
}

func (s *shard) forward(ctx proto.Context, e *entry, m any) {
	e.sent++
	ctx.Send(e.pid, m)
}

// cool takes the run out of the warm list.
func (s *shard) cool(e *entry) {
	if e.warm != nil {
		s.warm.Remove(e.warm)
		e.warm = nil
	}
}

// evict passivates parked runs, longest parked first: those beyond keep, and those parked for
// longer than idle (if not 0).
func (s *shard) evict(ctx proto.Context, keep int, idle time.Duration) {
	for s.warm.Len() > 0 {
		front := s.warm.Front()
		e := s.runs[front.Value.(journal.RunID)]
		if s.warm.Len() <= keep && (idle == 0 || time.Since(e.at) < idle) {
			return
		}
		s.cool(e)
		s.forward(ctx, e, passivate{full: idle == 0})
	}
}
