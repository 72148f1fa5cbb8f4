package schedule_test

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// serving runs a node with invoices on a store in memory while fn does its work. A program opens
// postgres or sqlite instead.
func serving(fn func(ctx context.Context, c *runtime.Client) error) {
	store := memory.New(nil)
	defer store.Close()
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent})
	schedule.Handle(node)
	runtime.Handle(node, invoice, func(_ workflow.Context, who string) (string, error) { return "invoices of " + who, nil }, nil)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	if err := fn(ctx, node.Client()); err != nil {
		fmt.Println(err)
	}
	stop()
	<-ended
}

// invoices are those of a shop, at six in the evening of each month's last day.
func invoices(shop string) schedule.Schedule {
	return schedule.Schedule{Name: shop, Spec: calendar.Spec{On: []calendar.Fields{{Day: "L", Hour: "18"}}}, Start: schedule.StartOf(invoice, shop)}
}

// put makes schedules, each for a shop.
func put(ctx context.Context, c *runtime.Client, shops ...string) error {
	for _, shop := range shops {
		applied, err := schedule.Put(ctx, c, schedule.Set{Name: "shops", Schedules: []schedule.Schedule{invoices(shop)}}, nil)
		if err != nil {
			return err
		}
		changes, err := applied.Wait(ctx)
		if err != nil {
			return err
		}
		fmt.Println("added:", changes.Added, "kept:", changes.Kept)
	}
	return nil
}

// when waits until a schedule is as it should be: it hears of orders in a moment.
func when(ctx context.Context, c *runtime.Client, id string, is func(f *schedule.Found) bool) (schedule.Found, error) {
	for {
		if f, err := schedule.Get(ctx, c, id); err != nil || is(&f) {
			return f, err
		}
	}
}

// A program makes a schedule for each customer when that comes.
func ExamplePut() {
	serving(func(ctx context.Context, c *runtime.Client) error {
		if err := put(ctx, c, "north", "south"); err != nil {
			return err
		}
		list, err := schedule.List(ctx, c, "shops")
		for _, f := range list {
			fmt.Println(f.ID)
		}
		return err
	})
	// Output:
	// added: [north] kept: 0
	// added: [south] kept: 0
	// shops/north
	// shops/south
}

// A customer has left: what is scheduled for it goes, and its runs go on.
func ExampleDelete() {
	serving(func(ctx context.Context, c *runtime.Client) error {
		if err := put(ctx, c, "north"); err != nil {
			return err
		}
		applied, err := schedule.Delete(ctx, c, "shops", []string{"north"}, nil)
		if err != nil {
			return err
		}
		changes, err := applied.Wait(ctx)
		fmt.Println("removed:", changes.Removed)
		return err
	})
	// Output:
	// added: [north] kept: 0
	// removed: [north]
}

func ExamplePause() {
	serving(func(ctx context.Context, c *runtime.Client) error {
		if err := put(ctx, c, "north"); err != nil {
			return err
		}
		if err := schedule.Pause(ctx, c, "shops/north", "its books are audited"); err != nil {
			return err
		}
		f, err := when(ctx, c, "shops/north", func(f *schedule.Found) bool { return f.Paused != "" })
		fmt.Println(f.Next.IsZero(), f.Paused != "")
		return err
	})
	// Output:
	// added: [north] kept: 0
	// true true
}

// Slots begin again when the pause ends. Those that came meanwhile do not run.
func ExampleResume() {
	serving(func(ctx context.Context, c *runtime.Client) error {
		if err := put(ctx, c, "north"); err != nil {
			return err
		}
		if err := schedule.Pause(ctx, c, "shops/north", "its books are audited"); err != nil {
			return err
		}
		if _, err := when(ctx, c, "shops/north", func(f *schedule.Found) bool { return f.Paused != "" }); err != nil {
			return err
		}
		if err := schedule.Resume(ctx, c, "shops/north"); err != nil {
			return err
		}
		f, err := when(ctx, c, "shops/north", func(f *schedule.Found) bool { return f.Paused == "" && !f.Next.IsZero() })
		fmt.Println("next at", f.Next.Format("15:04"))
		return err
	})
	// Output:
	// added: [north] kept: 0
	// next at 18:00
}

// A shop has come in July, and wants the invoices of its year.
func ExampleBackfill() {
	serving(func(ctx context.Context, c *runtime.Client) error {
		if err := put(ctx, c, "north"); err != nil {
			return err
		}
		from, to := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2025, 7, 1, 0, 0, 0, 0, time.UTC)
		if err := schedule.Backfill(ctx, c, "shops/north", from, to, nil); err != nil {
			return err
		}
		f, err := when(ctx, c, "shops/north", func(f *schedule.Found) bool { return f.Counts.Completed == 6 })
		fmt.Println("completed:", f.Counts.Completed)
		if err != nil {
			return err
		}
		june := time.Date(2025, 6, 30, 18, 0, 0, 0, time.UTC)
		run, err := c.FindKey(ctx, schedule.KeyOf("shops/north", june))
		if err != nil {
			return err
		}
		fmt.Println(runtime.RunOf(c, invoice, run).Result(ctx))
		return nil
	})
	// Output:
	// added: [north] kept: 0
	// completed: 6
	// invoices of north <nil>
}
