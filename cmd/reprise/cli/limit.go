package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/ui/record"
)

// limitGroup has the verbs about limits.
func limitGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "limit", Short: "Bound how many steps are executed at once, or begin in a time",
		Long: `Bound how many steps are executed at once, or begin in a time, over all runs, workflows and
nodes. Steps name the limits that they need; a name that has no limit bounds nothing.
docs/limits.md has what is guaranteed, and the order in which steps get their turn.`}
	g.AddCommand(limitList(a), limitShow(a), limitSet(a), limitRemove(a), limitRelease(a))
	return g
}

func limitList(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "list", Short: "List limits, what is held of them, and how many steps wait", Args: cobra.NoArgs,
		RunE: a.reads(func(c *call, _ []string) error {
			page, err := readLimits(c, &journal.LimitFilter{Uses: journal.ListMax})
			if err != nil {
				return err
			}
			return printList(c.out, limitColumns, record.LimitsOf(&page))
		}),
	}
	return printing(c, "list of limit")
}

// readLimits reads a page of limits.
func readLimits(c *call, f *journal.LimitFilter) (journal.LimitPage, error) {
	page, err := runtime.Limits(c.ctx, c.client, f)
	c.out.now = page.Now
	return page, err
}

func limitShow(a *app) *cobra.Command {
	var f journal.LimitFilter
	c := a.oneLimit(&cobra.Command{
		Use: "show LIMIT", Short: "Show who holds a limit, and who waits in which place",
		Long: `Show what a limit bounds, its keys that are in use, those with the longest lines first, who
holds it, and who waits in which place. run why says the same of one run, and when its step
may begin.`,
		Example: "  reprise limit show bank --key tenant-7",
		RunE: a.reads(func(c *call, args []string) error {
			if f.Uses < 1 || f.Uses > journal.ListMax {
				return usage(c.Command, "--limit must be from 1 to %d", journal.ListMax)
			}
			f.Name, f.Claims = args[0], f.Uses
			page, err := readLimits(c, &f)
			if err != nil {
				return err
			}
			rec, ok := record.LimitOf(&page)
			if !ok {
				return fmt.Errorf("limit %q: %w", args[0], journal.ErrNoLimit)
			}
			return printOne(c.out, &rec, limitText)
		}),
	})
	c.Flags().StringVar(&f.Key, "key", "", "only this key")
	c.Flags().IntVar(&f.Uses, "limit", 50, "how many keys, and how many claims, at most")
	return printing(c, "limit")
}

// limitFlags are what one may say of a limit.
type limitFlags struct {
	journal.Limit
	rate, onFull, reason string
}

func limitSet(a *app) *cobra.Command {
	var f limitFlags
	c := a.oneLimit(&cobra.Command{
		Use: "set LIMIT", Short: "Make a limit, or change it, while steps hold it and wait for it",
		Long: `Make a limit, or change it, while steps hold it and wait for it. What no flag says stays as it
is, and 0 takes a bound away. With --key it makes a row for that key alone, whose bounds are
its own: it begins with nothing. A limit that is lowered holds for the steps that begin later,
and a --max-backlog for the runs that come later.`,
		Example: `  reprise limit set bank --concurrency 5
  reprise limit set tenant-calls --rate 100/1m --burst 10
  reprise limit set tenant-calls --key acme --rate 1000/1m --reason "they have paid for more"
  reprise limit set sync --concurrency 1 --max-backlog 1 --on-full "cancel oldest"`,
		RunE: a.writes(func(c *call, args []string) error {
			rate, err := record.ParseRate(f.rate)
			if err != nil {
				return usage(c.Command, "--rate: %v", err)
			}
			if f.OnFull, err = journal.ParseOnFull(f.onFull); err != nil {
				return usage(c.Command, "--on-full: %v", err)
			}
			f.Name = args[0]
			page, err := readLimits(c, &journal.LimitFilter{Name: f.Name, Key: f.Key})
			if err != nil {
				return err
			}
			l := f.over(&page, rate, c.Command.Flags().Changed)
			if err := l.Check(); err != nil {
				return err
			}
			if err := runtime.SetLimit(runtime.WithReason(c.ctx, f.reason), c.client, l); err != nil {
				return err
			}
			return limitChanged(c, &record.LimitChange{Name: l.Name, Key: l.Key, Text: record.LimitText(&l), Done: "set"})
		}),
	})
	fl := c.Flags()
	fl.StringVar(&f.Key, "key", "", "set the row of this key alone")
	fl.IntVar(&f.Concurrency, "concurrency", 0, "so many of one key at once; 0 for any number")
	fl.IntVar(&f.Total, "total", 0, "so many of all keys together; 0 for any number")
	fl.StringVar(&f.rate, "rate", "", "so much of one key in a time, as in 100/1m; 0 for any rate")
	fl.Int64Var(&f.Rate.Burst, "burst", 0, "what may begin at once after a pause; 0 for 1")
	fl.IntVar(&f.Weight, "weight", 0, "share of a key in the total; 0 for 1")
	fl.DurationVar(&f.Ageing, "ageing", 0, "how long a wait is worth one level of priority; 0 for 1m")
	fl.IntVar(&f.MaxBacklog, "max-backlog", 0, "so many runs of one key may wait; 0 for any number")
	fl.StringVar(&f.onFull, "on-full", "", "what happens to a run that comes when so many wait: "+strings.Join(journal.OnFullWords()[1:], ", ")+` (default "reject")`)
	fl.StringVar(&f.reason, "reason", "", "why, for the audit")
	return printing(c, "limitChange")
}

// over is the limit that the flags make of the row that there is.
func (f *limitFlags) over(page *journal.LimitPage, rate journal.Rate, said func(flag string) bool) journal.Limit {
	l := journal.Limit{Name: f.Name, Key: f.Key}
	for i := range page.Limits {
		if page.Limits[i].Key == f.Key {
			l = page.Limits[i]
		}
	}
	if said("concurrency") {
		l.Concurrency = f.Concurrency
	}
	if said("total") {
		l.Total = f.Total
	}
	if said("rate") {
		if rate.Burst = l.Rate.Burst; rate.IsZero() {
			rate.Burst = 0
		}
		l.Rate = rate
	}
	if said("burst") {
		l.Rate.Burst = f.Rate.Burst
	}
	if said("weight") {
		l.Weight = f.Weight
	}
	if said("ageing") {
		l.Ageing = f.Ageing
	}
	if said("max-backlog") {
		if l.MaxBacklog = f.MaxBacklog; l.MaxBacklog == 0 || l.OnFull == journal.OnFullWait {
			l.OnFull = journal.OnFullDefault
		}
	}
	if said("on-full") {
		l.OnFull = f.OnFull
	}
	return l
}

func limitRemove(a *app) *cobra.Command {
	var key, reason string
	c := a.oneLimit(&cobra.Command{
		Use: "remove LIMIT", Short: "Remove a limit, or the row of one key",
		Long: `Remove a limit, or the row of one key, which has the bounds of all others then. Steps that name
a limit which is not there begin as if they did not.`,
		RunE: a.writes(func(c *call, args []string) error {
			if err := runtime.RemoveLimit(runtime.WithReason(c.ctx, reason), c.client, args[0], key); err != nil {
				return err
			}
			return limitChanged(c, &record.LimitChange{Name: args[0], Key: key, Done: "removed"})
		}),
	})
	c.Flags().StringVar(&key, "key", "", "only the row of this key")
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "limitChange")
}

func limitRelease(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "release CLAIM", Short: "Take what a step holds of limits away, because it hangs", Args: cobra.ExactArgs(1),
		Long: `Take what a step holds of limits away, because it hangs: another one begins. CLAIM is what limit
show and run why print. The step is not ended, so until it ends there may be one more than
the limit allows. One that waits loses its turn until its node asks again, which takes seconds.`,
		ValidArgsFunction: a.completeFirst(func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return a.offer(cmd, func(c *call) (list []cobra.Completion, err error) {
				page, err := readLimits(c, &journal.LimitFilter{Claims: completeRuns})
				claims := record.LimitClaimsOf(page.Claims)
				for i := range claims {
					list = append(list, cobra.CompletionWithDesc(claims[i].Claim, oneLine(claims[i].Limit+", "+holder(&claims[i]), 80)))
				}
				return list, err
			})
		}),
		RunE: a.writes(func(c *call, args []string) error {
			node, id, err := journal.ParseClaimHandle(args[0])
			if err != nil {
				return usage(c.Command, "%v", err)
			}
			if err := runtime.ReleaseClaim(runtime.WithReason(c.ctx, reason), c.client, node, id); err != nil {
				return err
			}
			return limitChanged(c, &record.LimitChange{Claim: args[0], Done: "released"})
		}),
	}
	c.Flags().StringVar(&reason, "reason", "", "why, for the audit")
	return printing(c, "limitChange")
}

// limitChanged prints what was done to a limit.
func limitChanged(c *call, rec *record.LimitChange) error {
	return printOne(c.out, rec, func(_ *printer, r *record.LimitChange) string {
		text := r.Name
		if r.Key != "" {
			text += fmt.Sprintf(", key %q", r.Key)
		}
		if r.Claim != "" {
			text = "claim " + r.Claim
		}
		text += ": " + r.Done
		if r.Text != "" {
			text += ": " + strings.TrimPrefix(r.Text, fmt.Sprintf("key %q: ", r.Key))
		}
		return clean(text) + "\n"
	})
}

// oneLimit is a verb on one limit, whose name is completed.
func (a *app) oneLimit(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst(func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return a.offer(cmd, func(c *call) (list []cobra.Completion, err error) {
			page, err := readLimits(c, &journal.LimitFilter{})
			limits := record.LimitsOf(&page)
			for i := range limits {
				list = append(list, cobra.CompletionWithDesc(limits[i].Name, oneLine(boundsText(&limits[i]), 60)))
			}
			return list, err
		})
	})
	return c
}
