package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/ui/record"
)

// A count of runs that no live node serves looks at every open run, until it has found as many as
// unservedMax: no index has the routes of runs that wait for a message. unservedTime bounds it.
const (
	unservedMax   = 10_000
	unservedTime  = 10 * time.Second
	unservedShown = 20 // routes; who has more of them starts a node first
	routeTerms    = 3  // of a condition that leaves a route out
)

// unserved counts the open runs that no live node serves, by route: those that are due, and those
// that wait for a signal, a child, a timer or an operator. capped says that there may be more.
func (c *call) unserved(nodes []journal.Node) (list []record.Served, capped bool, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, unservedTime)
	defer cancel()
	served := map[journal.Route]bool{}
	for i := range nodes {
		for _, r := range nodes[i].Routes {
			served[r] = true
		}
	}
	where, whole := exceptRoutes(served)
	q := journal.Aggregate{Filter: journal.ListFilter{Where: where}, Cap: unservedMax,
		By: []journal.Grouping{{Field: "workflow"}, {Field: "version"}, {Field: "queue"}}}
	if !whole { // what is served is among what is counted
		q.Cap = journal.AggregateMax
	}
	out, err := c.client.Aggregate(ctx, q)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && c.ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", errUncounted, err)
		}
		return nil, false, err
	}
	for _, g := range out.Groups {
		version, err := strconv.ParseInt(g.Values[1], 10, 32)
		if err != nil {
			return nil, false, fmt.Errorf("count of open runs: version %q: %w", g.Values[1], err)
		}
		r := journal.Route{Workflow: g.Values[0], Version: int32(version), Queue: g.Values[2]}
		if !served[r] {
			list = append(list, record.Served{Workflow: r.Workflow, Version: r.Version, Queue: r.Queue, Nodes: []string{}, Open: g.Runs})
		}
	}
	return list, out.Capped, nil
}

// errUncounted says that the count took too long. What was to be said beside it can be said.
var errUncounted = errors.New("the open runs are too many to look for those that no live node serves")

// exceptRoutes is a condition that selects the open runs of other routes, as far as a filter may be
// so long; whole says whether all of them are left out.
func exceptRoutes(served map[journal.Route]bool) (where string, whole bool) {
	where = "status = open"
	terms := 1
	for r := range served {
		out := " and not (" + routeCondition(r) + ")"
		if terms += routeTerms; terms > filter.TermsMax || len(where)+len(out) > filter.TextBytesMax {
			return where, false
		}
		where += out
	}
	return where, true
}

// routeCondition selects the runs of a route.
func routeCondition(r journal.Route) string {
	text := func(s string) string { return filter.Value{Kind: filter.KindText, Text: s}.String() }
	return fmt.Sprintf("workflow = %s and version = %d and queue = %s", text(r.Workflow), r.Version, text(r.Queue))
}

// retired are versions whose runs nobody can go on with, before that becomes pressing: they wait
// for a message or a time. due are routes of which that was said already.
func (d *doctor) retired(nodes []journal.Node, due map[journal.Route]bool) error {
	const check = "retired"
	list, capped, err := d.c.unserved(nodes)
	if errors.Is(err, errUncounted) {
		d.say(severityNote, check, "run count --where 'status = open' --by workflow --by version --by queue, with a longer --timeout", "%v in %s", errUncounted, unservedTime)
		return nil
	}
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s record.Served) bool { return due[servedRoute(&s)] })
	if len(list) == 0 {
		d.say(severityOK, check, "", "live nodes serve all runs that are open and not due")
		return nil
	}
	more := ""
	if capped {
		more = "at least "
	}
	for i := range list[:min(len(list), unservedShown)] {
		s := &list[i]
		d.say(severityWarning, check, "serve that version until these runs have ended: run list --where '"+strings.ReplaceAll("status = open and "+routeCondition(servedRoute(s)), "'", `'\''`)+"'",
			"%s%d open runs of workflow %s, version %d, queue %s wait for something else than a node, and no live node serves it", more, s.Open, s.Workflow, s.Version, s.Queue)
	}
	if left := len(list) - unservedShown; left > 0 {
		d.say(severityWarning, check, "workflow list has all of them", "and runs of %d more versions and queues", left)
	}
	return nil
}

func servedRoute(s *record.Served) journal.Route {
	return journal.Route{Workflow: s.Workflow, Version: s.Version, Queue: s.Queue}
}
