package cli

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
	"github.com/reprise-run/reprise/ui/record"
)

// previewFlags say what is previewed, and from when on.
type previewFlags struct {
	file, after string
	n           int
	spec        calendar.Spec
	cron        []string
}

func schedulePreview(a *app) *cobra.Command {
	var f previewFlags
	c := a.schedules(&cobra.Command{
		Use: "preview [SCHEDULE]", Short: "Show the next times of a schedule, with what daylight saving does to them", Args: cobra.MaximumNArgs(1),
		Long: `Show the next times of a schedule, with what daylight saving does to them: of one that is
applied, of one in a file, or of a line of cron.`,
		Example: "  reprise schedule preview nightly-report\n  reprise schedule preview nightly-report --file schedules.yaml\n" +
			"  reprise schedule preview --cron '30 2 * * mon-fri' --zone Europe/Berlin --after 2026-03-27",
	})
	applied := a.reads(func(c *call, args []string) error {
		found, err := schedule.Get(c.ctx, c.client, args[0])
		if err != nil {
			return err
		}
		return f.print(c.Command, c.out, found.Schedule.Spec)
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(f.cron) > 0 && (len(args) > 0 || f.file != ""), len(f.cron) == 0 && len(args) == 0:
			return usage(cmd, "name a schedule, or give --cron")
		case len(f.cron) == 0 && f.file == "":
			return applied(cmd, args)
		}
		if err := a.checkFlags(cmd); err != nil {
			return err
		}
		out := &printer{w: cmd.OutOrStdout(), format: a.output, times: times{utc: a.utc, now: time.Now()}}
		if len(f.cron) > 0 {
			f.spec.Cron = f.cron
			return f.print(cmd, out, f.spec)
		}
		set, err := readSet(&call{Command: cmd, a: a}, f.file)
		if err != nil {
			return err
		}
		for i := range set.Schedules {
			if set.Schedules[i].Name == args[0] {
				return f.print(cmd, out, set.Schedules[i].Spec)
			}
		}
		return notFound(args[0])
	}
	fl := c.Flags()
	fl.StringVar(&f.file, "file", "", "file of YAML that has the schedule")
	fl.StringArrayVar(&f.cron, "cron", nil, "line of cron, instead of a schedule; may be repeated")
	fl.StringVar(&f.spec.Zone, "zone", "", "of --cron: a zone, such as Europe/Berlin; default UTC")
	fl.StringVar((*string)(&f.spec.Gap), "gap", "", "of --cron: after, before or skip")
	fl.StringVar((*string)(&f.spec.Repeat), "repeat", "", "of --cron: first, second or both")
	fl.StringVar(&f.after, "after", "", "a date, or a time as in RFC 3339, instead of now")
	fl.IntVarP(&f.n, "number", "n", 10, "how many times")
	return printing(c, "list of slot")
}

// previewMax is the most times that a preview shows.
const previewMax = 10_000

// print prints the next times of a spec.
func (f *previewFlags) print(cmd *cobra.Command, out *printer, s calendar.Spec) error {
	if f.n < 1 || f.n > previewMax {
		return usage(cmd, "--number %d must be from 1 to %d", f.n, previewMax)
	}
	times, err := calendar.Compile(s)
	if err != nil {
		return usage(cmd, "%v", err)
	}
	after := time.Now()
	if f.after != "" {
		if after, err = parseMoment(cmd, "after", f.after); err != nil {
			return err
		}
		after = after.Add(-time.Second)
	}
	if out.format == formatTable {
		cmd.PrintErrf("note: %s\n", s.Policy())
	}
	return printList(out, slotColumns, record.SlotsOf(times, after, f.n))
}
