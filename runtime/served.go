package runtime

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// servedWarner warns when runs are started that no live node serves. It never hinders a start: a node may come later.
type servedWarner struct {
	mu     sync.Mutex
	warned map[journal.Route]time.Time
	asking bool
	routes map[journal.Route]bool // that live nodes serve
	asked  time.Time
}

// check looks in the background, with an answer that may be some seconds old.
func (s *servedWarner) check(c *Client, route journal.Route) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asking || time.Since(s.warned[route]) < warnEvery {
		return
	}
	if time.Since(s.asked) < servedFor {
		s.warn(c, route)
		return
	}
	s.asking = true
	go s.refresh(c, route)
}

func (s *servedWarner) refresh(c *Client, route journal.Route) {
	ctx, cancel := context.WithTimeout(context.Background(), servedFor)
	defer cancel()
	nodes, err := c.j.Nodes(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking = false
	if err != nil {
		return // a warning is not worth an error
	}
	s.asked, s.routes = time.Now(), map[journal.Route]bool{}
	for _, n := range nodes {
		for _, r := range n.Routes {
			s.routes[r] = true
		}
	}
	s.warn(c, route)
}

func (s *servedWarner) warn(c *Client, route journal.Route) {
	if s.routes[route] {
		return
	}
	if s.warned == nil {
		s.warned = map[journal.Route]time.Time{}
	}
	s.warned[route] = time.Now()
	c.tel.log.Warn("no live node serves this workflow; its runs wait until one does",
		logkey.Workflow, route.Workflow, logkey.Version, route.Version, logkey.Queue, route.Queue)
}
