package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// viewGroup has the verbs about saved views.
func viewGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "view", Short: "Keep addresses of the dashboard's pages",
		Long: `Keep addresses of the dashboard's pages, such as a list of runs with its filter, under names that
everybody sees.`}
	g.AddCommand(viewList(a), viewSave(a), viewDelete(a))
	return g
}

var viewColumns = []column[record.View]{
	{"VIEW", func(_ *printer, r *record.View) string { return oneLine(r.Name, 60) }},
	{"SAVED", func(p *printer, r *record.View) string { return p.at(r.At) }},
	{"BY", func(_ *printer, r *record.View) string { return oneLine(r.Actor, 40) }},
	{"ADDRESS", func(_ *printer, r *record.View) string { return oneLine(r.Address, 200) }},
}

func viewList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List saved views by their names", Args: cobra.NoArgs,
		RunE: a.reads(func(c *call, _ []string) error {
			list, err := runtime.Views(c.ctx, c.client)
			if err != nil {
				return err
			}
			return printList(c.out, viewColumns, record.ViewsOf(list))
		}),
	}
	return printing(c, "list of view")
}

func viewSave(a *app) *cobra.Command {
	var reason string
	c := a.views(&cobra.Command{
		Use: "save VIEW ADDRESS", Short: "Save an address under a name, instead of the one that the name had", Args: cobra.ExactArgs(2),
		Example: "  reprise view save 'failed since yesterday' 'runs?where=status+%3D+failed+and+closed+%3E+-1d'",
		RunE: a.writes(func(c *call, args []string) error {
			return viewChanged(c, args[0], "saved", runtime.SaveView(runtime.WithReason(c.ctx, reason), c.client, args[0], args[1]))
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "viewChange")
}

func viewDelete(a *app) *cobra.Command {
	var reason string
	c := a.views(&cobra.Command{
		Use: "delete VIEW", Short: "Delete a saved view", Args: cobra.ExactArgs(1),
		RunE: a.writes(func(c *call, args []string) error {
			return viewChanged(c, args[0], "deleted", runtime.DeleteView(runtime.WithReason(c.ctx, reason), c.client, args[0]))
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "viewChange")
}

// viewChanged prints what was done to a view, or the error.
func viewChanged(c *call, name, done string, err error) error {
	if err != nil {
		return err
	}
	rec := record.ViewChange{Name: name, Done: done}
	return printOne(c.out, &rec, func(_ *printer, r *record.ViewChange) string { return fmt.Sprintf("%s: %s\n", clean(r.Name), r.Done) })
}

// views completes the name of a view.
func (a *app) views(c *cobra.Command) *cobra.Command {
	c.ValidArgsFunction = a.completeFirst(func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.offer(cmd, func(c *call) (list []cobra.Completion, err error) {
			all, err := runtime.Views(c.ctx, c.client)
			for i := range all {
				list = append(list, cobra.CompletionWithDesc(all[i].Name, oneLine(all[i].Address, 60)))
			}
			return list, err
		})
	})
	return c
}
