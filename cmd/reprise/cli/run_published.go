package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// publishedRecord is a value that a run has published.
type publishedRecord struct {
	Name  string         `json:"name" doc:"the name under which the run has published it"`
	Value *payloadRecord `json:"value,omitempty" doc:"the value, as of the run's last commit"`
}

var publishedColumns = []column[publishedRecord]{
	{"NAME", func(_ *printer, r *publishedRecord) string { return oneLine(r.Name, 60) }},
	{"VALUE", func(_ *printer, r *publishedRecord) string { return r.Value.text(payloadMax) }},
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
			list := []publishedRecord{}
			for _, p := range page.Runs[0].Published {
				if len(args) < 2 || args[1] == p.Name {
					list = append(list, publishedRecord{p.Name, c.payload(p.Value)})
				}
			}
			if len(list) == 0 && len(args) > 1 {
				return fmt.Errorf("value %q of run %s: %w", args[1], run, runtime.ErrNotPublished)
			}
			return printList(c.out, publishedColumns, list)
		}),
	}
	return printing(c, "list of published")
}
