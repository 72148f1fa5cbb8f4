package runtime

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/journal"
)

// TestSignalsOfNodes: a signal is warned of only if each live node that serves the route lists
// signals, and none of them this one. What is not known is asked once in a while, however many
// signals are sent.
func TestSignalsOfNodes(t *testing.T) {
	route, other := journal.Route{Queue: "q", Workflow: "w", Version: 1}, journal.Route{Queue: "q", Workflow: "w", Version: 2}
	node := func(r journal.Route, names ...string) journal.Node {
		n := journal.Node{Routes: []journal.Route{r}}
		if len(names) > 0 {
			n.Signals = map[journal.Route][]string{r: names}
		}
		return n
	}
	for name, c := range map[string]struct {
		nodes []journal.Node
		err   error
		warns bool
	}{
		"no node":                      {},
		"listed":                       {nodes: []journal.Node{node(route, "stop", "go")}},
		"not listed":                   {nodes: []journal.Node{node(route, "stop")}, warns: true},
		"listed by one of two":         {nodes: []journal.Node{node(route, "stop"), node(route, "go")}},
		"listed by neither":            {nodes: []journal.Node{node(route, "stop"), node(route, "wait")}, warns: true},
		"one lists nothing":            {nodes: []journal.Node{node(route, "stop"), node(route)}},
		"the first lists nothing":      {nodes: []journal.Node{node(route), node(route, "stop")}},
		"another version lists others": {nodes: []journal.Node{node(other, "stop")}},
		"the store is away":            {nodes: []journal.Node{node(route, "stop")}, err: errors.New("away")},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log strings.Builder
			asked := 0
			w := &signalWarner{log: slog.New(slog.NewTextHandler(&log, nil)), nodes: func(context.Context) ([]journal.Node, error) {
				asked++
				return c.nodes, c.err
			}}
			for range 3 {
				w.check(journal.RunID{1}, routedSignal{route, "go"})
				synctest.Wait()
			}
			if got := strings.Count(log.String(), "does not receive"); got > 1 || got == 1 != c.warns {
				t.Errorf("%s: %d warnings", name, got)
			}
			if c.err == nil && asked != 1 {
				t.Errorf("%s: asked %d times", name, asked)
			}
		})
	}
}
