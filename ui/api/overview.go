package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/ui/record"
)

func overviewOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/overview", verbs: []string{"run count"}, summary: "Count what was started, ended and failed over time, what is open and stands still, and what waits for nodes, by workflow and version. It is of some seconds ago.",
			params: []param{text("window", "how far it goes back: 1h, 6h, 24h, 7d or 30d; default 24h")}, answer: reflect.TypeFor[record.Overview](), do: showOverview},
	}
}

// showOverview gives all readers one overview. What Allow says of a run is about one actor, so with
// it readers share the runs that are counted, and each counts those that it may see.
func showOverview(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	window := "24h"
	if i := c.word("window", record.Windows); i >= 0 {
		window = record.Windows[i]
	}
	if c.wrong != nil {
		return nil, c.wrong
	}
	if c.h.o.Allow == nil {
		return c.h.shared.get(c.ctx, "overview "+window, sharedFor, c.h.o.Timeout, func(ctx context.Context) (any, error) {
			waits, err := c.h.backlog(ctx)
			if err != nil {
				return nil, err
			}
			return record.OverviewOf(window, c.h.now(), waits, func(q journal.Aggregate) (journal.Aggregated, error) { return c.h.client.Aggregate(ctx, q) })
		})
	}
	c.scans = overviewMax
	waits, err := waitsShared(c)
	if err != nil {
		return nil, err
	}
	return record.OverviewOf(window, c.h.now(), waits, func(q journal.Aggregate) (journal.Aggregated, error) {
		return c.count(q, func(f journal.ListFilter) (journal.RunPage, error) { return listShared(c, f) })
	})
}

// backlog is what waits for nodes, nil if the API cannot tell.
func (h *handler) backlog(ctx context.Context) ([]driver.Backlog, error) {
	if h.o.Backlog == nil {
		return nil, nil
	}
	return h.o.Backlog(ctx)
}

// waitsShared is what waits for nodes, nil if the actor may not know of it.
func waitsShared(c *call) ([]driver.Backlog, error) {
	if !c.allows("queue list", nil) {
		return nil, nil
	}
	waits, err := c.h.shared.get(c.ctx, "backlog", sharedFor, c.h.o.Timeout, func(ctx context.Context) (any, error) { return c.h.backlog(ctx) })
	list, _ := waits.([]driver.Backlog)
	return list, err
}

// listShared lists a page that all actors share, whatever they may see of it.
func listShared(c *call, f journal.ListFilter) (journal.RunPage, error) {
	name := fmt.Sprint("runs ", f.Since.UnixMicro(), " ", f.Cursor)
	if f.Status != nil {
		name += " " + f.Status.String()
	}
	if f.State != nil {
		name += " " + f.State.String()
	}
	page, err := c.h.shared.get(c.ctx, name, sharedFor, c.h.o.Timeout, func(ctx context.Context) (any, error) { return c.h.client.List(ctx, f) })
	runs, _ := page.(journal.RunPage)
	return runs, err
}
