package api

import (
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

func fleetOperations() []*operation {
	return []*operation{
		{method: http.MethodGet, path: "/nodes", verbs: []string{"node list"}, summary: "List live nodes and what they serve.", answer: reflect.TypeFor[[]record.Node](), do: listNodes},
		{method: http.MethodPost, path: "/nodes/{node}/drain", verbs: []string{"node drain"}, writes: true, body: reflect.TypeFor[reasonRequest](), answer: reflect.TypeFor[record.Node](),
			summary: "Let a node hand back its runs and leave, and wait until it has left. It is named by its number, or by its name if only one has it.", do: drainNode},
		{method: http.MethodGet, path: "/workflows", verbs: []string{"workflow list"}, summary: "List the workflows, versions and queues that live nodes serve.",
			answer: reflect.TypeFor[[]record.Served](), do: listWorkflows},
		{method: http.MethodGet, path: "/workflows/{workflow}", verbs: []string{"workflow show"}, summary: "Show what live nodes serve of a workflow, with the types of its input, its output and its messages as JSON Schema.",
			answer: reflect.TypeFor[record.Workflow](), do: showWorkflow},
		{method: http.MethodGet, path: "/queues", verbs: []string{"queue list"}, summary: "List what waits for a node, by queue, workflow and version.",
			answer: reflect.TypeFor[[]record.Queue](), do: listQueues},
		{method: http.MethodGet, path: "/audit", verbs: []string{"audit"}, summary: "List what operators have done, newest first.",
			params: []param{text("run", "of this run: an id, also of a deleted run, or key=KEY of one that is not deleted"), text("actor", "by this actor"), text("verb", "of this verb: pause, terminate and so on"),
				limitParam, number("before", "only entries with smaller numbers: the last number of the page before")},
			answer: reflect.TypeFor[[]record.Audit](), do: listAudit},
		{method: http.MethodGet, path: "/openapi.json", verbs: []string{"openapi"}, summary: "This description.", do: func(c *call) (any, error) { return c.h.describe(), nil }},
	}
}

func (c *call) nodes() ([]journal.Node, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	return c.h.journal.Store().Nodes(c.ctx)
}

func listNodes(c *call) (any, error) {
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
	return record.NodesOf(nodes), nil
}

func drainNode(c *call) (any, error) {
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
	arg := c.r.PathValue("node")
	var found []*journal.Node
	for i := range nodes {
		if n := &nodes[i]; n.Name == arg || strconv.Itoa(int(n.ID)) == arg {
			found = append(found, n)
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("node %q, by number or name: %w", arg, journal.ErrNoNode)
	case 1:
	default:
		return nil, refuse(invalidRequest, "%d live nodes are called %q: name one by its number, which GET nodes lists", len(found), arg)
	}
	if err := c.h.client.DrainNode(c.because(c.body.(*reasonRequest).Reason), found[0].ID); err != nil {
		return nil, err
	}
	rec := record.NodeOf(found[0])
	rec.Draining = true
	return &rec, nil
}

func listWorkflows(c *call) (any, error) {
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
	pauses, err := c.h.client.Pauses(c.ctx)
	if err != nil {
		return nil, err
	}
	return record.ServedOf(nodes, pauses), nil
}

func showWorkflow(c *call) (any, error) {
	name := c.r.PathValue("workflow")
	if err := c.may(c.op.verb(), &journal.Run{Workflow: name}); err != nil {
		return nil, err
	}
	nodes, err := c.h.journal.Store().Nodes(c.ctx)
	if err != nil {
		return nil, err
	}
	pauses, err := c.h.client.Pauses(c.ctx)
	if err != nil {
		return nil, err
	}
	rec := record.WorkflowOf(name, nodes, pauses)
	if rec == nil {
		return nil, howTo(notFound, "GET workflows lists those that are served", "no live node serves workflow %q", name)
	}
	return rec, nil
}

func listQueues(c *call) (any, error) {
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
	if c.h.o.Backlog == nil {
		return nil, howTo(unsupported, "give the API a way to ask: Options.Backlog", "this API cannot tell what waits")
	}
	waits, err := c.h.o.Backlog(c.ctx)
	if err != nil {
		return nil, err
	}
	pauses, err := c.h.client.Pauses(c.ctx)
	if err != nil {
		return nil, err
	}
	return record.QueuesOf(waits, nodes, pauses), nil
}

func listAudit(c *call) (any, error) {
	if err := c.may(c.op.verb(), nil); err != nil {
		return nil, err
	}
	f := journal.AuditFilter{Actor: c.text("actor"), Verb: c.text("verb"), Before: c.number("before", 0, 1, math.MaxInt64)}
	limit := c.limit()
	if c.wrong != nil {
		return nil, c.wrong
	}
	if run := c.text("run"); run != "" {
		find := c.find
		if strings.HasPrefix(run, keyPrefix) { // an id may be that of a deleted run, which has entries
			find = func(run string) (journal.RunID, error) {
				row, err := c.rowOf(run)
				if err != nil {
					return journal.RunID{}, err
				}
				return row.ID, nil
			}
		}
		var err error
		if f.Run, err = find(run); err != nil {
			return nil, err
		}
	}
	entries, all, err := c.audit(f, limit)
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 && !all { // an empty list would look like the end
		return nil, howTo(invalidRequest, "name a run, an actor or a verb", "the actor may see none of the newest %d entries that match", scanMax)
	}
	list := []record.Audit{}
	for i := range entries {
		list = append(list, record.AuditOf(&entries[i]))
	}
	return list, nil
}

// audit returns entries that the actor may see: those about runs that it may see, and those about
// no run. all is false if it found fewer than limit in what one call looks at, and there may be
// more.
func (c *call) audit(f journal.AuditFilter, limit int) (list []journal.AuditEntry, all bool, err error) {
	f.Limit = limit
	if c.h.o.Allow == nil {
		list, err = c.h.client.Audit(c.ctx, f)
		return list, true, err
	}
	for looked := 0; looked < c.scans; {
		f.Limit = min(max(limit, scanPage), journal.ListMax)
		page, err := c.h.client.Audit(c.ctx, f)
		if err != nil || len(page) == 0 {
			return list, true, err
		}
		seen, err := c.seenIn(page)
		if err != nil {
			return nil, false, err
		}
		for _, e := range page {
			if e.Run.IsZero() || seen[e.Run] {
				list = append(list, e)
			}
			if len(list) == limit {
				return list, true, nil
			}
			f.Before = e.Number
		}
		looked += len(page)
	}
	return list, false, nil
}

// seenIn tells which runs of entries the actor may see. Of a run that was deleted only what the
// entry has is known.
func (c *call) seenIn(entries []journal.AuditEntry) (map[journal.RunID]bool, error) {
	var ids []journal.RunID
	for _, e := range entries {
		if !e.Run.IsZero() {
			ids = append(ids, e.Run)
		}
	}
	seen, err := c.seen(ids)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if _, exists := seen[e.Run]; !exists && !e.Run.IsZero() {
			seen[e.Run] = c.sees(&journal.Run{ID: e.Run, Workflow: e.Workflow})
		}
	}
	return seen, nil
}
