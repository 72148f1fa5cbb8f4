package cli

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// The verbs of this file replay runs with the program's own code, see Options.Register. They read
// alone: what a query does not decide is not decided.

// node returns a node with the program's workflows, which is not run.
func (c *call) node() *runtime.Node {
	var o runtime.NodeOptions
	o.Logger = silent
	n := runtime.NewNode(c.journal.Journal, &o)
	c.a.o.Register(n)
	return n
}

// needsCode stands for a verb that this program has no code for. It is in no help.
func needsCode(verb string) *cobra.Command {
	return &cobra.Command{
		Use: verb, Hidden: true, DisableFlagParsing: true,
		RunE: func(c *cobra.Command, _ []string) error {
			return failed(ExitUsage, "use the program that has it, or mount this command in it: go doc github.com/reprise-run/reprise/cmd/reprise/cli Main",
				"%s executes the code of workflows, and this program has none", c.CommandPath())
		},
	}
}

func runQuery(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "query RUN NAME [ARGUMENT]", Short: "Ask a run a question, with the code of this program", Args: cobra.RangeArgs(2, 3),
		Long: "Ask a run a question. This program replays its history and calls its handler; nothing is written.\n" +
			"If the code does not fit the history, the answer is the state before the event at which they\npart; a note and the fields as_of and behind say so.",
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: a.reads(func(c *call, args []string) error {
			arg, err := c.argument("ARGUMENT", args)
			if err != nil {
				return err
			}
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			answer, err := runtime.Query(c.ctx, c.node(), run, workflow.Query[json.RawMessage, json.RawMessage](args[1]), arg)
			behind, earlier := errors.AsType[*runtime.BehindError](err)
			if err != nil && !earlier {
				return err
			}
			if earlier {
				c.note("%v", behind)
			}
			return c.answered(run, args[1], answer, behind)
		}),
	}
	return printing(c, "answer")
}

// noQuery is the name of a query that no workflow has: asking it replays the history and ends with
// replay.ErrNoHandler if the code fits.
const noQuery workflow.Query[json.RawMessage, json.RawMessage] = "reprise: does the code fit?"

func runReplay(a *app) *cobra.Command {
	c := a.oneRun(&cobra.Command{
		Use: "replay RUN", Short: "Tell whether the code of this program fits a run's history",
		Long: `Replay the history of a run's present generation with the code of this program. If the
code does something else than the history says, the error names the event, both sides and
the line, and the exit code is 4. Nothing is written.`,
		RunE: a.reads(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			if err := c.replay(run); err != nil {
				return err
			}
			rec := record.Replayed{Run: run.String(), Fits: true}
			return printOne(c.out, &rec, func(_ *printer, r *record.Replayed) string { return r.Run + ": the code fits the history\n" })
		}),
	})
	return printing(c, "replayed")
}

func (c *call) replay(run journal.RunID) error {
	_, err := runtime.Query(c.ctx, c.node(), run, noQuery, json.RawMessage("null"))
	diverged, panicked, undecided := new(replay.DivergenceError), new(replay.PanicError), new(replay.UndecidedError)
	switch {
	case err == nil, errors.Is(err, replay.ErrNoHandler), errors.As(err, &undecided):
		return nil
	case errors.As(err, &diverged), errors.As(err, &panicked):
		return failed(ExitRefused, "repair the code, or put the new branch behind workflow.Changed", "%v", err)
	}
	return err
}
