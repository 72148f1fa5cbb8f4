package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/migrations"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// app is one execution of the command: the options and the flags that all verbs share.
type app struct {
	o Options

	store, schema, output string
	utc, pooler           bool
	timeout               time.Duration
}

// timeoutDefault is longer than any answer takes, and short enough for somebody who waits.
const timeoutDefault = 30 * time.Second

func (a *app) addFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	a.schema = migrations.DefaultSchema
	if a.o.Open == nil {
		f.StringVar(&a.store, "store", "", "postgres://user@host/database, sqlite:PATH or a path; default $"+storeEnv)
		f.StringVar(&a.schema, "schema", migrations.DefaultSchema, "schema of the journal in Postgres")
		f.BoolVar(&a.pooler, "pooler", false, "the connection string leads to a transaction pooler")
	}
	f.StringVarP(&a.output, "output", "o", formatTable, "table for people, json or jsonl (one record a line) for programs")
	f.BoolVar(&a.utc, "utc", false, "print times in UTC instead of how long ago they are")
	f.DurationVar(&a.timeout, "timeout", timeoutDefault, "give up after this time; 0 waits as long as it takes")
	must(root.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp)))
}

// must is for what only a mistake in this package can make fail.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// call is one execution of a verb on an open store.
type call struct {
	*cobra.Command
	a       *app
	ctx     context.Context
	store   Store
	journal *driver.Journal
	client  *runtime.Client
	records *record.Maker
	out     *printer
}

// verb is what a verb does when the store is open.
type verb func(c *call, args []string) error

// reads wraps a verb that changes nothing.
func (a *app) reads(do verb) func(*cobra.Command, []string) error { return a.opens(toRead, do) }

// writes wraps a verb that changes runs.
func (a *app) writes(do verb) func(*cobra.Command, []string) error { return a.opens(toWrite, do) }

// serves wraps a verb that changes runs, and executes a workflow of this program's own.
func (a *app) serves(do verb) func(*cobra.Command, []string) error { return a.opens(toServe, do) }

func (a *app) opens(why access, do verb) func(*cobra.Command, []string) error {
	return a.run(func(ctx context.Context) (Store, error) { return a.openFor(ctx, why) }, do)
}

// opensAny wraps a verb that is about the tables, whatever they are.
func (a *app) opensAny(why access, do verb) func(*cobra.Command, []string) error {
	return a.run(func(ctx context.Context) (Store, error) { return a.openAny(ctx, why) }, do)
}

// run opens a store and executes a verb on it.
func (a *app) run(open func(context.Context) (Store, error), do verb) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := a.checkFlags(cmd); err != nil {
			return err
		}
		ctx, cancel := a.patience(cmd)
		defer cancel()
		s, err := open(ctx)
		if err != nil {
			return gaveUp(ctx, err)
		}
		defer s.Close()
		return gaveUp(ctx, do(a.call(ctx, cmd, s), args))
	}
}

// checkFlags refuses a wrong flag before anything is opened.
func (a *app) checkFlags(cmd *cobra.Command) error {
	if !slices.Contains(formats, a.output) {
		return usage(cmd, "--output %q is none of %s", a.output, strings.Join(formats, ", "))
	}
	if a.timeout < 0 {
		return usage(cmd, "--timeout %s is negative", a.timeout)
	}
	if err := migrations.CheckSchema(a.schema); err != nil {
		return usage(cmd, "%v", err)
	}
	return nil
}

// patience is the context of a verb.
func (a *app) patience(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	if a.timeout == 0 {
		return context.WithCancel(cmd.Context())
	}
	return context.WithTimeout(cmd.Context(), a.timeout)
}

// gaveUp makes an error that the end of the context has caused say so: drivers wrap it in their own
// words, and a timeout has its exit code.
func gaveUp(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ctx.Err()) {
		return fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return err
}

func (a *app) call(ctx context.Context, cmd *cobra.Command, s Store) *call {
	var jo journal.Options
	if a.o.Journal != nil {
		jo = *a.o.Journal
	}
	var co runtime.ClientOptions
	if a.o.Client != nil {
		co = *a.o.Client
	}
	jo.Logger, co.Logger = silent, silent
	j := journal.New(s, &jo)
	return &call{Command: cmd, a: a, ctx: ctx, store: s, journal: driver.Of(j), client: runtime.NewClient(j, &co), records: &record.Maker{Codec: j.Codec()},
		out: &printer{w: cmd.OutOrStdout(), format: a.output, times: times{utc: a.utc, now: time.Now()}}}
}

// recordsKey is the annotation of a verb that says which records it prints.
const recordsKey = "reprise.records"

// printing says what a verb prints with -o json, for its page and its help.
func printing(c *cobra.Command, records string) *cobra.Command {
	c.Annotations = map[string]string{recordsKey: records}
	if c.Long == "" {
		c.Long = c.Short + "."
	}
	c.Long += "\n\nWith -o json: " + records + ", see docs/reprise/json.md."
	return c
}

// note tells people something beside the result.
func (c *call) note(format string, args ...any) {
	fmt.Fprintf(c.ErrOrStderr(), "note: %s\n", clean(fmt.Sprintf(format, args...)))
}

// keyPrefix begins an argument that names a run by its key.
const keyPrefix = "key="

// run finds the run that an argument names.
func (c *call) run(arg string) (journal.RunID, error) {
	if key, ok := strings.CutPrefix(arg, keyPrefix); ok {
		return c.client.FindKey(c.ctx, key)
	}
	id, err := journal.ParseRunID(arg)
	if err != nil {
		return id, usage(c.Command, "RUN %q is neither the id of a run nor key=KEY", arg)
	}
	return id, nil
}

// rowOf returns a run as listings have it.
func (c *call) rowOf(run journal.RunID) (*journal.Run, error) {
	page, err := c.client.List(c.ctx, journal.ListFilter{IDs: []journal.RunID{run}})
	if err == nil && len(page.Runs) == 0 {
		err = fmt.Errorf("run %s: %w", run, journal.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	c.out.now = page.Now
	return &page.Runs[0], nil
}
