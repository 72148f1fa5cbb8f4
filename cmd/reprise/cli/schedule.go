package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/ui/record"
)

// scheduleGroup has the verbs about schedules.
func scheduleGroup(a *app) *cobra.Command {
	g := &cobra.Command{Use: "schedule", Short: "Start runs at times of the calendar",
		Long: `Start runs at times of the calendar. A SCHEDULE is the name of one in the set default, or
SET/NAME. Schedules are applied from a file; nodes execute them with which schedule.Handle
has registered their workflow. docs/schedules.md has the fields of the file.`}
	g.AddCommand(scheduleApply(a), scheduleDelete(a), scheduleList(a), scheduleShow(a), schedulePreview(a),
		schedulePause(a), scheduleResume(a), scheduleTrigger(a), scheduleBackfill(a))
	return g
}

func scheduleApply(a *app) *cobra.Command {
	var dryRun bool
	apply := a.serves(func(c *call, args []string) error {
		set, err := readSet(c, args[0])
		if err != nil {
			return err
		}
		applied, err := schedule.Apply(c.ctx, c.client, set, nil)
		if err != nil {
			return err
		}
		return changed(c, set.Name, applied)
	})
	compare := a.reads(func(c *call, args []string) error {
		set, err := readSet(c, args[0])
		if err != nil {
			return err
		}
		would, err := schedule.Compare(c.ctx, c.client, set)
		if err != nil {
			return err
		}
		rec := record.ScheduleChangeOf(set.Name, &would)
		return printOne(c.out, &rec, changeText)
	})
	c := &cobra.Command{
		Use: "apply FILE", Short: "Make the schedules of a set those of a file of YAML", Args: cobra.ExactArgs(1),
		Long: `Make the schedules of a set those of a file of YAML, - for standard input: new ones are
started, others are changed, and those that are gone are removed, all at once. What is
wrong is said before anything is done. This process makes the change itself.`,
		Example: "  reprise schedule apply schedules.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dryRun {
				return compare(cmd, args)
			}
			return apply(cmd, args)
		},
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "say what it would change, and change nothing")
	return printing(c, "scheduleChange")
}

func scheduleDelete(a *app) *cobra.Command {
	var yes bool
	c := a.schedules(&cobra.Command{
		Use: "delete SCHEDULE ...", Short: "Remove schedules", Args: cobra.MinimumNArgs(1),
		Long: `Remove schedules, all of one set. Runs that they have started go on. What they have counted is lost.`,
		RunE: a.serves(func(c *call, args []string) error {
			set, names := "", []string{}
			for i, id := range args {
				f, err := schedule.Get(c.ctx, c.client, id)
				if err != nil {
					return err
				}
				of, name, found := strings.Cut(f.ID, "/")
				if !found {
					of, name = schedule.DefaultSet, f.ID
				}
				if i > 0 && of != set {
					return usage(c.Command, "%s is of another set than %s: delete them one by one", id, args[0])
				}
				set, names = of, append(names, name)
			}
			err := c.ask(yes, "delete cannot be undone", func() (string, error) { return "delete " + strings.Join(args, " "), nil })
			if err != nil {
				return err
			}
			applied, err := schedule.Delete(c.ctx, c.client, set, names, nil)
			if err != nil {
				return err
			}
			return changed(c, set, applied)
		}),
	})
	addYes(c, &yes)
	return printing(c, "scheduleChange")
}

// changed executes schedules in this process until a change has been made, and prints it.
func changed(c *call, set string, applied *schedule.Applied) error {
	o := runtime.NodeOptions{Drain: drainJob, Logger: silent}
	if c.a.o.Client != nil {
		o.Interceptors = c.a.o.Client.Interceptors
	}
	n := runtime.NewNode(c.journal.Journal, &o)
	schedule.Handle(n)
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- n.Run(ctx) }()
	done, err := applied.Wait(ctx)
	if err == nil {
		err = awaitGone(c, cmp.Or(set, schedule.DefaultSet), done.Removed)
	}
	stop()
	if failure := <-served; failure != nil {
		return failure
	}
	if err != nil {
		return err
	}
	rec := record.ScheduleChangeOf(set, &done)
	return printOne(c.out, &rec, changeText)
}

// awaitGone waits until the runs of schedules that were removed have heard of it, so that the verbs
// that follow do not find them.
func awaitGone(c *call, set string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	tick := time.NewTicker(goneTick)
	defer tick.Stop()
	for {
		list, err := schedule.List(c.ctx, c.client, set)
		if err != nil {
			return err
		}
		// The id is there from the start; what a node has published of the schedule is not.
		if !slices.ContainsFunc(list, func(f schedule.Found) bool { return slices.Contains(names, f.ID[strings.LastIndexByte(f.ID, '/')+1:]) }) {
			return nil
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			return c.ctx.Err()
		}
	}
}

// goneTick is how often a verb looks whether schedules are gone, which takes milliseconds.
const goneTick = 50 * time.Millisecond

func scheduleList(a *app) *cobra.Command {
	var set string
	c := &cobra.Command{
		Use: "list", Short: "List schedules, when they run next, and what they have done", Args: cobra.NoArgs,
		RunE: a.reads(func(c *call, _ []string) error {
			found, err := schedule.List(c.ctx, c.client, set)
			if err != nil {
				return err
			}
			list := []record.Schedule{}
			for i := range found {
				list = append(list, record.ScheduleOf(&found[i]))
			}
			return printList(c.out, scheduleColumns, list)
		}),
	}
	c.Flags().StringVar(&set, "set", "", "only schedules of this set")
	return printing(c, "list of schedule")
}

func scheduleShow(a *app) *cobra.Command {
	c := a.schedules(&cobra.Command{
		Use: "show SCHEDULE", Short: "Show a schedule, what it waits for, and what it has done", Args: cobra.ExactArgs(1),
		Long: `Show a schedule, what it waits for, and what it has done. Its runs are those of
run list --where 'schedule = "SCHEDULE"'.`,
		RunE: a.reads(func(c *call, args []string) error {
			f, err := schedule.Get(c.ctx, c.client, args[0])
			if err != nil {
				return err
			}
			rec := record.ScheduleOf(&f)
			page, err := c.client.List(c.ctx, record.ScheduledBy(f.ID, record.RecentRuns))
			if err != nil {
				return err
			}
			c.out.now = page.Now
			rec.Coming = record.ComingOf(&f, page.Now)
			for i := range page.Runs {
				rec.Recent = append(rec.Recent, c.records.Run(&page.Runs[i]))
			}
			return printOne(c.out, &rec, scheduleText)
		}),
	})
	return printing(c, "schedule")
}

func schedulePause(a *app) *cobra.Command {
	var reason string
	c := a.schedules(&cobra.Command{
		Use: "pause SCHEDULE", Short: "Keep a schedule from starting runs until it is resumed", Args: cobra.ExactArgs(1),
		Long: `Keep a schedule from starting runs until it is resumed. Open runs go on; slots that come
meanwhile do not run, not even later. Triggers and backfills run.`,
		RunE: a.writes(func(c *call, args []string) error {
			return told(c, args[0], "paused", "", schedule.Pause(c.ctx, c.client, args[0], reason))
		}),
	})
	c.Flags().StringVar(&reason, "reason", "", "why, for those who look at the schedule")
	return printing(c, "scheduleTold")
}

func scheduleResume(a *app) *cobra.Command {
	c := a.schedules(&cobra.Command{
		Use: "resume SCHEDULE", Short: "Let a paused schedule go on, with the slots that come", Args: cobra.ExactArgs(1),
		RunE: a.writes(func(c *call, args []string) error {
			return told(c, args[0], "resumed", "", schedule.Resume(c.ctx, c.client, args[0]))
		}),
	})
	return printing(c, "scheduleTold")
}

func scheduleTrigger(a *app) *cobra.Command {
	var o schedule.TriggerOptions
	c := a.schedules(&cobra.Command{
		Use: "trigger SCHEDULE", Short: "Start a run of a schedule now", Args: cobra.ExactArgs(1),
		Long: `Start a run of a schedule now, also while it is paused. If a run is open, the overlap policy
of the schedule, or that of --overlap, says what happens.`,
		RunE: a.writes(func(c *call, args []string) error {
			key, err := schedule.Trigger(c.ctx, c.client, args[0], &o)
			return told(c, args[0], "triggered", key, err)
		}),
	})
	c.Flags().StringVar(&o.Key, "key", "", "a second trigger with it does nothing")
	c.Flags().StringVar((*string)(&o.Overlap), "overlap", "", "skip, buffer-one, buffer-all, cancel-other, terminate-other or allow")
	return printing(c, "scheduleTold")
}

func scheduleBackfill(a *app) *cobra.Command {
	var from, to string
	var o schedule.BackfillOptions
	c := a.schedules(&cobra.Command{
		Use: "backfill SCHEDULE", Short: "Start the runs of past slots that have none", Args: cobra.ExactArgs(1),
		Long: `Start the runs of all slots of a range, by what the schedule says now: one behind the other,
or side by side with --at-once. A slot that has a run which is open or has completed is left
as it is.`,
		Example: "  reprise schedule backfill nightly-report --from 2026-11-01 --to 2026-11-30T12:00:00Z",
		RunE: a.writes(func(c *call, args []string) error {
			begin, err := parseMoment(c.Command, "from", from)
			if err != nil {
				return err
			}
			end := time.Now()
			if to != "" {
				if end, err = parseMoment(c.Command, "to", to); err != nil {
					return err
				}
			}
			return told(c, args[0], "backfill", "", schedule.Backfill(c.ctx, c.client, args[0], begin, end, &o))
		}),
	})
	c.Flags().StringVar(&from, "from", "", "a date, or a time as in RFC 3339; in UTC if it names no zone")
	c.Flags().StringVar(&to, "to", "", "likewise; now if it is not given")
	c.Flags().BoolVar(&o.AtOnce, "at-once", false, "start the runs side by side, 100 a second")
	return printing(c, "scheduleTold")
}

// told prints what a schedule was told, or the error.
func told(c *call, id, done, key string, err error) error {
	if err != nil {
		return err
	}
	rec := record.ScheduleTold{ID: id, Done: done, Key: key}
	return printOne(c.out, &rec, func(_ *printer, r *record.ScheduleTold) string {
		if r.Key != "" {
			return fmt.Sprintf("%s: %s; its run has the key %s\n", r.ID, r.Done, r.Key)
		}
		return fmt.Sprintf("%s: %s\n", r.ID, r.Done)
	})
}
