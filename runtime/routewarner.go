package runtime

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// routeWarner warns of starts that no live node serves: a forgotten registration, a misspelt queue.
// It never holds a start up nor refuses it, because a node may come later. It asks in the
// background, one question at a time, and trusts the answer for a few seconds, so a flood of starts
// costs one call of the store.
type routeWarner struct {
	j   *driver.Journal
	log *slog.Logger

	mu       sync.Mutex
	warnedAt map[journal.Route]time.Time
	asking   bool
	served   map[journal.Route]bool // by live nodes, as of askedAt
	askedAt  time.Time
}

// check warns, now or in a moment, if nobody serves the route. It does not block.
func (w *routeWarner) check(route journal.Route) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asking || time.Since(w.warnedAt[route]) < warnEvery {
		return
	}
	if time.Since(w.askedAt) < servedFor {
		w.warn(route)
		return
	}
	w.asking = true
	go w.ask(route)
}

// ask reads which routes are served, and warns if this one is not.
func (w *routeWarner) ask(route journal.Route) {
	ctx, cancel := context.WithTimeout(context.Background(), servedFor)
	defer cancel()
	nodes, err := w.j.Nodes(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asking = false
	if err != nil {
		return // a warning is not worth an error
	}
	w.askedAt, w.served = time.Now(), map[journal.Route]bool{}
	for _, n := range nodes {
		for _, r := range n.Routes {
			w.served[r] = true
		}
	}
	w.warn(route)
}

// warn logs, unless the route is served. The caller holds the lock.
func (w *routeWarner) warn(route journal.Route) {
	if w.served[route] {
		return
	}
	if w.warnedAt == nil {
		w.warnedAt = map[journal.Route]time.Time{}
	}
	w.warnedAt[route] = time.Now()
	w.log.Warn("no live node serves this workflow; its runs wait until one does",
		logkey.Workflow, route.Workflow, logkey.Version, route.Version, logkey.Queue, route.Queue)
}
