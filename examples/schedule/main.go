// Command schedule starts a run every second, three times, and shows when a nightly report
// will run around the days on which the clock is set.
//
//	go run ./examples/schedule
//
// Its journal is a SQLite file in a folder that it prints. Start it again: the schedules are there,
// Apply finds that nothing has changed, and what was due meanwhile, an hour back at most, starts
// late. reprise schedule list and reprise schedule show beat, with --store and that file, say what
// they have done.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
	"time"
	_ "time/tzdata" // the zones, on machines that have none

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

const (
	Beat   workflow.Name[string, string] = "beat"
	Report workflow.Name[string, string] = "report"
)

// beat makes a workflow that says for which slot it runs: a label of its run has that.
func beat(said chan<- string) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, who string) (string, error) {
		slot, _ := schedule.SlotOf(ctx.Info())
		return workflow.Step(ctx, "beat", func(context.Context) (string, error) {
			said <- slot.Format(time.TimeOnly) + " " + who
			return who, nil
		}, nil)
	}
}

func report(workflow.Context, string) (string, error) { return "", nil }

// schedules are all that this program has: one that is taken out here is removed by the next Apply.
func schedules() schedule.Set {
	return schedule.Set{Schedules: []schedule.Schedule{{
		Name:  "beat",
		Spec:  calendar.Spec{Every: []calendar.Interval{{Every: calendar.Duration(time.Second)}}},
		Start: schedule.StartOf(Beat, "tick"),
		// After a pause of the program one beat makes good for all.
		CatchUp: schedule.CatchUp{Limit: 1},
	}, {
		Name:       "nightly-report",
		Spec:       calendar.Spec{Cron: []string{"30 2 * * *"}, Zone: "Europe/Berlin"},
		Start:      schedule.StartOf(Report, "all shops"),
		PauseAfter: 3,
	}}}
}

func main() {
	dir := flag.String("dir", filepath.Join(os.TempDir(), "reprise-schedule"), "`folder` of the SQLite file")
	flag.Parse()
	if err := run(context.Background(), *dir, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	path := filepath.Join(dir, "reprise.db")
	store, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	fmt.Fprintln(out, "the journal is", path)

	node := runtime.NewNode(journal.New(store, nil), nil)
	schedule.Handle(node)
	said := make(chan string, 100)
	runtime.Handle(node, Beat, beat(said), nil)
	runtime.Handle(node, Report, report, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer running.Wait()
	defer end(nil) // the node drains

	applied, err := schedule.Apply(ctx, node.Client(), schedules(), nil)
	if err != nil {
		return err
	}
	changes, err := applied.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d schedules are new, %d are as they were\n", len(changes.Added), changes.Kept)
	if err := preview(out); err != nil {
		return err
	}
	for range 3 {
		select {
		case text := <-said:
			fmt.Fprintln(out, text)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// preview shows two nights around the day on which summer time begins.
func preview(out io.Writer) error {
	times, err := calendar.Compile(schedules().Schedules[1].Spec)
	if err != nil {
		return err
	}
	for _, s := range times.Preview(time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC), 2) {
		fmt.Fprintln(out, "nightly-report", s.At.In(times.Zone()).Format("2 January 15:04"), s.Note)
	}
	return nil
}
