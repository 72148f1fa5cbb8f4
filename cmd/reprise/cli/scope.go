package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// scopeVerbs adds pause and resume to a group of verbs. fill completes the scope that flags have
// begun with the argument.
func scopeVerbs(a *app, g *cobra.Command, noun, of string, fill func(s *journal.Scope, arg string), flags func(c *cobra.Command, s *journal.Scope)) {
	var o runtime.PauseOptions
	var scopes [2]journal.Scope
	pause := &cobra.Command{
		Use: "pause " + noun, Short: "Keep all runs of " + of + " from starting steps until it is resumed", Args: cobra.ExactArgs(1),
		Long: `Keep all runs of ` + of + ` from starting steps until it is resumed: those that nodes execute, those
that wait, and those that come later. Steps that are executed may end, and what they return is
stored. Messages wait; timers elapse: bulk pause --freeze-timers lets those of the runs that are
there stand still. The verb waits until every node has answered; given up, the
pause stays.`,
		RunE: a.writes(func(c *call, args []string) error {
			s := scopes[0]
			fill(&s, args[0])
			if err := c.client.PauseScope(c.ctx, s, &o); err != nil {
				return err
			}
			return c.doneScope(s, "paused")
		}),
	}
	pause.Flags().StringVar(&o.Reason, "reason", "", "why, for the audit and for run why")
	pause.Flags().BoolVar(&o.CancelSteps, "cancel-steps", false, "interrupt steps that are executed; they start anew at the resume")
	var reason string
	resume := &cobra.Command{
		Use: "resume " + noun, Short: "Let the runs of " + of + " go on", Args: cobra.ExactArgs(1),
		Long: `Let the runs of ` + of + ` go on, with the same flags as its pause. Runs that are paused
themselves stay so.`,
		RunE: a.writes(func(c *call, args []string) error {
			s := scopes[1]
			fill(&s, args[0])
			if err := c.client.ResumeScope(runtime.WithReason(c.ctx, reason), s); err != nil {
				return err
			}
			return c.doneScope(s, "resumed")
		}),
	}
	resume.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	for i, c := range []*cobra.Command{pause, resume} {
		flags(c, &scopes[i])
		g.AddCommand(printing(c, "scope"))
	}
}

// doneScope prints that something was done to a scope.
func (c *call) doneScope(s journal.Scope, what string) error {
	rec := record.Scope{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version, Done: what}
	return printOne(c.out, &rec, func(_ *printer, r *record.Scope) string { return fmt.Sprintf("%s: %s\n", s, r.Done) })
}

// pausedColumn is the column of tables that says who has paused something.
func pausedColumn(text string) string {
	if text == "" {
		return "-"
	}
	return oneLine(text, 80)
}
