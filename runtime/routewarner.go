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

// routeWarner warns of runs that no live node serves: a forgotten registration, a misspelt queue, a
// node whose Run was never called. It never holds a start up nor refuses it, because a node may
// come later. It asks in the background, one question at a time, and trusts for a few seconds what
// the answer says of routes that are served: a flood of starts costs one call of the store. That a
// route is not served may be over a moment later, so nobody is warned because of an answer to an
// earlier question. What is asked for each route is asked once in warnEvery.
type routeWarner struct {
	j   *driver.Journal
	log *slog.Logger

	mu       sync.Mutex
	warnedAt map[journal.Route]time.Time // at most routesWarnedMax
	pending  map[journal.Route]bool      // wait for the answer to a question; not empty while one is under way; as many
	later    map[journal.Route]bool      // see checkLater
	served   map[journal.Route]bool      // by live nodes, as of askedAt
	askedAt  time.Time
}

func newRouteWarner(j *driver.Journal, log *slog.Logger) *routeWarner {
	return &routeWarner{j: j, log: log, warnedAt: map[journal.Route]time.Time{},
		pending: map[journal.Route]bool{}, later: map[journal.Route]bool{}}
}

// routesWarnedMax bounds what is remembered: queues come from callers.
const routesWarnedMax = 1_000

// check warns in a moment if nobody serves the route. It does not block.
func (w *routeWarner) check(route journal.Route) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case time.Since(w.warnedAt[route]) < warnEvery:
	case w.served[route] && time.Since(w.askedAt) < servedFor:
	case len(w.pending) >= routesWarnedMax: // a later start of the route asks
	default:
		if w.pending[route] = true; len(w.pending) == 1 {
			go w.ask()
		}
	}
}

// checkLater is check for a route that this process serves as soon as its node runs. Programs start
// runs right before they call Node.Run, so the node gets a while to join.
func (w *routeWarner) checkLater(route journal.Route) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.later[route] {
		return
	}
	w.later[route] = true
	time.AfterFunc(joinPatience, func() {
		w.mu.Lock()
		delete(w.later, route)
		w.mu.Unlock()
		w.check(route)
	})
}

// ask reads which routes are served, and warns of the pending ones that are not.
func (w *routeWarner) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), servedFor)
	defer cancel()
	nodes, err := w.j.Nodes(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	defer clear(w.pending)
	if err != nil {
		return // a warning is not worth an error
	}
	w.askedAt, w.served = time.Now(), map[journal.Route]bool{}
	for _, n := range nodes {
		for _, r := range n.Routes {
			w.served[r] = true
		}
	}
	for route := range w.pending {
		w.warn(route)
	}
}

// warn logs, unless the route is served. The caller holds the lock.
func (w *routeWarner) warn(route journal.Route) {
	if w.served[route] {
		return
	}
	if len(w.warnedAt) >= routesWarnedMax {
		clear(w.warnedAt)
	}
	w.warnedAt[route] = time.Now()
	w.log.Warn("no live node serves this workflow; its runs wait until one does",
		logkey.Workflow, route.Workflow, logkey.Version, route.Version, logkey.Queue, route.Queue)
}
