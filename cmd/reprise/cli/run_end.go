package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

func runCancel(a *app) *cobra.Command {
	var reason string
	c := a.oneRun(&cobra.Command{
		Use: "cancel RUN", Short: "Ask an open run to cancel itself",
		Long: "Ask an open run to cancel itself. Its code decides how it ends, and may compensate first.",
		RunE: a.writes(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err == nil {
				err = c.client.Cancel(c.ctx, run, reason)
			}
			if err != nil {
				return err
			}
			return c.done(run, "cancel requested")
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for the run's history")
	return printing(c, "sent")
}

func runTerminate(a *app) *cobra.Command {
	var reason string
	var yes bool
	c := a.oneRun(&cobra.Command{
		Use: "terminate RUN", Short: "Close an open run at once, without running its code",
		Long: `Close an open run at once, without running its code: nothing is compensated. Its children
follow their close policies. It cannot be undone.`,
		RunE: a.writes(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err == nil {
				err = c.confirm(yes, "terminate", run)
			}
			if err == nil {
				err = c.client.Terminate(c.ctx, run, reason)
			}
			if err != nil {
				return err
			}
			return c.done(run, "terminated")
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for the run's history and the audit")
	addYes(c, &yes)
	return printing(c, "sent")
}

func runDelete(a *app) *cobra.Command {
	var reason string
	var yes bool
	c := a.oneRun(&cobra.Command{
		Use: "delete RUN", Short: "Delete a closed run with its history, messages and key",
		Long: `Delete a closed run with its history, messages and key. It cannot be undone. On Postgres
it needs a grant of its own, see docs/operating-postgres.md.`,
		RunE: a.writes(func(c *call, args []string) error {
			run, err := c.run(args[0])
			if err == nil {
				err = c.confirm(yes, "delete", run)
			}
			if err == nil {
				err = c.client.Delete(runtime.WithReason(c.ctx, reason), run)
			}
			if err != nil {
				return err
			}
			return c.done(run, "deleted")
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit, which keeps it")
	addYes(c, &yes)
	return printing(c, "sent")
}

func addYes(c *cobra.Command, yes *bool) {
	c.Flags().BoolVarP(yes, "yes", "y", false, "do not ask; needed without a terminal")
}

// confirm asks before what cannot be undone. It shows which run it is about, because ids look
// alike.
func (c *call) confirm(yes bool, verb string, run journal.RunID) error {
	return c.ask(yes, verb+" cannot be undone", func() (string, error) {
		row, err := c.rowOf(run)
		if err != nil {
			return "", err
		}
		r := c.records.Run(row)
		return fmt.Sprintf("%s run %s of workflow %s, key %s, %s, started %s",
			verb, r.ID, oneLine(r.Workflow, 100), orDash(oneLine(r.Key, 100)), r.Word(), c.out.at(r.CreatedAt)), nil
	})
}

// ask asks whether something is meant. Without a terminal nobody could answer, so --yes must have
// been given; why says what the trouble is then.
func (c *call) ask(yes bool, why string, question func() (string, error)) error {
	if yes {
		return nil
	}
	in, isFile := c.InOrStdin().(*os.File)
	if !isFile || !isatty.IsTerminal(in.Fd()) {
		return failed(ExitUsage, "give --yes if you mean it", "%s, and there is no terminal to ask; nothing was done", why)
	}
	text, err := question()
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s? [y/N] ", text)
	answer, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return failed(ExitFailed, "", "nothing was done")
	}
	return nil
}
