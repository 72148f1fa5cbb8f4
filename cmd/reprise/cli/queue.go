package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/ui/record"
)

var queueColumns = []column[record.Queue]{
	{"QUEUE", func(_ *printer, r *record.Queue) string { return oneLine(r.Queue, 40) }},
	{"WORKFLOW", func(_ *printer, r *record.Queue) string { return oneLine(r.Workflow, 60) }},
	{"V", func(_ *printer, r *record.Queue) string { return strconv.Itoa(int(r.Version)) }},
	{"DUE", func(_ *printer, r *record.Queue) string {
		if r.Capped {
			return strconv.Itoa(r.Due) + "+"
		}
		return strconv.Itoa(r.Due)
	}},
	{"OLDEST", func(p *printer, r *record.Queue) string {
		if r.OldestAt == nil {
			return "-"
		}
		return p.at(*r.OldestAt)
	}},
	{"NODES", func(_ *printer, r *record.Queue) string {
		if len(r.Nodes) == 0 {
			return "none"
		}
		return oneLine(strings.Join(r.Nodes, " "), 80)
	}},
	{"PAUSED", func(_ *printer, r *record.Queue) string { return pausedColumn(r.Paused) }},
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
			waits, err := c.backlog()
			if err != nil {
				return err
			}
			pauses, err := c.client.Pauses(c.ctx)
			if err != nil {
				return err
			}
			return printList(c.out, queueColumns, record.QueuesOf(waits, nodes, pauses))
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

// backlog is what waits for nodes.
func (c *call) backlog() ([]driver.Backlog, error) {
	switch s := c.store.(type) {
	case *postgres.Store:
		return postgres.Backlog(c.ctx, s)
	case *sqlite.Store:
		return sqlite.Backlog(c.ctx, s)
	}
	return nil, errNoBacklog
}
