package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

var nodeColumns = []column[record.Node]{
	{"ID", func(_ *printer, n *record.Node) string { return strconv.Itoa(int(n.ID)) }},
	{"NAME", func(_ *printer, n *record.Node) string { return oneLine(n.Name, 60) }},
	{"JOINED", func(p *printer, n *record.Node) string { return p.at(n.StartedAt) }},
	{"LEASE ENDS", func(p *printer, n *record.Node) string {
		if n.Draining {
			return p.at(n.ExpiresAt) + ", drains"
		}
		return p.at(n.ExpiresAt)
	}},
	{"SERVES", func(_ *printer, n *record.Node) string {
		var list []string
		for _, r := range n.Routes {
			list = append(list, fmt.Sprintf("%s/%d", r.Workflow, r.Version))
		}
		return oneLine(strings.Join(list, " "), 120)
	}},
}

// nodeGroup has the verbs about nodes.
func nodeGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "node", Short: "Look at the nodes that execute runs, and drain one"}
	list := &cobra.Command{
		Use: "list", Short: "List live nodes and what they serve", Args: cobra.NoArgs,
		RunE: a.reads(func(c *call, _ []string) error {
			nodes, err := c.nodes()
			if err != nil {
				return err
			}
			return printList(c.out, nodeColumns, record.NodesOf(nodes))
		}),
	}
	g.AddCommand(printing(list, "list of node"), nodeDrain(a))
	return g
}

// nodeDrain is the verb that makes a node leave.
func nodeDrain(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "drain NODE", Short: "Let a node hand back its runs and leave", Args: cobra.ExactArgs(1),
		Long: `Let a node hand back its runs and leave, as when its process is asked to end: it takes no
more runs, its running steps may end within its own time for that, and other nodes go on
with its runs. The verb waits until the node has left; given up, the node leaves all the
same. What its process does then is the program's business: most end.

NODE is the number of a live node or its name, if only one has it.`,
		ValidArgsFunction: a.completeFirst(a.completeNodes),
		RunE: a.writes(func(c *call, args []string) error {
			n, err := liveNode(c, args[0])
			if err != nil {
				return err
			}
			if err := c.client.DrainNode(runtime.WithReason(c.ctx, reason), n.ID); err != nil {
				return err
			}
			rec := record.NodeOf(n)
			rec.Draining = true
			return printOne(c.out, &rec, func(_ *printer, r *record.Node) string {
				return fmt.Sprintf("node %d, %s, has left\n", r.ID, oneLine(r.Name, 60))
			})
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "node")
}

// liveNode finds the live node that an argument names.
func liveNode(c *call, arg string) (*journal.Node, error) {
	nodes, err := c.nodes()
	if err != nil {
		return nil, err
	}
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
		return found[0], nil
	}
	return nil, usage(c.Command, "%d live nodes are called %q: name one by its number, which node list shows", len(found), arg)
}

// completeNodes offers the numbers of live nodes, with their names.
func (a *app) completeNodes(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.offer(c, func(c *call) (list []cobra.Completion, err error) {
		nodes, err := c.nodes()
		for i := range nodes {
			list = append(list, cobra.CompletionWithDesc(strconv.Itoa(int(nodes[i].ID)), oneLine(nodes[i].Name, 60)))
		}
		return list, err
	})
}

// nodes lists the live nodes, and learns the store's clock on the way: leases are by it.
func (c *call) nodes() ([]journal.Node, error) {
	page, err := c.client.List(c.ctx, journal.ListFilter{Limit: 1})
	if err != nil {
		return nil, err
	}
	c.out.now = page.Now
	return c.store.Nodes(c.ctx)
}
