package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// queueRecord is what waits for a node on one route.
type queueRecord struct {
	Queue    string     `json:"queue" doc:"the queue"`
	Workflow string     `json:"workflow" doc:"name of the workflow"`
	Version  int32      `json:"version" doc:"version of the workflow"`
	Due      int        `json:"due" doc:"runs that wait for a node now"`
	Capped   bool       `json:"capped,omitempty" doc:"whether there are more: counting ends at 10000 of a priority"`
	OldestAt *time.Time `json:"oldest_at,omitempty" doc:"since when the one that has waited for longest is due"`
	Nodes    []string   `json:"nodes" doc:"names of the live nodes that serve it"`
}

var queueColumns = []column[queueRecord]{
	{"QUEUE", func(_ *printer, r *queueRecord) string { return oneLine(r.Queue, 40) }},
	{"WORKFLOW", func(_ *printer, r *queueRecord) string { return oneLine(r.Workflow, 60) }},
	{"V", func(_ *printer, r *queueRecord) string { return strconv.Itoa(int(r.Version)) }},
	{"DUE", func(_ *printer, r *queueRecord) string {
		if r.Capped {
			return strconv.Itoa(r.Due) + "+"
		}
		return strconv.Itoa(r.Due)
	}},
	{"OLDEST", func(p *printer, r *queueRecord) string {
		if r.OldestAt == nil {
			return "-"
		}
		return p.at(*r.OldestAt)
	}},
	{"NODES", func(_ *printer, r *queueRecord) string {
		if len(r.Nodes) == 0 {
			return "none"
		}
		return oneLine(strings.Join(r.Nodes, " "), 80)
	}},
}

// queueGroup has the verbs about queues.
func queueGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "queue", Short: "Look at what waits for nodes"}
	list := &cobra.Command{
		Use: "list", Short: "List what waits for a node, by queue, workflow and version", Args: cobra.NoArgs,
		Long: `List what waits for a node, by queue, workflow and version: how many runs are due, and
since when the oldest is. What live nodes serve is listed even if nothing waits. It reads
heads of an index, so it costs the same whatever waits.`,
		RunE: a.reads(func(c *call, _ []string) error {
			nodes, err := c.nodes()
			if err != nil {
				return err
			}
			list, err := c.queues(nodes)
			if err != nil {
				return err
			}
			return printList(c.out, queueColumns, list)
		}),
	}
	g.AddCommand(printing(list, "list of queue"))
	return g
}

// errNoBacklog is the answer of a store that a program brings, such as one in memory.
var errNoBacklog = &codedError{code: ExitFailed, text: "this store does not say what waits",
	how: "node list and run list show who is there and what is open"}

// queues joins what waits with who serves it.
func (c *call) queues(nodes []journal.Node) ([]queueRecord, error) {
	var waits []driver.Backlog
	var err error
	switch s := c.store.(type) {
	case *postgres.Store:
		waits, err = postgres.Backlog(c.ctx, s)
	case *sqlite.Store:
		waits, err = sqlite.Backlog(c.ctx, s)
	default:
		err = errNoBacklog
	}
	if err != nil {
		return nil, err
	}
	list := []queueRecord{}
	served := servedBy(nodes)
	for _, b := range waits {
		r := queueRecord{Queue: b.Route.Queue, Workflow: b.Route.Workflow, Version: b.Route.Version, Due: b.Due, Capped: b.Due >= driver.BacklogDueMax,
			OldestAt: moment(b.Oldest), Nodes: []string{}}
		served = slices.DeleteFunc(served, func(s servedRecord) bool {
			same := journal.Route{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version} == b.Route
			if same {
				r.Nodes = s.Nodes
			}
			return same
		})
		list = append(list, r)
	}
	for _, s := range served {
		list = append(list, queueRecord{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version, Nodes: s.Nodes})
	}
	return list, nil
}
