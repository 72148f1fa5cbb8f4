package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

var auditColumns = []column[record.Audit]{
	{"NUMBER", func(_ *printer, r *record.Audit) string { return strconv.FormatInt(r.Number, 10) }},
	{"AT", func(p *printer, r *record.Audit) string { return p.at(r.At) }},
	{"ACTOR", func(_ *printer, r *record.Audit) string { return oneLine(r.Actor, 40) }},
	{"VERB", func(_ *printer, r *record.Audit) string { return oneLine(r.Verb, 20) }},
	{"RUN", func(_ *printer, r *record.Audit) string { return pausedColumn(r.Run) }},
	{"WORKFLOW", func(_ *printer, r *record.Audit) string { return oneLine(r.Workflow, 40) }},
	{"REASON", func(_ *printer, r *record.Audit) string { return oneLine(r.Reason, 80) }},
	{"DETAIL", func(_ *printer, r *record.Audit) string { return oneLine(r.Detail, 80) }},
}

func auditVerb(a *app) *cobra.Command {
	var f journal.AuditFilter
	var run string
	c := &cobra.Command{
		Use: "audit", Short: "List what operators have done to runs, newest first", Args: cobra.NoArgs,
		Long: `List what operators have done to runs, newest first: each pause, resume, change of
labels or priority, retry, reset, fork, termination and deletion that has changed a run, by
whatever program. Entries of a run outlive it. Signals, updates and requests to cancel are in the run's history.`,
		RunE: a.reads(func(c *call, _ []string) (err error) {
			if f.Limit < 1 || f.Limit > journal.ListMax {
				return usage(c.Command, "--limit %d is not between 1 and %d", f.Limit, journal.ListMax)
			}
			if f.Before < 0 {
				return usage(c.Command, "--before %d is negative", f.Before)
			}
			if run != "" {
				if f.Run, err = c.run(run); err != nil {
					return err
				}
			}
			list, err := c.client.Audit(c.ctx, f)
			if err != nil {
				return err
			}
			records := []record.Audit{}
			for i := range list {
				records = append(records, record.AuditOf(&list[i]))
			}
			return printList(c.out, auditColumns, records)
		}),
	}
	fl := c.Flags()
	fl.StringVar(&run, "run", "", "of this run: an id, or key=KEY of one that is not deleted")
	fl.StringVar(&f.Actor, "actor", "", "by this actor")
	fl.StringVar(&f.Verb, "verb", "", strings.Join(record.AuditVerbs, ", "))
	fl.IntVar(&f.Limit, "limit", 50, "how many entries")
	fl.Int64Var(&f.Before, "before", 0, "only entries with smaller numbers: the last number of the page before")
	must(c.RegisterFlagCompletionFunc("run", a.completeRuns))
	must(c.RegisterFlagCompletionFunc("verb", cobra.FixedCompletions(record.AuditVerbs, cobra.ShellCompDirectiveNoFileComp)))
	return printing(c, "list of audit")
}
