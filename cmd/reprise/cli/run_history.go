package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
)

// eventRecord is a fact of a history.
type eventRecord struct {
	Seq     int32          `json:"seq" doc:"position in the history of the generation, from 1"`
	Kind    string         `json:"kind" doc:"what happened: RunStarted, StepCompleted, SignalReceived and so on, as journal.Kind"`
	Name    string         `json:"name,omitempty" doc:"name of the step, timer, signal or child"`
	Time    time.Time      `json:"time" doc:"when, by the store's clock"`
	Cmd     int32          `json:"cmd,omitempty" doc:"the command that it answers"`
	Inbox   int64          `json:"inbox,omitempty" doc:"the message that it consumes"`
	Attempt int32          `json:"attempt,omitempty" doc:"attempts that a step took"`
	Payload *payloadRecord `json:"payload,omitempty" doc:"output, failure or what was sent"`
	Issued  []string       `json:"issued,omitempty" doc:"the commands that the code asked for in reaction, in words"`
}

var eventColumns = []column[eventRecord]{
	{"SEQ", func(_ *printer, e *eventRecord) string { return strconv.Itoa(int(e.Seq)) }},
	{"TIME", func(p *printer, e *eventRecord) string { return p.at(e.Time) }},
	{"EVENT", func(_ *printer, e *eventRecord) string { return e.Kind }},
	{"NAME", func(_ *printer, e *eventRecord) string { return oneLine(e.Name, 40) }},
	{"PAYLOAD", func(_ *printer, e *eventRecord) string { return e.Payload.text(80) }},
	{"THEN ASKED FOR", func(_ *printer, e *eventRecord) string { return oneLine(strings.Join(e.Issued, ", "), 80) }},
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
			list := make([]eventRecord, len(events))
			for i := range events {
				list[i] = c.eventOf(&events[i])
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

func (c *call) eventOf(e *journal.Event) eventRecord {
	rec := eventRecord{Seq: int32(e.Seq), Kind: e.Kind.String(), Name: e.Name, Time: e.Time, Cmd: int32(e.Cmd), Inbox: int64(e.Inbox),
		Attempt: e.Attempt, Payload: c.payload(e.Payload)}
	for i := range e.Issued {
		rec.Issued = append(rec.Issued, strings.Join(strings.Fields(e.Issued[i].String()), " "))
	}
	return rec
}
