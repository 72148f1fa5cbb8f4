package actor

import (
	"time"

	proto "github.com/asynkron/protoactor-go/actor"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// shard is the parent of the actors of its part of the run ids, and the only one who knows which
// actor serves which run. It routes messages to them and decides who stays in memory.
//
// A run id belongs to one shard and the shard handles one message at a time, so a run has at most
// one actor in a system, and a message for a run is never sent to an actor that has been given
// another run meanwhile. Spawn and send happen here, so a run sees Started before anything else.
//
// An actor must not be stopped or given away while a message to its run is in its mailbox: an
// activation would be lost, and the run would be owned by a node that never looks at it. But the
// actor and the shard cannot agree at one moment who has handled what. So both count. sent is how
// many messages the shard has sent, a run reports how many it has seen, and a report counts only if
// the two are equal: then nothing is on its way from the shard. If they differ, the report has
// crossed a message, and the run reports again after that unless it has become active. Messages
// from others (an answer, a timer) are not counted; they do nothing to an idle run, and to another
// run they are stale.
type shard struct {
	host  *host
	props *proto.Props
	runs  map[journal.RunID]*entry
	spare []*entry // whose actors have no run

	warm      list.List[entry] // idle runs that stay in memory, the one that has been idle for longest first
	warmCount int
}

// entry is one actor.
type entry struct {
	pid  *proto.PID
	sent int // messages from the shard so far; never reset, because the actor goes on counting too
	warm list.Node[entry]
	at   time.Time // since when it is warm
}

func newShard(h *host) *shard {
	sh := &shard{host: h, runs: map[journal.RunID]*entry{}}
	sh.props = proto.PropsFromProducer(func() proto.Actor { return &run{host: h} }, proto.WithDispatcher(h.pool))
	return sh
}

// Receive implements proto.Actor.
func (s *shard) Receive(ctx proto.Context) {
	switch m := ctx.Message().(type) {
	case *activate:
		e := s.runs[m.claimed.Task.Run]
		if e == nil {
			e = s.assign(ctx)
			s.runs[m.claimed.Task.Run] = e
		}
		s.cool(e)
		s.forward(ctx, e, m)
	case attention: // the claim of a parked run says itself that there are messages
		if e := s.runs[m.run]; e != nil && !e.warm.Linked() {
			s.forward(ctx, e, m)
		}
	case *compare:
		s.compare(m, func(e *entry, msg any) { s.forward(ctx, e, msg) })
	case interrupt:
		for _, e := range s.runs {
			if !e.warm.Linked() {
				s.forward(ctx, e, m)
			}
		}
	case pausesChanged:
		for _, e := range s.runs {
			if !e.warm.Linked() {
				s.forward(ctx, e, m)
			}
		}
	case drain:
		for _, e := range s.runs {
			s.forward(ctx, e, m)
		}
	case parked:
		if e := s.runs[m.run]; e != nil && !e.warm.Linked() && e.sent == m.seen {
			s.keep(e)
			s.evict(ctx, s.host.o.WarmMax/shardCount, 0)
		}
	case vacant:
		if e := s.runs[m.run]; e != nil && e.sent == m.seen {
			s.cool(e)
			delete(s.runs, m.run)
			s.retire(ctx, e)
		}
	case sweep:
		s.evict(ctx, s.warmCount, s.host.o.WarmIdle)
	}
}

// compare asks each actor that may own a run. What has no actor, or one that is parked, is a stray:
// an activation would have come through this mailbox before.
func (s *shard) compare(m *compare, forward func(e *entry, msg any)) {
	for run, e := range s.runs {
		if e.warm.Linked() {
			continue
		}
		h, found := m.list[run]
		delete(m.list, run)
		forward(e, &compared{run: run, holding: h, found: found, asked: m.asked})
	}
	for _, h := range m.list {
		s.host.stray(h)
	}
}

// assign returns an actor for a run that has none. Making one costs more than most runs do with it.
func (s *shard) assign(ctx proto.Context) *entry {
	n := len(s.spare) - 1
	if n < 0 {
		return &entry{pid: ctx.Spawn(s.props)}
	}
	e := s.spare[n]
	s.spare[n], s.spare = nil, s.spare[:n]
	s.host.spare.Add(-1)
	return e
}

// retire keeps the actor of a run that is gone for another run, or stops it.
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

// keep puts an idle run at the end of the warm list, cool takes it out.
func (s *shard) keep(e *entry) {
	e.at = time.Now()
	s.warm.PushBack(&e.warm, e)
	s.warmCount++
}

func (s *shard) cool(e *entry) {
	if e.warm.Linked() {
		s.warm.Remove(&e.warm)
		s.warmCount--
	}
}

// evict makes warm runs leave memory, the one that has been idle for longest first: those beyond
// keep, and those that have been warm for longer than idle, unless idle is 0.
func (s *shard) evict(ctx proto.Context, keep int, idle time.Duration) {
	for e := s.warm.First(); e != nil; e = s.warm.First() {
		if s.warmCount <= keep && (idle == 0 || time.Since(e.at) < idle) {
			return
		}
		s.cool(e)
		s.forward(ctx, e, passivate{full: idle == 0})
	}
}
