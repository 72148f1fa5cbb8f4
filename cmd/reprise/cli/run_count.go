package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
)

// tallyRecord is what was counted.
type tallyRecord struct {
	Runs   int           `json:"runs" doc:"how many runs were counted"`
	Capped bool          `json:"capped,omitempty" doc:"there are more, which were not counted, and groups and times are of some of the runs"`
	Groups []groupRecord `json:"groups" doc:"the largest first, at most 1,000"`
}

// groupRecord is the runs with the same values of all groupings.
type groupRecord struct {
	Values map[string]string `json:"values,omitempty" doc:"by the names of the groupings; a time is the beginning of its bucket, what a run does not have is empty"`
	Runs   int               `json:"runs" doc:"how many runs"`
	Closed int               `json:"closed" doc:"those that are closed"`
	P50    float64           `json:"p50_seconds,omitempty" doc:"half of the closed runs took no longer"`
	P95    float64           `json:"p95_seconds,omitempty" doc:"95 of a hundred closed runs took no longer"`
	Steps  int64             `json:"steps,omitempty" doc:"with --histories: outcomes of steps in the present generations"`
	Tries  int64             `json:"attempts,omitempty" doc:"with --histories: attempts that these took"`
}

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
		if q.By, err = parseGroupings(c.Command, by); err != nil {
			return err
		}
		out, err := c.client.Aggregate(c.ctx, q)
		if err != nil {
			return err
		}
		rec := tallyOf(&out, by)
		if c.a.output != formatTable {
			return printOne(c.out, &rec, nil)
		}
		return printTable(c.out, groupColumns(&rec, by, q.Histories), rec.Groups)
	})
	f.add(a, c)
	fl := c.Flags()
	fl.StringArrayVar(&by, "by", nil, "what runs are grouped by: workflow, version, status, queue, priority, a label, or created:1h, started:1h, closed:1d; at most four")
	fl.BoolVar(&q.Histories, "histories", false, "also attempts of steps: some lookups more a run")
	fl.IntVar(&q.Cap, "cap", 0, "how many runs are counted at most; 0 for 100,000, or 10,000 with --histories")
	return printing(c, "tally")
}

// parseGroupings reads --by.
func parseGroupings(c *cobra.Command, list []string) (by []journal.Grouping, err error) {
	for _, arg := range list {
		field, bucket, timed := strings.Cut(arg, ":")
		g := journal.Grouping{Field: field}
		switch field {
		case "created", "started", "closed":
			if !timed {
				return nil, usage(c, "--by %s needs the width of a bucket: %[1]s:1h", field)
			}
			if g.Bucket, err = parseSpan(bucket); err != nil {
				return nil, usage(c, "--by %q: %q is no duration such as 90m, 12h or 3d", arg, bucket)
			}
		default:
			g.Field = arg // names of labels may have colons
		}
		by = append(by, g)
	}
	return by, nil
}

// fieldOf is the name of a grouping without its bucket.
func fieldOf(by string) string {
	switch field, _, _ := strings.Cut(by, ":"); field {
	case "created", "started", "closed":
		return field
	}
	return by
}

func tallyOf(a *journal.Aggregated, by []string) tallyRecord {
	rec := tallyRecord{Runs: a.Runs, Capped: a.Capped, Groups: []groupRecord{}}
	for i := range a.Groups {
		g := &a.Groups[i]
		r := groupRecord{Runs: g.Runs, Closed: g.Closed, P50: g.P50.Seconds(), P95: g.P95.Seconds(),
			Steps: g.Steps, Tries: g.Attempts}
		if len(by) > 0 {
			r.Values = map[string]string{}
		}
		for k, name := range by {
			r.Values[fieldOf(name)] = g.Values[k]
		}
		rec.Groups = append(rec.Groups, r)
	}
	return rec
}

// groupColumns are a column for each grouping, and what there is to say of a group.
func groupColumns(rec *tallyRecord, by []string, histories bool) (columns []column[groupRecord]) {
	for _, name := range by {
		field := fieldOf(name)
		columns = append(columns, column[groupRecord]{strings.ToUpper(oneLine(field, 40)), func(_ *printer, g *groupRecord) string { return oneLine(g.Values[field], 60) }})
	}
	count := func(n int) string {
		if rec.Capped {
			return strconv.Itoa(n) + "+"
		}
		return strconv.Itoa(n)
	}
	columns = append(columns,
		column[groupRecord]{"RUNS", func(_ *printer, g *groupRecord) string { return count(g.Runs) }},
		column[groupRecord]{"CLOSED", func(_ *printer, g *groupRecord) string { return count(g.Closed) }},
		column[groupRecord]{"P50", func(_ *printer, g *groupRecord) string { return seconds(g.P50, g.Closed) }},
		column[groupRecord]{"P95", func(_ *printer, g *groupRecord) string { return seconds(g.P95, g.Closed) }})
	if histories {
		columns = append(columns,
			column[groupRecord]{"STEPS", func(_ *printer, g *groupRecord) string { return strconv.FormatInt(g.Steps, 10) }},
			column[groupRecord]{"ATTEMPTS", func(_ *printer, g *groupRecord) string { return strconv.FormatInt(g.Tries, 10) }})
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
