package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
	"github.com/reprise-run/reprise/ui/record"
)

func runCount(a *app) *cobra.Command {
	var f filterFlags
	var by []string
	var q journal.Aggregate
	c := &cobra.Command{
		Use: "count", Short: "Count runs, by what they have in common, with times", Args: cobra.NoArgs,
		Long: `Count the runs that flags select, in groups, and say how long closed ones took: half of
them no longer than P50, 95 of a hundred no longer than P95. Groups are made by workflow,
version, status, queue, priority, a label, and by created, started or closed with the width
of a bucket. --histories also says how many steps have ended, and how many attempts these
took. A + behind a number says that there are more runs than --cap.`,
		Example: "  reprise run count --by workflow --by status\n  reprise run count --where 'closed > -1d' --by closed:1h --by status --histories",
	}
	c.RunE = a.reads(func(c *call, _ []string) (err error) {
		if q.Filter, err = f.filter(c); err != nil {
			return err
		}
		if q.By, err = record.ParseGroupings(by); err != nil {
			return usage(c.Command, "--by %v", err)
		}
		out, err := c.client.Aggregate(c.ctx, q)
		if err != nil {
			return err
		}
		for _, label := range unusedLabels(&out, q.By) {
			c.note("no run that was counted has label %q", label)
		}
		rec := record.TallyOf(&out, q.By)
		if c.a.output != formatTable {
			return printOne(c.out, &rec, nil)
		}
		return printTable(c.out, groupColumns(&rec, q.By, q.Histories), rec.Groups)
	})
	f.add(a, c)
	fl := c.Flags()
	fl.StringArrayVar(&by, "by", nil, "what runs are grouped by: workflow, version, status, queue, priority, a label, or created:1h, started:1h, closed:1d; at most four")
	fl.BoolVar(&q.Histories, "histories", false, "also attempts of steps: some lookups more a run")
	fl.IntVar(&q.Cap, "cap", 0, "how many runs are counted at most; 0 for 100,000, or 10,000 with --histories")
	return printing(c, "tally")
}

// unusedLabels are those by which runs were to be grouped and that none of them has: a slip, as a
// rule. What is in no group that is shown is not known.
func unusedLabels(out *journal.Aggregated, by []journal.Grouping) (labels []string) {
	parsed, err := filter.ParseBy(by)
	if err != nil || out.Runs == 0 || len(out.Groups) == journal.GroupsMax {
		return nil
	}
	for i, g := range parsed {
		used := slices.ContainsFunc(out.Groups, func(group journal.Group) bool { return group.Values[i] != "" })
		if g.Field == filter.FieldLabel && !used {
			labels = append(labels, g.Label)
		}
	}
	return labels
}

// groupColumns are a column for each grouping, and what there is to say of a group.
func groupColumns(rec *record.Tally, by []journal.Grouping, histories bool) (columns []column[record.Group]) {
	for i := range by {
		field := by[i].Field
		columns = append(columns, column[record.Group]{strings.ToUpper(oneLine(field, 40)), func(_ *printer, g *record.Group) string { return oneLine(g.Values[field], 60) }})
	}
	count := func(n int) string {
		if rec.Capped {
			return strconv.Itoa(n) + "+"
		}
		return strconv.Itoa(n)
	}
	columns = append(columns,
		column[record.Group]{"RUNS", func(_ *printer, g *record.Group) string { return count(g.Runs) }},
		column[record.Group]{"CLOSED", func(_ *printer, g *record.Group) string { return count(g.Closed) }},
		column[record.Group]{"P50", func(_ *printer, g *record.Group) string { return seconds(g.P50, g.Closed) }},
		column[record.Group]{"P95", func(_ *printer, g *record.Group) string { return seconds(g.P95, g.Closed) }})
	if histories {
		columns = append(columns,
			column[record.Group]{"STEPS", func(_ *printer, g *record.Group) string { return strconv.FormatInt(g.Steps, 10) }},
			column[record.Group]{"ATTEMPTS", func(_ *printer, g *record.Group) string { return strconv.FormatInt(g.Tries, 10) }})
	}
	return columns
}

// seconds is a duration for people, in three digits or so; empty if it is of no run.
func seconds(s float64, of int) string {
	if of == 0 {
		return ""
	}
	d := time.Duration(s * float64(time.Second))
	for unit := time.Hour; unit >= time.Microsecond; unit /= 10 {
		if d >= unit*100 {
			return d.Round(unit).String()
		}
	}
	return d.String()
}
