package runtime

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// signalWarner warns of signals that nobody will receive, because the registrations of the workflow
// list others: see HandleOptions.Signals. The signal is sent all the same, because a newer version
// may receive it. What the client's own node does not know it asks of the list of live nodes, in
// the background and one question at a time, as routeWarner does and for the same reasons.
type signalWarner struct {
	nodes func(context.Context) ([]journal.Node, error)
	log   *slog.Logger

	mu       sync.Mutex
	warnedAt map[routedSignal]time.Time     // at most signalsWarnedMax
	pending  map[routedSignal]journal.RunID // wait for the answer to a question; not empty while one is under way; as many
	listed   map[journal.Route][]string     // by live nodes that all list something, as of askedAt
	askedAt  time.Time
}

type routedSignal struct {
	route journal.Route
	name  string
}

// signalsWarnedMax bounds what is remembered: names come from callers.
const signalsWarnedMax = 1_000

// noteSignal warns if the workflow is registered with other signals.
func (c *Client) noteSignal(run journal.RunID, route journal.Route, m *journal.Message) {
	if m.Kind != journal.MessageSignal {
		return
	}
	receives, known := c.node.receives(route, m.Name)
	switch signal := (routedSignal{route, m.Name}); {
	case !known:
		c.signals.check(run, signal)
	case !receives:
		c.signals.mu.Lock()
		defer c.signals.mu.Unlock()
		c.signals.warn(run, signal)
	}
}

// check warns in a moment if the live nodes say that nobody receives the signal. It does not block.
func (w *signalWarner) check(run journal.RunID, s routedSignal) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case time.Since(w.warnedAt[s]) < warnEvery:
	case !w.unlisted(s) && time.Since(w.askedAt) < servedFor:
	case len(w.pending) >= signalsWarnedMax: // a later signal asks
	default:
		if w.pending == nil {
			w.pending = map[routedSignal]journal.RunID{}
		}
		if w.pending[s] = run; len(w.pending) == 1 {
			go w.ask()
		}
	}
}

// ask reads what live nodes list, and warns of the pending signals that are not there.
func (w *signalWarner) ask() {
	ctx, cancel := context.WithTimeout(context.Background(), servedFor)
	defer cancel()
	nodes, err := w.nodes(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	defer clear(w.pending)
	if err != nil {
		return // a warning is not worth an error
	}
	w.askedAt, w.listed = time.Now(), map[journal.Route][]string{}
	for i := range nodes {
		for _, r := range nodes[i].Routes {
			w.listed[r] = append(w.listed[r], nodes[i].Signals[r]...)
		}
	}
	for i := range nodes {
		for _, r := range nodes[i].Routes {
			if len(nodes[i].Signals[r]) == 0 {
				delete(w.listed, r) // it may receive any
			}
		}
	}
	for s, run := range w.pending {
		if w.unlisted(s) {
			w.warn(run, s)
		}
	}
}

// unlisted tells whether the nodes list other signals. The caller holds the lock.
func (w *signalWarner) unlisted(s routedSignal) bool {
	names, known := w.listed[s.route]
	return known && !slices.Contains(names, s.name)
}

// warn logs, at most once in warnEvery for each workflow and name. The caller holds the lock.
func (w *signalWarner) warn(run journal.RunID, s routedSignal) {
	if time.Since(w.warnedAt[s]) < warnEvery {
		return
	}
	if w.warnedAt == nil || len(w.warnedAt) >= signalsWarnedMax {
		w.warnedAt = map[routedSignal]time.Time{}
	}
	w.warnedAt[s] = time.Now()
	w.log.Warn("the workflow does not receive signals of this name, as its registration says; the signal was sent",
		logkey.Signal, s.name, logkey.Run, run, logkey.Workflow, s.route.Workflow, logkey.Version, s.route.Version)
}
