package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// anyWorkflow is a workflow whose types the command does not know: its values are JSON, which the
// program's codec encodes like any other.
type anyWorkflow = workflow.Name[json.RawMessage, json.RawMessage]

// startFlags are the options of a start.
type startFlags struct {
	o       runtime.StartOptions
	labels  []string
	headers []string
	limits  []string
	reuse   string
}

func (f *startFlags) add(a *app, c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.o.Key, "key", "", "name of the run; a second start with it returns the first run")
	fl.StringVar(&f.reuse, "reuse", record.Reuses[0], "what to do if a closed run has the key: "+strings.Join(record.Reuses, ", "))
	fl.Int32Var(&f.o.Version, "version", 1, "version of the workflow")
	fl.StringVar(&f.o.Queue, "queue", journal.DefaultQueue, "queue whose nodes execute the run")
	fl.Int16Var(&f.o.Priority, "priority", journal.PriorityDefault, "1, the most urgent, to 5")
	fl.StringArrayVar(&f.labels, "label", nil, "label as name=value; may be repeated")
	fl.StringArrayVar(&f.headers, "header", nil, "header as name=value, which the run's steps see; may be repeated")
	fl.StringArrayVar(&f.limits, "limit", nil, "limit that the run holds until it closes, as NAME, NAME:KEY or NAME:KEY*COST; may be repeated")
	fl.DurationVar(&f.o.Delay, "delay", 0, "how long the run's code does not begin")
	fl.DurationVar(&f.o.Timeout, "run-timeout", 0, "how long the run may take; 0 for as long as it takes")
	fl.StringVar(&f.o.OnFailure, "on-failure", "", "workflow to start if the run fails")
	must(c.RegisterFlagCompletionFunc("queue", a.completeQueues))
	must(c.RegisterFlagCompletionFunc("on-failure", a.completeWorkflows))
	must(c.RegisterFlagCompletionFunc("reuse", cobra.FixedCompletions(record.Reuses, cobra.ShellCompDirectiveNoFileComp)))
}

// options checks the flags and returns what they say.
func (f *startFlags) options(c *cobra.Command) (*runtime.StartOptions, error) {
	reuse := slices.Index(record.Reuses, f.reuse)
	if reuse < 0 {
		return nil, usage(c, "--reuse %q is none of %s", f.reuse, strings.Join(record.Reuses, ", "))
	}
	o := f.o
	o.Reuse = journal.Reuse(reuse)
	var err error
	if o.Labels, err = parseLabels(c, "--label", f.labels); err != nil {
		return nil, err
	}
	if o.Headers, err = parseLabels(c, "--header", f.headers); err != nil {
		return nil, err
	}
	for _, text := range f.limits {
		need, err := record.ParseLimitNeed(text)
		if err != nil {
			return nil, usage(c, "--limit %v", err)
		}
		o.Limits = append(o.Limits, need)
	}
	return &o, nil
}

func runStart(a *app) *cobra.Command {
	var f startFlags
	c := &cobra.Command{
		Use: "start WORKFLOW [INPUT]", Short: "Start a run", Args: cobra.RangeArgs(1, 2),
		Long: `Start a run. INPUT is a JSON value, @FILE, or - for standard input; none is null.

The command does not wait for the run: run watch does. A run with --limit begins when it has
all of its limits, and holds them until it closes; those that its workflow or its queue name
come to them, also if this command does not know of them (see docs/limits.md).`,
		Example: `  reprise run start order '{"item": "book", "count": 2}' --key order:9182
  reprise run start order @order.json --label customer=42 --delay 10m
  reprise run start import @rows.json --limit imports --limit tokens:acme*400`,
		ValidArgsFunction: a.completeFirst(a.completeWorkflows),
		RunE: a.writes(func(c *call, args []string) error {
			o, err := f.options(c.Command)
			if err != nil {
				return err
			}
			in := json.RawMessage("null")
			if len(args) > 1 {
				if in, err = c.input("INPUT", args[1]); err != nil {
					return err
				}
			}
			run, err := runtime.Start(c.ctx, c.client, anyWorkflow(args[0]), in, o)
			if err != nil {
				return err
			}
			if !run.Created() {
				c.note("a run has the key already; nothing was started")
			} else {
				c.noteUnserved(journal.Route{Queue: o.Queue, Workflow: args[0], Version: o.Version})
			}
			rec := record.Started{Run: run.ID().String(), Created: run.Created()}
			return printOne(c.out, &rec, func(_ *printer, r *record.Started) string { return r.Run + "\n" })
		}),
	}
	f.add(a, c)
	return printing(c, "started")
}

// noteUnserved says that nobody will execute a run for now. A store that does not answer is no
// reason to fail what is done.
func (c *call) noteUnserved(route journal.Route) {
	nodes, err := c.store.Nodes(c.ctx)
	if err != nil || slices.ContainsFunc(nodes, func(n journal.Node) bool { return slices.Contains(n.Routes, route) }) {
		return
	}
	c.note("no live node serves workflow %s, version %d, queue %s: the run waits for one", route.Workflow, route.Version, route.Queue)
}

// done prints that something was done to a run.
func (c *call) done(run journal.RunID, what string) error {
	rec := record.Sent{Run: run.String(), Done: what}
	return printOne(c.out, &rec, func(_ *printer, r *record.Sent) string { return fmt.Sprintf("%s: %s\n", r.Run, r.Done) })
}

func runSignal(a *app) *cobra.Command {
	var o runtime.SignalOptions
	c := &cobra.Command{
		Use: "signal RUN NAME [PAYLOAD]", Short: "Send a signal to an open run", Args: cobra.RangeArgs(2, 3),
		Long:              "Send a signal to an open run. PAYLOAD is a JSON value, @FILE, or - for standard input; none is null.",
		Example:           `  reprise run signal key=order:9182 approved '{"by": "Ada"}' --key approval:1`,
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: a.writes(func(c *call, args []string) error {
			payload, err := c.argument("PAYLOAD", args)
			if err != nil {
				return err
			}
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			if err := runtime.Signal(c.ctx, c.client, run, workflow.Signal[json.RawMessage](args[1]), payload, &o); err != nil {
				return err
			}
			return c.done(run, "signalled")
		}),
	}
	c.Flags().StringVar(&o.Key, "key", "", "a second signal with this key is dropped")
	return printing(c, "sent")
}

// argument is the JSON value in the third place, null for none.
func (c *call) argument(what string, args []string) (json.RawMessage, error) {
	if len(args) < 3 {
		return json.RawMessage("null"), nil
	}
	return c.input(what, args[2])
}

// answered prints an answer: people get the value alone.
func (c *call) answered(run journal.RunID, name string, value json.RawMessage, behind *runtime.BehindError) error {
	if len(value) == 0 {
		value = json.RawMessage("null")
	}
	rec := record.Answer{Run: run.String(), Name: name, Answer: value}
	rec.Earlier(behind)
	return printOne(c.out, &rec, func(_ *printer, r *record.Answer) string { return clean(string(r.Answer)) + "\n" })
}

func runUpdate(a *app) *cobra.Command {
	var o runtime.UpdateOptions
	c := &cobra.Command{
		Use: "update RUN NAME [ARGUMENT]", Short: "Send an update to an open run and print its answer", Args: cobra.RangeArgs(2, 3),
		Long: `Send an update to an open run and print its answer. ARGUMENT is a JSON value, @FILE, or
- for standard input; none is null. If --timeout ends first, the update may still be
handled: the same --key gets its answer. A paused run answers when it is resumed, unless
--refuse-paused is given.`,
		Example:           `  reprise run update key=order:9182 address '"1 New Street"' --key move:1`,
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: a.writes(func(c *call, args []string) error {
			arg, err := c.argument("ARGUMENT", args)
			if err != nil {
				return err
			}
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			answer, err := runtime.CallUpdate(c.ctx, c.client, run, workflow.Update[json.RawMessage, json.RawMessage](args[1]), arg, &o)
			if err != nil {
				return err
			}
			return c.answered(run, args[1], answer, nil)
		}),
	}
	c.Flags().StringVar(&o.Key, "key", "", "a second update with this key is the same one, and gets the same answer")
	c.Flags().BoolVar(&o.RefusePaused, "refuse-paused", false, "send nothing if the run, its queue or its workflow is paused")
	return printing(c, "answer")
}

// pollDefault is how often a verb that follows a run looks for new events.
const pollDefault = 500 * time.Millisecond
