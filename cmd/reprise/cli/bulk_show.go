package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/ui/record"
)

func bulkWatch(a *app) *cobra.Command {
	c := a.oneRun(&cobra.Command{
		Use: "watch JOB", Short: "Go on with a job of bulk, and wait until it ends",
		Long: `Go on with a job of bulk, and wait until it ends: this process executes it, unless another
one does already. JOB is the id of the job, or key=KEY.`,
		RunE: a.serves(func(c *call, args []string) error {
			job, err := jobOf(c, args[0])
			if err != nil {
				return err
			}
			return c.followJob(job)
		}),
	})
	waitsForEver(a, c)
	return printing(c, "bulk")
}

// jobOf finds the job that an argument names.
func jobOf(c *call, arg string) (journal.RunID, error) {
	job, err := c.run(arg)
	if err != nil {
		return job, err
	}
	run, err := c.rowOf(job)
	if err == nil && run.Workflow != bulk.Workflow {
		err = usage(c.Command, "run %s is no job of bulk, but of workflow %s; run watch is for it", job, oneLine(run.Workflow, 100))
	}
	return job, err
}

var outcomeColumns = []column[record.Outcome]{
	{"RUN", func(_ *printer, o *record.Outcome) string { return o.Run }},
	{"WHAT", func(_ *printer, o *record.Outcome) string { return o.What }},
	{"AT", func(p *printer, o *record.Outcome) string { return p.at(o.At) }},
	{"ERROR", func(_ *printer, o *record.Outcome) string { return oneLine(o.Error, 200) }},
}

func bulkShow(a *app) *cobra.Command {
	var f bulk.OutcomeFilter
	c := a.oneRun(&cobra.Command{
		Use: "show JOB", Short: "List what a job of bulk has done to each of its runs",
		Long: `List what a job of bulk has done to each of its runs, in the order in which it came to them,
while it goes on and afterwards. JOB is the id of the job, or key=KEY. bulk VERB --failures-of
JOB acts on those that failed, when the job has ended. What a job did behind the point to
which an operator has reset or retried it is in the audit alone.`,
		Example: "  reprise bulk show key=close-shop-7 --failures\n  reprise bulk show key=close-shop-7 --failures --limit 0 -o jsonl",
		RunE: a.reads(func(c *call, args []string) error {
			if f.Limit < 0 {
				return usage(c.Command, "--limit %d is negative", f.Limit)
			}
			job, err := jobOf(c, args[0])
			if err != nil {
				return err
			}
			return tellOutcomes(c, job, f)
		}),
	})
	c.Flags().BoolVar(&f.Failures, "failures", false, "only runs that failed")
	c.Flags().IntVar(&f.Limit, "limit", 50, "how many runs; 0 for all")
	c.Flags().StringVar(&f.Cursor, "cursor", "", "go on behind the page that gave this")
	return printing(c, "outcomePage, with jsonl an outcome a line")
}

// tellOutcomes prints what came of the runs of a job.
func tellOutcomes(c *call, job journal.RunID, f bulk.OutcomeFilter) error {
	list, next, err := paged(c, f.Cursor, f.Limit, func(cursor string, limit int) (list []record.Outcome, next string, err error) {
		f.Cursor, f.Limit = cursor, limit
		got, err := bulk.Outcomes(c.ctx, c.client, job, &f)
		for i := range got.Outcomes {
			list = append(list, record.OutcomeOf(&got.Outcomes[i]))
		}
		return list, got.Next, err
	})
	switch {
	case err != nil || c.out.format == formatLines:
		return err
	case c.out.format == formatJSON:
		return c.out.object(record.OutcomePage{Outcomes: list, Next: next})
	}
	return printTable(c.out, outcomeColumns, list)
}

// previewJob says what a job would do: to how many runs, and of verbs that go back what to the
// first ones.
func previewJob(c *call, job bulk.Job, rec *record.Bulk) error {
	var code *runtime.Node
	if c.a.o.Register != nil {
		code = c.node()
	}
	list, err := bulk.Preview(c.ctx, c.client, code, job)
	if err != nil {
		return err
	}
	c.records.Preview(rec, list)
	err = printOne(c.out, rec, func(_ *printer, r *record.Bulk) string { return bulkPlan(r) + "; nothing was done\n" })
	if err != nil || c.a.output != formatTable {
		return err
	}
	for i := range rec.Would {
		r := &rec.Would[i]
		if _, err := fmt.Fprintf(c.out.w, "\n%s: would begin with %d events\n", r.Run, r.Kept); err != nil {
			return err
		}
		if err := plannedSteps(c.out, r); err != nil {
			return err
		}
	}
	for _, x := range rec.Failures {
		if _, err := fmt.Fprintf(c.out.w, "\n%s: would fail: %s\n", x.Run, oneLine(x.Error, 200)); err != nil {
			return err
		}
	}
	if n := len(list); n > 0 && n < rec.Runs {
		c.note("these are the first %d runs", n)
	}
	return nil
}
