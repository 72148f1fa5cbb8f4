package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

var publishedColumns = []column[record.Published]{
	{"NAME", func(_ *printer, r *record.Published) string { return oneLine(r.Name, 60) }},
	{"VALUE", func(_ *printer, r *record.Published) string { return payloadText(r.Value, payloadMax) }},
}

func runPublished(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "published RUN [NAME]", Short: "Print the values that a run has published", Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: a.reads(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			page, err := c.client.List(c.ctx, journal.ListFilter{IDs: []journal.RunID{run}})
			if err != nil {
				return err
			}
			if len(page.Runs) == 0 {
				return fmt.Errorf("run %s: %w", run, journal.ErrNotFound)
			}
			list := c.records.Published(&page.Runs[0], strings.Join(args[1:], ""))
			if len(list) == 0 && len(args) > 1 {
				return fmt.Errorf("value %q of run %s: %w", args[1], run, runtime.ErrNotPublished)
			}
			return printList(c.out, publishedColumns, list)
		}),
	}
	return printing(c, "list of published")
}
