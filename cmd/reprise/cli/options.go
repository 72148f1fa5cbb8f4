package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
)

// Options of the command. The zero value means the defaults: the command reprise.
type Options struct {
	// Name of the root command; default "reprise".
	Name string
	// Store is used if neither --store nor the environment names one; default none.
	Store string
	// Open opens the program's own store instead of what --store and --schema name; these flags are
	// left out then. read is true for verbs that only read: do not migrate for them, and on SQLite
	// set sqlite.Options.ReadOnly. The command closes the store. Default none.
	Open func(ctx context.Context, read bool) (Store, error)
	// Journal has the codec and the limits of the program's journal. May be nil.
	Journal *journal.Options
	// Client has the interceptors of the program's clients. May be nil.
	Client *runtime.ClientOptions
	// Register registers the program's workflows with a node, which is never run. It adds the verbs
	// that need their code. Default none.
	Register func(*runtime.Node)
	// Flows are the shapes of the program's flows (flow.Flow.Shape): the verb flow draw draws them
	// without a store, and tells how they differ from what a run began with. Default none.
	Flows []*flow.Shape
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Name == "" {
		c.Name = "reprise"
	}
	return c
}

// Main executes the command with the arguments of the process and ends the process with the
// command's exit code. An interrupt ends the verb, and a second one the process at once. o may be
// nil.
func Main(o *Options) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // from here on a signal has its usual effect
	root := New(o)
	err := root.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintf(root.ErrOrStderr(), "%s: %s\n", root.Name(), explain(err))
	}
	os.Exit(ExitCode(err))
}

// New returns the tree of verbs. Execute it with ExecuteContext; the error that it returns is for
// [ExitCode], and was not printed. o may be nil.
func New(o *Options) *cobra.Command {
	a := &app{o: o.withDefaults()}
	root := &cobra.Command{
		Use:   a.o.Name,
		Short: "Look into a journal of durable runs, and act on them",
		Long: `Look into a journal of durable runs, and act on them.

Name the journal with --store or the environment variable REPRISE_STORE: a connection
string of Postgres (postgres://user@host/database), or a SQLite file (sqlite:PATH, or
a path). Verbs that read work while programs run, also on a SQLite file that one has
open, and change nothing.

A RUN is the id of a run, or key=KEY for the run that has, or last had, a key.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 refused by the run's
state, 5 timed out, 6 warnings (doctor).`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	a.addFlags(root)
	root.AddCommand(runGroup(a), bulkGroup(a), scheduleGroup(a), nodeGroup(a), workflowGroup(a), flowGroup(a), queueGroup(a), limitGroup(a), viewGroup(a), topVerb(a), uiVerb(a), auditVerb(a), migrateGroup(a), doctorVerb(a), demoVerb(a), versionVerb(a), manVerb(a))
	finish(root)
	return root
}

// finish completes every verb below c: what a wrong argument or flag is, and that a group without a
// verb shows its verbs.
func finish(c *cobra.Command) {
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(c, "%v", err) })
	if c.HasSubCommands() && c.RunE == nil {
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(c, "unknown verb %q", args[0])
			}
			return c.Help()
		}
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return usage(c, "%v", err)
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		finish(sub)
	}
}
