package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

func runWatch(a *app) *cobra.Command {
	var poll time.Duration
	c := a.oneRun(&cobra.Command{
		Use: "watch RUN", Short: "Print a run's events as they come, until it ends",
		Long: `Print a run's events as they come, until it ends: first those that are there. The run's
end is reported at once, other events are looked for every --poll, which reads only what
is new. Without --timeout it waits as long as it takes.

The exit code is 0 if the run completed and 1 if it failed, was cancelled or terminated.`,
		RunE: a.reads(func(c *call, args []string) error {
			if poll <= 0 {
				return usage(c.Command, "--poll %s must be positive", poll)
			}
			run, err := c.run(args[0])
			if err != nil {
				return err
			}
			return c.watch(run, poll)
		}),
	})
	c.Flags().DurationVar(&poll, "poll", pollDefault, "how often to look for new events")
	waitsForEver(a, c)
	return printing(c, "event a line, with json as well")
}

// waitsForEver makes a verb wait as long as it takes, unless --timeout is given.
func waitsForEver(a *app, c *cobra.Command) {
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if !c.Flags().Changed("timeout") {
			a.timeout = 0
		}
		return nil
	}
}

// watch prints events until the run is closed. Two things go on at once: the client waits for the
// end, as any program would, and this goroutine reads what is new, at its pace. When the end comes
// the rest is read once more, so the terminal event is always the last that is printed.
func (c *call) watch(run journal.RunID, poll time.Duration) error {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := runtime.RunOf(c.client, anyWorkflow(""), run).Result(ctx)
		ended <- err
	}()
	w := watcher{c: c, run: run}
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		if err := w.read(); err != nil {
			return err
		}
		select {
		case err := <-ended:
			return w.end(err)
		case <-tick.C:
		}
	}
}

// watcher has printed the events of a run up to one.
type watcher struct {
	c          *call
	run        journal.RunID
	generation journal.Generation
	seq        journal.Seq
}

// read prints the events behind the last one. A run that has continued as new begins another
// history; what its old one had at the end is not read any more, as histories of old generations
// are not.
func (w *watcher) read() error {
	for {
		got, err := w.c.journal.Load(w.c.ctx, []driver.LoadRequest{{Run: w.run, AfterSeq: w.seq, EventsOnly: true}})
		if err != nil {
			return err
		}
		h := &got[0]
		if h.Err != nil {
			return fmt.Errorf("run %s: %w", w.run, h.Err)
		}
		if h.Run.Generation != w.generation {
			if w.generation != 0 {
				w.c.note("the run continued as new: generation %d", h.Run.Generation)
			}
			again := w.seq > 0
			w.generation, w.seq = h.Run.Generation, 0
			if again {
				continue
			}
		}
		for i := range h.Events {
			w.seq = h.Events[i].Seq
			if err := w.print(&h.Events[i]); err != nil {
				return err
			}
		}
		if !h.More {
			return nil
		}
	}
}

func (w *watcher) print(e *journal.Event) error {
	rec, p := w.c.records.Event(w.run, e), w.c.out
	if p.format != formatTable {
		return p.line(&rec)
	}
	at := e.Time.Local().Format(time.TimeOnly)
	if p.utc {
		at = p.at(e.Time)
	}
	_, err := fmt.Fprintf(p.w, "%s  %d  %s  %s  %s\n", at, rec.Seq, rec.Kind, orDash(oneLine(rec.Name, 40)), orDash(payloadText(rec.Payload, 80)))
	return err
}

// end reads what came last, and makes the run's end the verb's.
func (w *watcher) end(err error) error {
	if w.c.ctx.Err() != nil || errors.Is(err, journal.ErrNotFound) {
		return err
	}
	if e := w.read(); e != nil {
		return e
	}
	if err != nil && w.completed() {
		return nil // with an output that this program does not decode
	}
	return err
}

// completed tells whether the run has completed.
func (w *watcher) completed() bool {
	ends, err := w.c.journal.Ends(w.c.ctx, []journal.RunID{w.run})
	return err == nil && len(ends) == 1 && ends[0].Terminal != nil && ends[0].Terminal.Kind == journal.RunCompleted
}
