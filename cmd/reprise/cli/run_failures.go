package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

func runFailures(a *app) *cobra.Command {
	var f filterFlags
	var most int
	c := &cobra.Command{
		Use: "failures", Short: "Count failed and blocked runs by class and step", Args: cobra.NoArgs,
		Long: `Count the failed, blocked and quarantined runs that flags select, by workflow, version, class of
the error and step, with the newest run of each group as an example. A + behind a number
says that there are more runs than --cap, those that were started first.`,
		Example: "  reprise run failures --since 24h\n  reprise run failures --workflow order -o json",
		RunE: a.reads(func(c *call, _ []string) error {
			lf, err := f.filter(c)
			if err != nil {
				return err
			}
			if most < 1 || most > record.FailuresMax {
				return usage(c.Command, "--cap %d must be from 1 to %d", most, record.FailuresMax)
			}
			rec, err := record.FailuresOf(c.records, lf, most, func(f journal.ListFilter) (journal.RunPage, error) {
				page, err := c.client.List(c.ctx, f)
				c.out.now = page.Now
				return page, err
			}, nil)
			if err != nil {
				return err
			}
			if c.a.output != formatTable {
				return printOne(c.out, &rec, nil)
			}
			return printTable(c.out, failureColumns(&rec), rec.Groups)
		}),
	}
	f.add(a, c)
	c.Flags().IntVar(&most, "cap", record.FailuresDefault, "how many runs of each status are counted at most, those that were started last")
	return printing(c, "failures")
}

func failureColumns(rec *record.Failures) []column[record.FailureGroup] {
	return []column[record.FailureGroup]{
		{"RUNS", func(_ *printer, g *record.FailureGroup) string {
			if rec.Capped {
				return strconv.Itoa(g.Runs) + "+"
			}
			return strconv.Itoa(g.Runs)
		}},
		{"WORKFLOW", func(_ *printer, g *record.FailureGroup) string { return oneLine(g.Workflow, 40) }},
		{"V", func(_ *printer, g *record.FailureGroup) string { return strconv.Itoa(int(g.Version)) }},
		{"STATUS", func(_ *printer, g *record.FailureGroup) string { return g.Status }},
		{"STEP", func(_ *printer, g *record.FailureGroup) string { return oneLine(g.Step, 40) }},
		{"CLASS", func(_ *printer, g *record.FailureGroup) string { return oneLine(g.Class, 40) }},
		{"FIRST", func(p *printer, g *record.FailureGroup) string { return p.maybe(g.FirstAt) }},
		{"LAST", func(p *printer, g *record.FailureGroup) string { return p.maybe(g.LastAt) }},
		{"EXAMPLE", func(_ *printer, g *record.FailureGroup) string { return g.Example }},
		{"PROBLEM", func(_ *printer, g *record.FailureGroup) string { return oneLine(g.Problem, 80) }},
	}
}
