package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

func runSkip(a *app) *cobra.Command {
	var o runtime.AmendOptions
	c := &cobra.Command{
		Use: "skip RUN MESSAGE", Short: "Leave a message out of a run", Args: cobra.ExactArgs(2),
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		Long: `Leave a signal, an update or a request to cancel out of a run, such as one on which
its code panics, and let the run go on. MESSAGE is its number: run show lists the messages that
the run has yet to consume, run history names those that it has. If the run has consumed the
message, that event and all behind it are taken back; what they did outside is not undone, and
steps run again if the code asks for them. All other messages come. Only a reset to the start
of the run has the message again. --dry-run shows what would be taken back.`,
		Example: "  reprise run skip key=order:9182 7 --reason 'an address of blanks'",
	}
	do := func(c *call, args []string) error {
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || n < 1 {
			return usage(c.Command, "%q is not the number of a message", args[1])
		}
		run, err := c.run(args[0])
		if err != nil {
			return err
		}
		out, err := runtime.SkipMessage(c.ctx, c.client, run, journal.InboxSeq(n), amending(c, &o))
		if err != nil {
			return amended(c, err)
		}
		return c.rewound(out, wentBack("skipped", o.DryRun))
	}
	return amendVerb(a, c, &o, do)
}

func runEdit(a *app) *cobra.Command {
	var o runtime.AmendOptions
	c := &cobra.Command{
		Use: "edit RUN STEP RESULT", Short: "Give a step of a run a result, instead of what it has", Args: cobra.ExactArgs(3),
		ValidArgsFunction: a.oneRunThen(completeSteps),
		Long: `Give a step a result, and let the run go on: the step is not executed for it, nor tried
again. RESULT is a JSON value, @FILE or -. STEP is one of

  step:NAME  a step without an outcome; if none has the name, the first that had an outcome
  cmd:N      the step that is command N of the present generation
  event:N    the step whose outcome is event N

An outcome that the step has, and all events behind it, are taken back; what they did outside
is not undone, and steps run again if the code asks for them. --dry-run shows them.`,
		Example: "  reprise run edit key=order:9182 step:charge '\"paid at the desk\"' --reason 'the bank is away for the week'",
	}
	do := func(c *call, args []string) error {
		step, err := record.ParseStep(args[1])
		if err != nil {
			return usage(c.Command, "step %v", err)
		}
		result, err := c.input("RESULT", args[2])
		if err != nil {
			return err
		}
		run, err := c.run(args[0])
		if err != nil {
			return err
		}
		out, err := runtime.EditStep(c.ctx, c.client, run, step, result, amending(c, &o))
		if err != nil {
			return amended(c, err)
		}
		return c.rewound(out, wentBack("edited", o.DryRun))
	}
	return amendVerb(a, c, &o, do)
}

func amendVerb(a *app, c *cobra.Command, o *runtime.AmendOptions, do verb) *cobra.Command {
	c.Long += "\n\n" + proofOf(a) + " Neither is needed where nothing is taken back."
	c.RunE = a.readsOrWrites(&o.DryRun, do)
	fl := c.Flags()
	fl.StringVar(&o.Reason, "reason", "", "why, for the audit")
	fl.BoolVar(&o.Unproven, "unproven", false, "do not replay what is kept; the run blocks if its code does not fit")
	fl.BoolVar(&o.KeepChildren, "keep-children", false, "do not cancel children whose start is taken back")
	fl.BoolVar(&o.DryRun, "dry-run", false, "say what it would do, and do nothing")
	return printing(c, "rewound")
}

// amending gives the options this program's code, if it has some and is to prove something.
func amending(c *call, o *runtime.AmendOptions) *runtime.AmendOptions {
	if c.a.o.Register != nil && !o.Unproven {
		o.Proof = c.node()
	}
	return o
}

// amended says how to go on after what was refused.
func amended(c *call, err error) error {
	if errors.Is(err, runtime.ErrUnproven) {
		return usage(c.Command, "events of the run are taken back, and this program has no code to prove that what is kept fits: give --unproven, or use the program that has it")
	}
	return pointed(err)
}
