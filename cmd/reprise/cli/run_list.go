package cli

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// filterFlags are the flags that select runs.
type filterFlags struct {
	where, workflow, status, state, key, keyPrefix, parent, unchanged string
	version                                                           int32
	labels                                                            []string
	since, until                                                      string
}

func (f *filterFlags) add(a *app, c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.where, "where", "", "a condition, and an order: 'status = failed and closed > -2d order by duration desc', see docs/finding-runs.md")
	fl.StringVar(&f.workflow, "workflow", "", "runs of this workflow")
	fl.Int32Var(&f.version, "version", 0, "runs of this version of their workflow")
	fl.StringVar(&f.status, "status", "", "open, completed, failed, cancelled or terminated")
	fl.StringVar(&f.state, "state", "", "open runs that are limited, ready, blocked, quarantined, paused, pausing or interrupting")
	fl.StringVar(&f.key, "key", "", "runs that have, or had, this key")
	fl.StringVar(&f.keyPrefix, "key-prefix", "", "runs whose key begins with this")
	fl.StringArrayVar(&f.labels, "label", nil, "runs with this label, as name=value; may be repeated, and all must match")
	fl.StringVar(&f.parent, "parent", "", "children of this run")
	fl.StringVar(&f.unchanged, "unchanged", "", "open runs that may still take the old branch of this workflow.Changed")
	fl.StringVar(&f.since, "since", "", "runs started at or after this time: 2026-11-29T12:00:00Z, or 90m, 12h, 3d ago")
	fl.StringVar(&f.until, "until", "", "runs started before this time")
	must(c.RegisterFlagCompletionFunc("workflow", a.completeWorkflows))
	must(c.RegisterFlagCompletionFunc("label", a.completeLabels))
	must(c.RegisterFlagCompletionFunc("parent", a.completeRuns))
	must(c.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(record.Statuses(), cobra.ShellCompDirectiveNoFileComp)))
	must(c.RegisterFlagCompletionFunc("state", cobra.FixedCompletions(record.States(), cobra.ShellCompDirectiveNoFileComp)))
}

// filter makes the flags a filter of the journal: whatever selects runs does so here.
func (f *filterFlags) filter(c *call) (lf journal.ListFilter, err error) {
	lf = journal.ListFilter{Where: f.where, Workflow: f.workflow, Version: f.version, Key: f.key, KeyPrefix: f.keyPrefix, Unchanged: f.unchanged}
	if f.version < 0 {
		return lf, usage(c.Command, "--version %d is negative", f.version)
	}
	if f.status != "" {
		i := slices.Index(record.Statuses(), f.status)
		if i < 0 {
			return lf, usage(c.Command, "--status %q is none of %s", f.status, strings.Join(record.Statuses(), ", "))
		}
		lf.Status = new(journal.Status(i))
	}
	if f.state != "" {
		i := slices.Index(record.States(), f.state)
		if i < 0 {
			return lf, usage(c.Command, "--state %q is none of %s", f.state, strings.Join(record.States(), ", "))
		}
		lf.State = new(journal.Limited + journal.TaskState(i))
	}
	if lf.Labels, err = parseLabels(c.Command, "--label", f.labels); err != nil {
		return lf, err
	}
	if f.parent != "" {
		if lf.Parent, err = c.run(f.parent); err != nil {
			return lf, err
		}
	}
	if lf.Since, err = parseTime(c, "since", f.since); err != nil {
		return lf, err
	}
	lf.Until, err = parseTime(c, "until", f.until)
	return lf, err
}

// parseLabels reads name=value pairs.
func parseLabels(c *cobra.Command, what string, list []string) (map[string]string, error) {
	var labels map[string]string
	for _, pair := range list {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage(c, "%s %q must be name=value", what, pair)
		}
		if labels == nil {
			labels = map[string]string{}
		}
		labels[name] = value
	}
	return labels, nil
}

// parseTime reads a moment, or how long ago it is. Days are 24 hours.
func parseTime(c *call, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	at, err := record.ParseMoment(text, c.out.now)
	if err != nil {
		return at, usage(c.Command, "--%s %v", flag, err)
	}
	return at, nil
}

var runColumns = []column[record.Run]{
	{"ID", func(_ *printer, r *record.Run) string { return r.ID }},
	{"WORKFLOW", func(_ *printer, r *record.Run) string { return oneLine(r.Workflow, 40) }},
	{"V", func(_ *printer, r *record.Run) string { return strconv.Itoa(int(r.Version)) }},
	{"STATUS", func(_ *printer, r *record.Run) string { return r.Word() }},
	{"STARTED", func(p *printer, r *record.Run) string { return p.at(r.CreatedAt) }},
	{"KEY", func(_ *printer, r *record.Run) string { return oneLine(r.Key, 40) }},
	{"WAITS FOR, OR PROBLEM", func(_ *printer, r *record.Run) string { return oneLine(r.About(), 80) }},
}

func runList(a *app) *cobra.Command {
	var f filterFlags
	var limit int
	var cursor string
	c := &cobra.Command{
		Use: "list", Short: "List runs, newest first", Args: cobra.NoArgs,
		Long: `List runs, newest first unless --where has an order. All conditions must match.

Each flag is served by an index except --label, --version, --since and --until alone: these
look at all runs, newest first, until the page is full. Which conditions of --where are, says
docs/finding-runs.md.`,
		Example: `  reprise run list --state blocked
  reprise run list --workflow order --status failed --since 24h -o jsonl
  reprise run list --label customer=42 --limit 10
  reprise run list --where 'error.class = "Timeout" and total > 100 order by closed'`,
		RunE: a.reads(func(c *call, _ []string) error {
			lf, err := f.filter(c)
			if err != nil {
				return err
			}
			if limit < 0 {
				return usage(c.Command, "--limit %d is negative", limit)
			}
			lf.Cursor = cursor
			return c.list(lf, limit)
		}),
	}
	f.add(a, c)
	c.Flags().IntVar(&limit, "limit", 50, "how many runs; 0 for all")
	c.Flags().StringVar(&cursor, "cursor", "", "go on behind the page that gave this")
	return printing(c, "runPage, with jsonl a run a line")
}

// list prints the runs that a filter selects.
func (c *call) list(lf journal.ListFilter, limit int) error {
	list, next, err := paged(c, lf.Cursor, limit, func(cursor string, limit int) (list []record.Run, next string, err error) {
		lf.Cursor, lf.Limit = cursor, limit
		got, err := c.client.List(c.ctx, lf)
		if err != nil {
			return nil, "", err
		}
		c.out.now = got.Now
		for i := range got.Runs {
			list = append(list, c.records.Run(&got.Runs[i]))
		}
		return list, got.Next, nil
	})
	switch {
	case err != nil || c.out.format == formatLines:
		return err
	case c.out.format == formatJSON:
		return c.out.object(record.RunPage{Runs: list, Next: next})
	}
	return printTable(c.out, runColumns, list)
}

// labelText is labels for people, in the order of their names.
func labelText(labels map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, name+"="+labels[name])
	}
	return strings.Join(pairs, " ")
}
