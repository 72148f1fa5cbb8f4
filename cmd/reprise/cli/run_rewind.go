package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

var replacedColumns = []column[record.Replaced]{
	{"SEQ", func(_ *printer, r *record.Replaced) string { return number(r.Seq) }},
	{"STEP", func(_ *printer, r *record.Replaced) string { return oneLine(r.Step, 40) }},
	{"NEW RESULT", func(_ *printer, r *record.Replaced) string { return payloadText(r.New, 80) }},
	{"RESULT SO FAR", func(_ *printer, r *record.Replaced) string { return payloadText(r.Was, 80) }},
}

// number is empty for none.
func number(n int32) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

var repeatedColumns = []column[record.Repeated]{
	{"SEQ", func(_ *printer, r *record.Repeated) string { return strconv.Itoa(int(r.Seq)) }},
	{"STEP", func(_ *printer, r *record.Repeated) string { return oneLine(r.Step, 40) }},
	{"RUNS AGAIN", func(_ *printer, r *record.Repeated) string { return r.Again }},
	{"OUTCOME SO FAR", func(_ *printer, r *record.Repeated) string { return payloadText(r.Outcome, 80) }},
}

var movedColumns = []column[record.RewoundMessage]{
	{"MESSAGE", func(_ *printer, m *record.RewoundMessage) string { return strconv.FormatInt(m.Message, 10) }},
	{"KIND", func(_ *printer, m *record.RewoundMessage) string { return m.Kind }},
	{"NAME", func(_ *printer, m *record.RewoundMessage) string { return oneLine(m.Name, 40) }},
	{"SEQ", func(_ *printer, m *record.RewoundMessage) string { return number(m.Seq) }},
	{"AT", func(p *printer, m *record.RewoundMessage) string { return p.at(m.At) }},
	{"FATE", func(_ *printer, m *record.RewoundMessage) string { return m.Fate }},
}

var alongColumns = []column[record.Along]{
	{"CHILD", func(_ *printer, a *record.Along) string { return a.Run }},
	{"OF", func(_ *printer, a *record.Along) string { return a.Parent }},
	{"KEPT", func(_ *printer, a *record.Along) string { return strconv.Itoa(int(a.Kept)) }},
	{"STEPS AGAIN", func(_ *printer, a *record.Along) string {
		var names []string
		for i := range a.Steps {
			names = append(names, a.Steps[i].Step)
		}
		return oneLine(strings.Join(names, ", "), 60)
	}},
}

// rewound prints what was done; nothing for a dry run, which also shows people the steps.
func (c *call) rewound(r *runtime.Rewinding, done string) error {
	rec := c.records.Rewound(r, done)
	err := printOne(c.out, &rec, func(_ *printer, r *record.Rewound) string {
		text := fmt.Sprintf("%s: %s; generation %d begins with %d events of the one before\n", r.Run, r.Done, r.Generation, r.Kept)
		for i := range r.Children {
			if a := &r.Children[i]; done != record.Nothing {
				text += fmt.Sprintf("%s: goes on with it; generation %d begins with %d events of the one before\n", a.Run, a.Generation, a.Kept)
			}
		}
		return text
	})
	if err != nil || done != record.Nothing || c.a.output != formatTable {
		return err
	}
	return plannedSteps(c.out, &rec)
}

// plannedSteps shows people what a dry run has found.
func plannedSteps(out *printer, rec *record.Rewound) (err error) {
	if len(rec.Replaced) > 0 {
		err = printTable(out, replacedColumns, rec.Replaced)
	}
	if err == nil && len(rec.Steps) > 0 {
		err = printTable(out, repeatedColumns, rec.Steps)
	}
	if err == nil && len(rec.Messages) > 0 {
		err = printTable(out, movedColumns, rec.Messages)
	}
	if err == nil && rec.MoreMessages {
		_, err = fmt.Fprintln(out.w, "and more messages")
	}
	if err == nil && len(rec.Children) > 0 {
		err = printTable(out, alongColumns, rec.Children)
	}
	return err
}

func runRetry(a *app) *cobra.Command {
	var o runtime.RetryOptions
	c := a.oneRun(&cobra.Command{
		Use: "retry RUN", Short: "Let a closed run go on from before its failure",
		Long: `Let a failed run go on from before the step or child that it failed by, with its id, key
and children. The step runs again, with the idempotency key that it had. A cancelled run goes
on from before the request, a terminated one from where it stood. The child that it failed by,
and children that its end has cancelled or terminated, are retried with it. No node needs to
have the code. Steps that were asked for before the failure and have completed since keep
their results. It is refused if others have, such as compensations, unless --again is given:
what they did is not undone, and all steps since the failure run again. --dry-run shows them.`,
		Example: "  reprise run retry key=order:9182 --dry-run\n  reprise run retry key=order:9182 --reason 'the bank answers again'",
	})
	do := func(c *call, args []string) error {
		run, err := c.run(args[0])
		if err != nil {
			return err
		}
		out, err := c.client.Retry(c.ctx, run, &o)
		if err != nil {
			return pointed(err)
		}
		return c.rewound(out, wentBack("retried", o.DryRun))
	}
	c.RunE = a.readsOrWrites(&o.DryRun, do)
	c.Flags().StringVar(&o.Reason, "reason", "", "why, for the audit")
	c.Flags().BoolVar(&o.Again, "again", false, "also if steps have completed since the failure")
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what it would do, and do nothing")
	return printing(c, "rewound")
}

// wentBack is what was done.
func wentBack(done string, dry bool) string {
	if dry {
		return record.Nothing
	}
	return done
}

// readsOrWrites opens the store for a verb that may be a dry run.
func (a *app) readsOrWrites(dry *bool, do verb) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if *dry {
			return a.reads(do)(cmd, args)
		}
		return a.writes(do)(cmd, args)
	}
}

// pointed says how to go on after a point that is none.
func pointed(err error) error {
	at, diverged, panicked, decoded := new(runtime.PointError), new(replay.DivergenceError), new(replay.PanicError), new(replay.DecodeError)
	switch {
	case errors.As(err, &at):
		return failed(ExitRefused, "run history RUN shows its events; run reset goes back to another point", "%v", err)
	case errors.As(err, &diverged), errors.As(err, &panicked), errors.As(err, &decoded):
		return failed(ExitRefused, "choose an earlier point, or fits; or repair the code", "%v", err)
	}
	return err
}

func runReset(a *app) *cobra.Command {
	var o runtime.ResetOptions
	var input string
	c := &cobra.Command{
		Use: "reset RUN POINT", Short: "Let a run go on from an earlier point of its history", Args: cobra.ExactArgs(2),
		ValidArgsFunction: a.oneRunThen(completePoints),
		Long: `Let a run go on from an earlier point of its present generation, open or closed. Steps that
had ended behind the point run again if the code asks for them, with new idempotency keys;
what they did is not undone. POINT is one of

  event:N      behind event N
  step:NAME    before the first outcome of a step with that name
  failure      before the failure, the request to cancel, or the termination
  generation   the beginning of the present generation
  start        the beginning of the run
  fits         behind the last event that the code of this program replays

` + proofOf(a) + ` --dry-run shows which steps run again, and what becomes of messages.`,
		Example: "  reprise run reset key=order:9182 step:charge --dry-run" + unprovenOf(a) + "\n" +
			"  reprise run reset key=order:9182 step:charge --reason 'a wrong price'" + unprovenOf(a),
	}
	do := func(c *call, args []string) error {
		at, err := pointOf(c, args, input, o.Unproven)
		if err != nil {
			return err
		}
		o.Input, o.Proof = at.input, at.proof
		out, err := c.client.Reset(c.ctx, at.run, at.point, &o)
		if err != nil {
			return pointed(err)
		}
		return c.rewound(out, wentBack("reset", o.DryRun))
	}
	c.RunE = a.readsOrWrites(&o.DryRun, do)
	fl := c.Flags()
	fl.StringVar(&o.Reason, "reason", "", "why, for the audit")
	fl.BoolVar(&o.Unproven, "unproven", false, "do not replay what is kept; the run blocks if its code does not fit")
	fl.BoolVar(&o.NoMessages, "no-messages", false, "leave out signals and updates that what is kept has not consumed")
	fl.StringArrayVar(&o.Messages, "message", nil, "with --no-messages: name of signals and updates that come again all the same; may be repeated")
	fl.BoolVar(&o.KeepChildren, "keep-children", false, "do not cancel children that were started behind the point")
	fl.StringVar(&input, "input", "", "with generation or start: another input, as a JSON value, @FILE or -")
	fl.Int32Var(&o.Version, "workflow-version", 0, "with generation or start: another version of the workflow")
	fl.BoolVar(&o.DryRun, "dry-run", false, "say what it would do, and do nothing")
	return printing(c, "rewound")
}

// pointArgs is a point of a run's history, as the arguments of a verb name it.
type pointArgs struct {
	run   journal.RunID
	point runtime.Point
	input any           // nil for that of the run
	proof *runtime.Node // nil without a proof
}

// pointOf reads RUN and POINT, and what goes with them: another input, and whether this program is
// to prove that what is kept fits.
func pointOf(c *call, args []string, input string, unproven bool) (at pointArgs, err error) {
	at.point = runtime.Point(args[1])
	if at.run, err = c.run(args[0]); err != nil {
		return at, err
	}
	if input != "" {
		if at.input, err = c.input("--input", input); err != nil {
			return at, err
		}
	}
	if c.a.o.Register != nil && !unproven {
		at.proof = c.node()
	}
	return at, c.unproven(at.point, unproven)
}

// unproven refuses a point that this program cannot prove, unless that is what is asked for.
func (c *call) unproven(to runtime.Point, unproven bool) error {
	anew := to == runtime.GenerationStart || to == runtime.RunStart
	if c.a.o.Register != nil || unproven || anew || to.Check() != nil {
		return nil
	}
	return usage(c.Command, "this program has no code to prove that what is kept fits: give --unproven, or use the program that has it")
}

// proofOf is what the help says of the proof.
func proofOf(a *app) string {
	if a.o.Register != nil {
		return "Before anything is changed this program replays what is kept with its code; what does not\nfit is refused with both sides, unless --unproven is given."
	}
	return "This program has no code to replay what is kept, so it needs --unproven for a point that\nkeeps events: the run blocks if its code does not fit. Programs that mount this command with\ntheir workflows prove it."
}

func unprovenOf(a *app) string {
	if a.o.Register != nil {
		return ""
	}
	return " --unproven"
}
