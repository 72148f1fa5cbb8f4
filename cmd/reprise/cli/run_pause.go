package cli

import (
	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/runtime"
)

func runPause(a *app) *cobra.Command {
	var o runtime.PauseOptions
	c := a.oneRun(&cobra.Command{
		Use: "pause RUN", Short: "Keep an open run from starting steps until it is resumed",
		Long: `Keep an open run from starting steps until it is resumed. Steps that are executed may end,
and what they return is stored. Messages wait. Timers elapse, and what is due happens at the
resume; with --freeze-timers they stand still, and so does the run's own time. If a node owns the run, the verb waits for its answer; given up, the pause stays.`,
		RunE: a.writes(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err == nil {
				err = c.client.Pause(c.ctx, run, &o)
			}
			if err != nil {
				return err
			}
			return c.done(run, "paused")
		}),
	})
	c.Flags().StringVar(&o.Reason, "reason", "", "why, for the audit and for run why")
	c.Flags().BoolVar(&o.CancelSteps, "cancel-steps", false, "interrupt steps that are executed; they start anew at the resume")
	c.Flags().BoolVar(&o.FreezeTimers, "freeze-timers", false, "timers stand still until the resume, and have then what is left of their time now")
	return printing(c, "sent")
}

func runResume(a *app) *cobra.Command {
	var reason string
	c := a.oneRun(&cobra.Command{
		Use: "resume RUN", Short: "Let a paused, blocked, quarantined or parked run go on now",
		RunE: a.writes(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err == nil {
				err = c.client.Resume(runtime.WithReason(c.ctx, reason), run)
			}
			if err != nil {
				return err
			}
			return c.done(run, "resumed")
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "sent")
}
