package cli

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

func runSetLabels(a *app) *cobra.Command {
	var remove []string
	var reason string
	c := &cobra.Command{
		Use: "set-labels RUN [NAME=VALUE ...]", Short: "Set and remove labels of a run", Args: cobra.MinimumNArgs(1),
		Long: `Set and remove labels of a run, open or closed, so that it is found by them. Labels that are
not named stay as they are. No node needs to have the code of the run, and the code does not
see the change.`,
		Example: `  reprise run set-labels key=order:9182 ticket=OPS-17 owner=ada --remove untriaged
  reprise run list --label ticket=OPS-17`,
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: a.writes(func(c *call, args []string) error {
			set, err := parseLabels(c.Command, "label", args[1:])
			if err != nil {
				return err
			}
			if len(set)+len(remove) == 0 {
				return usage(c.Command, "no label is named: NAME=VALUE sets one, --remove NAME removes one")
			}
			run, err := c.run(args[0])
			if err == nil {
				err = c.client.SetLabels(runtime.WithReason(c.ctx, reason), run, set, remove)
			}
			if err != nil {
				return err
			}
			return c.done(run, "labels set")
		}),
	}
	c.Flags().StringArrayVar(&remove, "remove", nil, "name of a label to remove; may be repeated")
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "sent")
}

func runSetPriority(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "set-priority RUN N", Short: "Change the priority of an open run", Args: cobra.ExactArgs(2),
		Long: `Change the priority of an open run, from 1, the most urgent, to 5. It is claimed by its new
priority the next time that it waits for a node; the node that has it now goes on as before.
A run that waits for its limits gets another place in line. Its children keep theirs.`,
		ValidArgsFunction: a.completeFirst(a.completeRuns),
		RunE: a.writes(func(c *call, args []string) error {
			n, err := parsePriority(c.Command, args[1])
			if err != nil {
				return err
			}
			run, err := c.run(args[0])
			if err == nil {
				err = c.client.SetPriority(runtime.WithReason(c.ctx, reason), run, n)
			}
			if err != nil {
				return err
			}
			return c.done(run, "priority set")
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "sent")
}

func parsePriority(c *cobra.Command, text string) (int16, error) {
	n, err := strconv.ParseInt(text, 10, 16)
	if err != nil {
		return 0, usage(c, "priority %q is no number from %d to %d", text, journal.PriorityMin, journal.PriorityMax)
	}
	return int16(n), nil
}
