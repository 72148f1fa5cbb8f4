package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/ui/record"
)

func runKeep(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "keep RUN FILE", Short: "Keep a run's history in a file that tests replay", Args: cobra.ExactArgs(2),
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		Long: `Write the history of a run's present generation to a file, as replaytest.Golden reads it: a
test replays it with the code of each day. The file has the run's inputs and results as they
are. A file that holds another history is left alone, and the exit code is 4.`,
		Example: "  reprise run keep key=order:9182 testdata/histories/order-refund.json",
		RunE: a.reads(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			d, err := c.client.Describe(c.ctx, run)
			if err != nil {
				return err
			}
			events, err := c.client.HistoryOf(c.ctx, run, d.Run.Generation)
			if err != nil {
				return err
			}
			if err := replaytest.WriteFile(args[1], replaytest.Of(d.Run, events)); err != nil {
				return failed(ExitRefused, "", "keep the history of run %s: %v", run, err)
			}
			rec := record.Kept{Run: run.String(), Generation: int32(d.Run.Generation), Events: int32(len(events)), File: args[1]}
			return printOne(c.out, &rec, func(_ *printer, r *record.Kept) string {
				return fmt.Sprintf("%s: %d events of generation %d are in %s\n", r.Run, r.Events, r.Generation, r.File)
			})
		}),
	}
	return printing(c, "kept")
}
