package runtime

import (
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// signalWarner warns of signals that nobody will receive, because the workflow's registration lists
// others: see HandleOptions.Signals. The signal is sent all the same, because a newer version may
// receive it.
type signalWarner struct {
	log *slog.Logger

	mu       sync.Mutex
	warnedAt map[routedSignal]time.Time // at most signalsWarnedMax
}

type routedSignal struct {
	route journal.Route
	name  string
}

// signalsWarnedMax bounds what is remembered: names come from callers.
const signalsWarnedMax = 1_000

// warn logs, at most once in warnEvery for each workflow and name.
func (w *signalWarner) warn(run journal.RunID, route journal.Route, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	signal := routedSignal{route, name}
	if time.Since(w.warnedAt[signal]) < warnEvery {
		return
	}
	if w.warnedAt == nil || len(w.warnedAt) >= signalsWarnedMax {
		w.warnedAt = map[routedSignal]time.Time{}
	}
	w.warnedAt[signal] = time.Now()
	w.log.Warn("the workflow does not receive signals of this name, as its registration says; the signal was sent",
		logkey.Signal, name, logkey.Run, run, logkey.Workflow, route.Workflow, logkey.Version, route.Version)
}

// noteSignal warns if the client's node has registered the workflow, and with other signals.
func (c *Client) noteSignal(run journal.RunID, route journal.Route, m *journal.Message) {
	if m.Kind == journal.MessageSignal && !c.node.receives(route, m.Name) {
		c.signals.warn(run, route, m.Name)
	}
}
