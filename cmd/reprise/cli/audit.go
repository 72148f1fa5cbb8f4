package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
)

// auditRecord is an action of an operator that has changed a run.
type auditRecord struct {
	Number   int64     `json:"number" doc:"number of the entry; it grows with time"`
	At       time.Time `json:"at" doc:"when"`
	Actor    string    `json:"actor,omitempty" doc:"who, as the program said"`
	Verb     string    `json:"verb" doc:"pause, resume, set-labels, set-priority, retry, reset, skip, edit, fork, terminate, delete, or drain of a node"`
	Run      string    `json:"run,omitempty" doc:"id of the run, which may be deleted by now; absent for a queue, a workflow or a node, which detail names"`
	Workflow string    `json:"workflow" doc:"name of the workflow; empty for a queue or a node"`
	Reason   string    `json:"reason,omitempty" doc:"why, as the operator said"`
	Detail   string    `json:"detail,omitempty" doc:"what the verb alone does not say"`
}

var auditColumns = []column[auditRecord]{
	{"NUMBER", func(_ *printer, r *auditRecord) string { return strconv.FormatInt(r.Number, 10) }},
	{"AT", func(p *printer, r *auditRecord) string { return p.at(r.At) }},
	{"ACTOR", func(_ *printer, r *auditRecord) string { return oneLine(r.Actor, 40) }},
	{"VERB", func(_ *printer, r *auditRecord) string { return oneLine(r.Verb, 20) }},
	{"RUN", func(_ *printer, r *auditRecord) string { return pausedColumn(r.Run) }},
	{"WORKFLOW", func(_ *printer, r *auditRecord) string { return oneLine(r.Workflow, 40) }},
	{"REASON", func(_ *printer, r *auditRecord) string { return oneLine(r.Reason, 80) }},
	{"DETAIL", func(_ *printer, r *auditRecord) string { return oneLine(r.Detail, 80) }},
}

// auditVerbs are the actions that have entries.
var auditVerbs = []string{"pause", "resume", "set-labels", "set-priority", "retry", "reset", "skip", "edit", "fork", "terminate", "delete", "drain"}

func auditOf(e *journal.AuditEntry) auditRecord {
	rec := auditRecord{Number: e.Number, At: e.Time, Actor: e.Actor, Verb: e.Verb, Workflow: e.Workflow, Reason: e.Reason, Detail: e.Detail}
	if !e.Run.IsZero() {
		rec.Run = e.Run.String()
	}
	return rec
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
			records := []auditRecord{}
			for i := range list {
				records = append(records, auditOf(&list[i]))
			}
			return printList(c.out, auditColumns, records)
		}),
	}
	fl := c.Flags()
	fl.StringVar(&run, "run", "", "of this run: an id, or key=KEY of one that is not deleted")
	fl.StringVar(&f.Actor, "actor", "", "by this actor")
	fl.StringVar(&f.Verb, "verb", "", strings.Join(auditVerbs, ", "))
	fl.IntVar(&f.Limit, "limit", 50, "how many entries")
	fl.Int64Var(&f.Before, "before", 0, "only entries with smaller numbers: the last number of the page before")
	must(c.RegisterFlagCompletionFunc("run", a.completeRuns))
	must(c.RegisterFlagCompletionFunc("verb", cobra.FixedCompletions(auditVerbs, cobra.ShellCompDirectiveNoFileComp)))
	return printing(c, "list of audit")
}
