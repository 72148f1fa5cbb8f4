package acceptance_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// stamps are when steps began and ended, by node and run, in the order in which it happened.
type stamps struct {
	mu   sync.Mutex
	list []stamp
}

type stamp struct {
	node, run, what string
	at              time.Time
}

func (s *stamps) add(node, run, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, stamp{node, run, what, time.Now()})
}

func (s *stamps) count(node, what string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.list {
		if e.node == node && e.what == what {
			n++
		}
	}
	return n
}

// overlap is the longest time for which a step that ended on one node had begun on another one;
// below zero is the shortest time between the two.
func (s *stamps) overlap(from, to string) (longest time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	longest = -time.Hour
	for _, end := range s.list {
		if end.node != from || end.what != "ended" {
			continue
		}
		i := slices.IndexFunc(s.list, func(e stamp) bool { return e.node == to && e.run == end.run && e.what == "began" })
		if i >= 0 {
			longest = max(longest, end.at.Sub(s.list[i].at))
		}
	}
	return longest
}

// lasting registers a workflow whose step lasts until its context ends.
func (s *stamps) lasting(node string) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "long", func(ctx context.Context) (string, error) {
				s.add(node, in, "began")
				<-ctx.Done()
				s.add(node, in, "ended")
				return "", context.Cause(ctx)
			}, nil)
		}, nil)
	}
}

// pair is two nodes. The runs are executed by a, which has a link of its own.
type pair struct {
	*clustertest.Cluster
	*stamps
	link *pgtest.Link
	a, b *clustertest.Node
}

const pairRuns = 20

func newPair(t *testing.T, grace time.Duration) *pair {
	t.Helper()
	p := &pair{Cluster: clustertest.New(t), stamps: &stamps{}}
	p.link = pgtest.Proxy(t, p.DSN)
	o := p.Options()
	o.Grace, o.Drain = grace, 50*time.Millisecond
	p.a = p.RunOn(journal.New(p.Store(p.link.DSN(), nil), nil), o, p.lasting("a"))
	ctx := clustertest.Context(t)
	for i := range pairRuns {
		in := fmt.Sprint(i)
		started, err := runtime.Start(ctx, p.a.Client(), greet, in, nil)
		clustertest.MustStart(t, started, err)
	}
	clustertest.Until(t, "a executes all steps", func() bool { return p.count("a", "began") == pairRuns })
	p.b = p.Run(o, p.lasting("b"))
	t.Cleanup(func() { p.link.Refuse(false); p.link.Hang(false); p.link.Resume() })
	untilJudged(p.Cluster, 2)
	return p
}

// untilJudged waits until so many nodes offer their sessions as evidence of their life. A node that
// was alone does so once it has heard of the second one, a moment after that one has joined. Until
// then its death shows by its lease only, as a node that fears nobody watches no contact.
func untilJudged(c *clustertest.Cluster, nodes int) {
	c.T.Helper()
	conn := c.Connect()
	clustertest.Until(c.T, "the nodes know of each other", func() bool {
		return clustertest.Query[int](c.T, conn, `SELECT count(*)::int FROM reprise.nodes WHERE process IS NOT NULL`) == nodes
	})
}

// endSessions ends sessions of a: the server's half of them.
func (p *pair) endSessions(which string) {
	p.T.Helper()
	conn := p.Connect()
	clustertest.Query[int](p.T, conn, `SELECT count(pg_terminate_backend(l.pid, 10000))::int
		FROM pg_locks l JOIN reprise.nodes n ON l.objid = n.process::oid JOIN pg_stat_activity s ON s.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
		  AND n.id = $1 AND s.query LIKE $2`, int32(p.a.ID()), which)
}

// TestNoStepRunsTwiceAtOnce: a node whose sessions the server has lost, and which does not hear of
// it, has stopped its steps before another node begins them. Its lease, of ten seconds, is of no
// help.
func TestNoStepRunsTwiceAtOnce(t *testing.T) {
	for name, grace := range map[string]time.Duration{"the default": 0, "a short one": 300 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, grace)
			first := p.a.ID()
			p.link.Stall()
			gone := time.Now()
			p.endSessions("%")
			clustertest.Until(t, "b executes all steps", func() bool { return p.count("b", "began") == pairRuns })
			t.Logf("taken after %s, overlap %s", time.Since(gone), p.overlap("a", "b"))
			if n := p.count("a", "ended"); n != pairRuns {
				t.Errorf("b has begun all steps, a has ended %d", n)
			}
			if overlap := p.overlap("a", "b"); overlap > 0 {
				t.Errorf("a step ran on both nodes for %s", overlap)
			}
			p.link.Resume()
			clustertest.Until(t, "a has joined again", func() bool { return p.a.ID() > first })
		})
	}
}

// TestNodeOutlivesItsSessions: sessions of a node are ended, all of them or only the listener's,
// which cannot be opened again. It goes on under its id, and its steps go on.
func TestNodeOutlivesItsSessions(t *testing.T) {
	for name, fault := range map[string]func(p *pair){
		"all are ended":                         func(p *pair) { p.endSessions("%") },
		"the listener is ended, and is refused": func(p *pair) { p.link.Refuse(true); p.endSessions("LISTEN%") },
		"the listener is ended, and hangs":      func(p *pair) { p.link.Hang(true); p.endSessions("LISTEN%") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, 5*time.Second)
			first, conn := p.a.ID(), p.Connect()
			fault(p)
			// b looks after each renewal, and a second time after the grace.
			renewals := func() int {
				return clustertest.Query[int](t, conn, `SELECT renewals::int FROM reprise.nodes WHERE id = $1`, int32(p.b.ID()))
			}
			want := renewals() + 7
			clustertest.Until(t, "b has looked", func() bool { return renewals() >= want })
			if p.a.ID() != first || p.count("a", "ended") > 0 || p.count("b", "began") > 0 {
				t.Errorf("node %d, was %d; %d steps ended, %d began elsewhere", p.a.ID(), first, p.count("a", "ended"), p.count("b", "began"))
			}
		})
	}
}

// TestInterruptedStepsGoOn: the network is silent for longer than the grace and shorter than the
// lease, and the server does not notice. The steps are interrupted; no node is lost, and the same
// one begins them again.
func TestInterruptedStepsGoOn(t *testing.T) {
	p := newPair(t, 0)
	first := p.a.ID()
	p.link.Stall()
	clustertest.Until(t, "all steps are interrupted", func() bool { return p.count("a", "ended") == pairRuns })
	p.link.Resume()
	clustertest.Until(t, "all begin again", func() bool { return p.count("a", "began")+p.count("b", "began") == 2*pairRuns })
	if p.a.ID() != first {
		t.Errorf("node %d, was %d", p.a.ID(), first)
	}
}
