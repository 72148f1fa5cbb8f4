package cli

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

var eventColumns = []column[record.Event]{
	{"SEQ", func(_ *printer, e *record.Event) string { return strconv.Itoa(int(e.Seq)) }},
	{"TIME", func(p *printer, e *record.Event) string { return p.at(e.Time) }},
	{"EVENT", func(_ *printer, e *record.Event) string { return e.Kind }},
	{"NAME", func(_ *printer, e *record.Event) string { return oneLine(e.Name, 40) }},
	{"PAYLOAD", func(_ *printer, e *record.Event) string { return payloadText(e.Payload, 80) }},
	{"THEN ASKED FOR", func(_ *printer, e *record.Event) string { return oneLine(strings.Join(e.Issued, ", "), 80) }},
}

func runHistory(a *app) *cobra.Command {
	var generation int32
	c := a.oneRun(&cobra.Command{
		Use: "history RUN", Short: "Print the history of a run's present generation, or of an earlier one",
		Long: `Print the history of a run's present generation. With --generation it is that of an earlier
one: what the run was before it continued as new, or the branch that a retry or reset has left.`,
		RunE: a.reads(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			var events []journal.Event
			if c.Flags().Changed("generation") {
				events, err = c.client.HistoryOf(c.ctx, run, journal.Generation(generation))
			} else {
				events, err = c.client.History(c.ctx, run)
			}
			unreadable := new(journal.UnreadableError)
			if err != nil && !errors.As(err, &unreadable) {
				return err
			}
			list := make([]record.Event, len(events))
			for i := range events {
				list[i] = c.records.Event(run, &events[i])
			}
			if err := printList(c.out, eventColumns, list); err != nil {
				return err
			}
			return err // what can be read is printed; the rest is an error
		}),
	})
	c.Flags().Int32Var(&generation, "generation", 0, "of this generation; they are numbered from 1")
	return printing(c, "list of event")
}
