package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/schedule"
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
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02T15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, usage(c, "--%s %q is no time, such as 2026-11-30 or 2026-11-30T02:30:00Z", flag, text)
}

// notFound is the error for a schedule that a file does not have.
func notFound(name string) error { return fmt.Errorf("schedule %q: %w", name, journal.ErrNotFound) }
