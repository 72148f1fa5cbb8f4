package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/record"
)

// schedules completes the arguments of a verb about schedules.
func (a *app) schedules(c *cobra.Command) *cobra.Command {
	c.ValidArgsFunction = a.completeFirst(func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.offer(cmd, func(c *call) (list []cobra.Completion, err error) {
			found, err := schedule.List(c.ctx, c.client, "")
			for i := range found {
				list = append(list, cobra.CompletionWithDesc(found[i].ID, oneLine(found[i].Schedule.Start.Workflow, 60)))
			}
			return list, err
		})
	})
	return c
}

// parseMoment reads a date or a time.
func parseMoment(c *cobra.Command, flag, text string) (time.Time, error) {
	at, err := record.ParseTime(text)
	if err != nil {
		return at, usage(c, "--%s %v", flag, err)
	}
	return at, nil
}

// notFound is the error for a schedule that a file does not have.
func notFound(name string) error { return fmt.Errorf("schedule %q: %w", name, journal.ErrNotFound) }
