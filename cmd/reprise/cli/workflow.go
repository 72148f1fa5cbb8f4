package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

var servedColumns = []column[record.Served]{
	{"WORKFLOW", func(_ *printer, r *record.Served) string { return oneLine(r.Workflow, 60) }},
	{"V", func(_ *printer, r *record.Served) string { return strconv.Itoa(int(r.Version)) }},
	{"QUEUE", func(_ *printer, r *record.Served) string { return oneLine(r.Queue, 40) }},
	{"NODES", func(_ *printer, r *record.Served) string { return strconv.Itoa(len(r.Nodes)) }},
	{"NAMES", servedNames},
	{"PAUSED", func(_ *printer, r *record.Served) string { return pausedColumn(r.Paused) }},
}

// workflowGroup has the verbs about workflows.
func workflowGroup(a *app) *cobra.Command {
	var served bool
	g := &cobra.Command{Use: "workflow", Short: "Look at the workflows that nodes serve, pause them and resume them"}
	list := &cobra.Command{
		Use: "list", Short: "List the workflows, versions and queues that live nodes serve, and those of open runs that none serves", Args: cobra.NoArgs,
		Long: `List the workflows, versions and queues that live nodes serve, and behind them those that have
open runs and that no live node serves, with how many runs. These are looked for among all open
runs, until there are 10,000 of them, and for ten seconds at most; --served leaves them out.`,
		RunE: a.reads(func(c *call, _ []string) error {
			nodes, err := c.nodes()
			if err != nil {
				return err
			}
			pauses, err := c.client.Pauses(c.ctx)
			if err != nil {
				return err
			}
			list := record.ServedOf(nodes, pauses)
			if !served {
				if list, err = addUnserved(c, list, nodes); err != nil {
					return err
				}
			}
			return printList(c.out, servedColumns, list)
		}),
	}
	list.Flags().BoolVar(&served, "served", false, "only those that live nodes serve, or that are paused")
	g.AddCommand(printing(list, "list of served"), workflowShow(a))
	scopeVerbs(a, g, "WORKFLOW", "a workflow", func(s *journal.Scope, arg string) { s.Workflow = arg }, func(c *cobra.Command, s *journal.Scope) {
		c.Flags().Int32Var(&s.Version, "version", 0, "only runs of this version; 0 for all")
		c.Flags().StringVar(&s.Queue, "queue", "", "only runs in this queue")
	})
	return g
}

// servedNames are the nodes that serve a workflow, or who waits for one.
func servedNames(_ *printer, r *record.Served) string {
	if r.Open > 0 {
		return fmt.Sprintf("none, for %d open runs", r.Open)
	}
	return oneLine(strings.Join(r.Nodes, " "), 120)
}

// addUnserved adds what has open runs and is served by no live node. A pause of exactly that has a
// line already.
func addUnserved(c *call, list []record.Served, nodes []journal.Node) ([]record.Served, error) {
	more, capped, err := c.unserved(nodes)
	if errors.Is(err, errUncounted) {
		c.note("%v in %s: they are not listed", errUncounted, unservedTime)
		return list, nil
	}
	if err != nil {
		return nil, err
	}
	if capped {
		c.note("there are more open runs that no live node serves than were counted")
	}
	for _, m := range more {
		same := func(s record.Served) bool { return servedRoute(&s) == servedRoute(&m) }
		if i := slices.IndexFunc(list, same); i >= 0 {
			list[i].Open = m.Open
			continue
		}
		list = append(list, m)
	}
	return list, nil
}

func workflowShow(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "show WORKFLOW", Short: "Show what live nodes serve of a workflow, with its types as JSON Schema", Args: cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst(a.completeWorkflows),
		RunE: a.reads(func(c *call, args []string) error {
			nodes, err := c.nodes()
			if err != nil {
				return err
			}
			pauses, err := c.client.Pauses(c.ctx)
			if err != nil {
				return err
			}
			rec := record.WorkflowOf(args[0], nodes, pauses)
			if rec == nil {
				return failed(ExitNotFound, "workflow list shows those that are served", "no live node serves workflow %q", args[0])
			}
			return printOne(c.out, rec, workflowText)
		}),
	}
	return printing(c, "workflow")
}

// workflowText is a workflow for people.
func workflowText(_ *printer, r *record.Workflow) string {
	var f fields
	f.add("workflow", oneLine(r.Workflow, 100))
	for i := range r.Versions {
		v := &r.Versions[i]
		f.head(fmt.Sprintf("version %d", v.Version))
		for _, s := range v.Served {
			f.item("queue %s, %d nodes", oneLine(s.Queue, 60), len(s.Nodes))
		}
		for _, t := range append([]record.MessageType{{Kind: "input", Input: v.Input}, {Kind: "output", Input: v.Output}}, v.Messages...) {
			what := oneLine(t.Kind+" "+t.Name, 60)
			if t.Input != nil {
				f.item("%s  %s", what, clean(string(t.Input)))
			}
			if t.Output != nil {
				f.item("%s, its answer  %s", what, clean(string(t.Output)))
			}
		}
	}
	return f.b.String()
}
