package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/ui/record"
)

// bulkGroup has the verbs over all runs of a filter.
func bulkGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "bulk", Short: "Act on all runs that a filter selects",
		Long: `Act on all runs that a filter selects. A job is a durable run: this process executes it
while it waits, and after an interruption bulk watch goes on with it. Each run is acted on
once. run pause, run resume and run cancel hold and end the job itself.`}
	g.AddCommand(
		bulkVerb(a, bulk.Cancel, "Ask all open runs that a filter selects to cancel themselves", "Their code decides how they end, and may compensate first."),
		bulkVerb(a, bulk.Terminate, "Close all open runs that a filter selects at once, without running their code", "Nothing is compensated. It cannot be undone."),
		bulkVerb(a, bulk.Pause, "Keep all open runs that a filter selects from starting steps", "See run pause."),
		bulkVerb(a, bulk.Resume, "Let all paused, blocked, quarantined or parked runs that a filter selects go on", "See run resume."),
		bulkVerb(a, bulk.Signal, "Send a signal to all open runs that a filter selects", "PAYLOAD is a JSON value, @FILE, or - for standard input; none is null."),
		bulkVerb(a, bulk.SetLabels, "Set and remove labels of all runs that a filter selects, open or closed", "See run set-labels."),
		bulkVerb(a, bulk.SetPriority, "Change the priority of all open runs that a filter selects", "See run set-priority."),
		bulkVerb(a, bulk.Retry, "Let all failed, cancelled and terminated runs that a filter selects go on from before their failure", "See run retry."),
		bulkVerb(a, bulk.Reset, "Let all runs that a filter selects go on from an earlier point of their histories", "See run reset, which has the points."),
		bulkVerb(a, bulk.Fork, "Begin another run at a point of the history of each run that a filter selects", "The forks have no key. See run fork."),
		bulkVerb(a, bulk.Edit, "Give a step of all runs that a filter selects a result", "STEP is a name; RESULT is a JSON value, @FILE or -. See run edit."),
		bulkVerb(a, bulk.Skip, "Leave a message out of all runs that a filter selects", "MESSAGE is the name of a signal or an update that each run has once: one that it has yet\nto consume, or else one that it has consumed. Other runs count as failed. See run skip."),
		bulkVerb(a, bulk.Delete, "Delete all closed runs that a filter selects, with histories, messages and keys", "It cannot be undone."),
		bulkWatch(a), bulkShow(a))
	return g
}

// bulkFlags are what a job may say.
type bulkFlags struct {
	job         bulk.Job
	failuresOf  string
	input       string
	results     []string
	o           bulk.Options
	dryRun, yes bool
}

func (f *bulkFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.job.Where, "where", "", "which runs: 'workflow = order and status = blocked', see docs/finding-runs.md")
	fl.BoolVar(&f.job.All, "all", false, "all runs, instead of --where")
	fl.StringVar(&f.failuresOf, "failures-of", "", "the runs that failed in this job, which has ended, instead of --where: an id, or key=KEY")
	fl.StringVar(&f.job.Reason, "reason", "", "why, for the audit and for the runs' histories")
	fl.Float64Var(&f.job.Rate, "rate", 0, "at most so many runs a second; 0 for as many as it can")
	fl.IntVar(&f.job.Concurrency, "concurrency", 0, "so many runs at once, at most 256; 0 for the default, 32")
	fl.StringVar(&f.o.Key, "key", "", "name of the job: the same job with it goes on, or tells how it has ended; another one is refused")
	fl.BoolVar(&f.dryRun, "dry-run", false, "say how many runs there are, and of verbs that go back what would become of the first 20; do nothing")
	addYes(c, &f.yes)
}

// addBack adds what the verbs that go back have in common.
func (f *bulkFlags) addBack(c *cobra.Command) {
	fl := c.Flags()
	switch f.job.Verb {
	case bulk.Reset, bulk.Fork:
		fl.BoolVar(&f.job.NoMessages, "no-messages", false, "leave out signals and updates that what is kept has not consumed")
		fl.StringArrayVar(&f.job.Messages, "message", nil, "with --no-messages: name of signals and updates that come again all the same; may be repeated")
		fl.StringVar(&f.input, "input", "", "with generation or start: another input, as a JSON value, @FILE or -")
	case bulk.Edit, bulk.Skip:
	default:
		return
	}
	switch f.job.Verb {
	case bulk.Reset:
		fl.BoolVar(&f.job.KeepChildren, "keep-children", false, "do not cancel children that were started behind the point")
		fl.Int32Var(&f.job.Version, "workflow-version", 0, "with generation or start: another version of the workflow")
	case bulk.Fork:
		fl.Int32Var(&f.job.Version, "workflow-version", 0, "another version of the workflow")
		fl.StringVar(&f.job.Queue, "queue", "", "another queue")
		fl.StringArrayVar(&f.results, "result", nil, "STEP=VALUE: another result of the first outcome of a step, as a JSON value, @FILE or -; may be repeated")
	default:
		fl.BoolVar(&f.job.KeepChildren, "keep-children", false, "do not cancel children whose start is taken back")
	}
	fl.BoolVar(&f.job.Unproven, "unproven", false, "do not replay what is kept; runs block if their code does not fit")
}

func bulkVerb(a *app, verb bulk.Verb, short, more string) *cobra.Command {
	var f bulkFlags
	f.job.Verb = verb
	c := &cobra.Command{
		Use: string(verb), Short: short, Args: cobra.NoArgs,
		Long: short + ". " + more + `

It says how many runs there are and asks; a script gives --yes. It waits until the job has
ended; interrupted, it says how to go on. The exit code is 0 if the job has completed
without a failure. A job with a --key is started once: the same command goes on with it or,
when it has ended, does nothing and says how it ended (ended_before). If another job has the
key, the exit code is 4.`,
		Example: fmt.Sprintf("  reprise bulk %s --where 'workflow = \"order\" and shop = \"7\"' --dry-run\n  reprise bulk %[1]s --where 'workflow = \"order\" and shop = \"7\"' --reason 'shop 7 has closed' --rate 200", verb),
	}
	said := "" // in the example
	switch verb {
	case bulk.Signal:
		c.Use, c.Args, said = "signal NAME [PAYLOAD]", cobra.RangeArgs(1, 2), `approved '{"by": "Ada"}'`
	case bulk.Pause:
		c.Flags().BoolVar(&f.job.FreezeTimers, "freeze-timers", false, "timers stand still until the resume, and have then what is left of their time now")
		c.Flags().BoolVar(&f.job.CancelSteps, "cancel-steps", false, "interrupt running steps; they start anew when the run is resumed")
	case bulk.Retry:
		c.Flags().BoolVar(&f.job.Again, "again", false, "also runs in which other steps have completed since the failure")
	case bulk.SetLabels:
		c.Use, c.Args, said = "set-labels [NAME=VALUE ...]", cobra.ArbitraryArgs, "ticket=OPS-17 --remove untriaged"
		c.Flags().StringArrayVar(&f.job.RemoveLabels, "remove", nil, "name of a label to remove; may be repeated")
	case bulk.SetPriority:
		c.Use, c.Args, said = "set-priority N", cobra.ExactArgs(1), "1"
	case bulk.Reset:
		c.Use, c.Args, said = "reset POINT", cobra.ExactArgs(1), "step:charge"+unprovenOf(a)
	case bulk.Fork:
		c.Use, c.Args, said = "fork POINT", cobra.ExactArgs(1), "step:charge --workflow-version 2"+unprovenOf(a)
	case bulk.Edit:
		c.Use, c.Args, said = "edit STEP RESULT", cobra.ExactArgs(2), `charge '"at the desk"'`
	case bulk.Skip:
		c.Use, c.Args, said = "skip MESSAGE", cobra.ExactArgs(1), "moved"+unprovenOf(a)
	}
	f.addBack(c)
	if said != "" {
		c.Example = strings.ReplaceAll(c.Example, "bulk "+string(verb), "bulk "+string(verb)+" "+said)
	}
	do := func(c *call, args []string) error {
		job, err := f.of(c, args)
		if err != nil {
			return err
		}
		return c.bulk(job, &f)
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if f.dryRun {
			return a.reads(do)(cmd, args)
		}
		return a.serves(do)(cmd, args)
	}
	f.add(c)
	waitsForEver(a, c)
	return printing(c, "bulk")
}

// of completes the job by the arguments.
func (f *bulkFlags) of(c *call, args []string) (bulk.Job, error) {
	job := f.job
	var err error
	if f.failuresOf != "" {
		if job.FailuresOf, err = jobOf(c, f.failuresOf); err != nil {
			return job, err
		}
	}
	switch job.Verb {
	case bulk.Signal:
		job.Signal = args[0]
		job.Payload, err = c.argument("PAYLOAD", append([]string{""}, args...))
	case bulk.SetLabels:
		job.Labels, err = parseLabels(c.Command, "label", args)
	case bulk.SetPriority:
		job.Priority, err = parsePriority(c.Command, args[0])
	case bulk.Edit:
		job.Step = args[0]
		if job.Payload, err = c.argument("RESULT", append([]string{""}, args...)); err == nil {
			err = c.unproven(runtime.LatestFit, job.Unproven)
		}
	case bulk.Skip:
		job.Message = args[0]
		err = c.unproven(runtime.LatestFit, job.Unproven)
	case bulk.Reset, bulk.Fork:
		job.To = runtime.Point(args[0])
		if err = c.unproven(job.To, job.Unproven); err == nil {
			err = f.others(c, &job)
		}
	}
	return job, err
}

// others reads another input, and other results of steps.
func (f *bulkFlags) others(c *call, job *bulk.Job) (err error) {
	if f.input != "" {
		if job.Input, err = c.input("--input", f.input); err != nil {
			return err
		}
	}
	for _, arg := range f.results {
		step, value, ok := strings.Cut(arg, "=")
		if !ok || step == "" {
			return usage(c.Command, "--result %q is not the name of a step, =, and a value", arg)
		}
		if _, twice := job.Results[step]; twice {
			return usage(c.Command, "--result is given twice for step %s", step)
		}
		if job.Results == nil {
			job.Results = map[string]json.RawMessage{}
		}
		if job.Results[step], err = c.input("--result", value); err != nil {
			return err
		}
	}
	return nil
}

// bulk looks whether there is the job already, else counts, asks, and starts it. It waits for it.
func (c *call) bulk(job bulk.Job, f *bulkFlags) error {
	if found, err := bulk.ByKey(c.ctx, c.client, job, f.o.Key); err != nil || found != nil {
		if err != nil {
			return err
		}
		return again(c, found, f)
	}
	runs, capped, err := bulk.Count(c.ctx, c.client, job)
	if err != nil {
		return err
	}
	rec := record.Bulk{Verb: string(job.Verb), Runs: runs, Capped: capped}
	if f.dryRun && runs > 0 {
		return previewJob(c, job, &rec)
	}
	if f.dryRun || runs == 0 {
		return printOne(c.out, &rec, func(*printer, *record.Bulk) string { return bulkPlan(&rec) + "; nothing was done\n" })
	}
	if err := c.ask(f.yes, "bulk "+bulkPlan(&rec), func() (string, error) { return bulkPlan(&rec), nil }); err != nil {
		return err
	}
	started, err := bulk.Start(c.ctx, c.client, job, &f.o)
	if err != nil {
		return err
	}
	return c.followJob(started.ID())
}

// again is a start of a job that is there already. One that has ended is told of, and not repeated.
func again(c *call, found *journal.Run, f *bulkFlags) error {
	switch {
	case found.Status.Closed():
		c.note("job %s with the key has ended already, %s: nothing is done now; another key makes another job", found.ID, c.out.at(found.ClosedAt))
		return c.jobEnded(found.ID, true)
	case f.dryRun:
		c.note("job %s with the key is not over: without --dry-run this goes on with it", found.ID)
		_, err := tellJob(c, found, false)
		return err
	}
	c.note("there is a job with the key, which is not over: this goes on with it")
	return c.followJob(found.ID)
}
