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
	Paused   string     `json:"paused,omitempty" doc:"who has paused it, and why"`
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
	{"PAUSED", func(_ *printer, r *queueRecord) string { return pausedColumn(r.Paused) }},
}

// queueGroup has the verbs about queues.
func queueGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "queue", Short: "Look at what waits for nodes, pause it and resume it"}
	list := &cobra.Command{
		Use: "list", Short: "List what waits for a node, by queue, workflow and version", Args: cobra.NoArgs,
		Long: `List what waits for a node, by queue, workflow and version: how many runs are due, and
since when the oldest is. What live nodes serve is listed even if nothing waits, and so is
what is paused. It reads heads of an index, so it costs the same whatever waits.`,
		RunE: a.reads(func(c *call, _ []string) error {
			nodes, err := c.nodes()
			if err != nil {
				return err
			}
			list, err := c.queues(nodes)
			if err != nil {
				return err
			}
			p, err := c.pauses()
			if err != nil {
				return err
			}
			for i := range list {
				list[i].Paused = p.of(journal.Route{Queue: list[i].Queue, Workflow: list[i].Workflow, Version: list[i].Version})
			}
			for _, q := range p.others() {
				list = append(list, queueRecord{Queue: q.Scope.Queue, Workflow: q.Scope.Workflow, Version: q.Scope.Version, Nodes: []string{}, Paused: pauseText(&q)})
			}
			return printList(c.out, queueColumns, list)
		}),
	}
	g.AddCommand(printing(list, "list of queue"))
	scopeVerbs(a, g, "QUEUE", "a queue", func(s *journal.Scope, arg string) { s.Queue = arg }, func(c *cobra.Command, s *journal.Scope) {
		c.Flags().StringVar(&s.Workflow, "workflow", "", "only runs of this workflow")
	})
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
