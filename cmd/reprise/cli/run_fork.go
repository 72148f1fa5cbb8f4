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

// forked prints what was made; nothing for a dry run, which also shows people the steps.
func (c *call) forked(f *runtime.Forked, dry bool) error {
	rec := c.records.Forked(f, wentBack("forked", dry))
	err := printOne(c.out, &rec, func(_ *printer, r *record.Forked) string {
		who := "a fork would begin"
		if !dry {
			who = r.Run + ": begins"
		}
		return fmt.Sprintf("%s with %d events of %s\n", who, r.Of.Kept, r.Of.Run)
	})
	if err != nil || !dry || c.a.output != formatTable {
		return err
	}
	return plannedSteps(c.out, &rec.Of)
}

func runFork(a *app) *cobra.Command {
	var o runtime.ForkOptions
	var input string
	var results []string
	c := &cobra.Command{
		Use: "fork RUN POINT", Short: "Begin another run at a point of a run's history", Args: cobra.ExactArgs(2),
		ValidArgsFunction: a.oneRunThen(completePoints),
		Long: `Begin another run with the events of a run up to a point of its present generation. The run
stays as it is. What was done until the point is not done again, what comes behind it is done
by the fork, with idempotency keys of its own. POINT is one of those of run reset.

A result of a step can be another one in the fork: --result 5='"paid"' for event 5. The step
is not executed for it.

` + proofOf(a) + ` --dry-run shows which steps run again, and what becomes of messages.`,
		Example: "  reprise run fork key=order:9182 step:charge --key order:9182:b --dry-run" + unprovenOf(a) + "\n" +
			"  reprise run fork key=order:9182 event:5 --result 5='\"paid\"' --reason 'paid in cash'" + unprovenOf(a),
	}
	do := func(c *call, args []string) error {
		at, err := pointOf(c, args, input, o.Unproven)
		if err != nil {
			return err
		}
		if o.Results, err = c.results(results); err != nil {
			return err
		}
		o.Input, o.Proof = at.input, at.proof
		out, err := c.client.Fork(c.ctx, at.run, at.point, &o)
		if err != nil {
			return pointed(err)
		}
		return c.forked(out, o.DryRun)
	}
	c.RunE = a.readsOrWrites(&o.DryRun, do)
	fl := c.Flags()
	fl.StringVar(&o.Reason, "reason", "", "why, for the audit")
	fl.StringVar(&o.Key, "key", "", "key of the fork; without it the fork has none")
	fl.StringVar(&o.Queue, "queue", "", "another queue")
	fl.Int32Var(&o.Version, "workflow-version", 0, "another version of the workflow")
	fl.StringVar(&input, "input", "", "with generation or start: another input, as a JSON value, @FILE or -")
	fl.StringArrayVar(&results, "result", nil, "N=VALUE: another result of the step whose outcome is event N, as a JSON value, @FILE or -; may be repeated")
	fl.BoolVar(&o.Unproven, "unproven", false, "do not replay what is kept; the fork blocks if its code does not fit")
	fl.BoolVar(&o.NoMessages, "no-messages", false, "leave out signals and updates that what is kept has not consumed")
	fl.StringArrayVar(&o.Messages, "message", nil, "with --no-messages: name of signals and updates that the fork gets all the same; may be repeated")
	fl.BoolVar(&o.DryRun, "dry-run", false, "say what it would do, and do nothing")
	return printing(c, "forked")
}

// results reads what is given for --result.
func (c *call) results(args []string) (map[journal.Seq]any, error) {
	values := map[journal.Seq]any{}
	for _, arg := range args {
		number, value, ok := strings.Cut(arg, "=")
		n, err := strconv.ParseInt(number, 10, 32)
		if !ok || err != nil || n < 1 {
			return nil, usage(c.Command, "--result %q is not the number of an event, =, and a value", arg)
		}
		if _, twice := values[journal.Seq(n)]; twice {
			return nil, usage(c.Command, "--result is given twice for event %d", n)
		}
		if values[journal.Seq(n)], err = c.input("--result", value); err != nil {
			return nil, err
		}
	}
	return values, nil
}
