package cli

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// What is looked at to complete an id.
const (
	completePages = 5
	completeSkew  = time.Minute   // between the clocks of a store and of who starts runs
	idTimeMax     = 4102444800000 // the year 2100, in milliseconds
)

// oneRun is a verb on one run, whose id is completed.
func (a *app) oneRun(c *cobra.Command) *cobra.Command {
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst(a.completeRuns)
	return c
}

// completeRuns offers the newest runs that begin with what was typed: with key= by the key, else by
// the id.
func (a *app) completeRuns(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return a.offer(cmd, func(c *call) (list []cobra.Completion, err error) {
		f, ok := runsFrom(typed)
		for pages := 0; ok && pages < completePages && len(list) < completeRuns; pages++ {
			page, err := c.client.List(c.ctx, f)
			if err != nil {
				return list, err
			}
			c.out.now = page.Now
			for i := range page.Runs {
				list = append(list, completedRun(c, &page.Runs[i], typed)...)
			}
			f.Cursor = page.Next
			ok = page.Next != "" && !f.Since.IsZero()
		}
		return list[:min(len(list), 2*completeRuns)], nil
	})
}

// completedRun are the names of a run that begin with what was typed.
func completedRun(c *call, run *journal.Run, typed string) (list []cobra.Completion) {
	r := c.records.Run(run)
	what := fmt.Sprintf("%s, %s, %s", oneLine(r.Workflow, 40), r.Word(), c.out.at(r.CreatedAt))
	if strings.HasPrefix(r.ID, typed) {
		list = append(list, cobra.CompletionWithDesc(r.ID, what))
	}
	if r.Key != "" && strings.HasPrefix(keyPrefix+r.Key, typed) {
		list = append(list, cobra.CompletionWithDesc(keyPrefix+r.Key, what))
	}
	return list
}

// runsFrom is where runs are looked for that begin with what was typed; ok is false if none can. No
// index finds an id by its beginning, but that is the time of the start, by the clock of who
// started the run.
func runsFrom(typed string) (f journal.ListFilter, ok bool) {
	f.Limit = completeRuns
	if key, byKey := strings.CutPrefix(typed, keyPrefix); byKey {
		f.KeyPrefix = key
		return f, true
	}
	if strings.HasPrefix(keyPrefix, typed) { // nothing, or the beginning of key=
		return f, true
	}
	none := journal.RunID{}.String()
	if len(typed) > len(none) {
		return f, false
	}
	first, err := journal.ParseRunID(typed + none[len(typed):])
	if err != nil {
		return f, false
	}
	last, err := journal.ParseRunID(typed + strings.ReplaceAll(none[len(typed):], "0", "f"))
	if err != nil {
		return f, false
	}
	f.Limit, f.Since, f.Until = journal.ListMax, idTime(first).Add(-completeSkew), idTime(last).Add(completeSkew)
	return f, true
}

// idTime is the time that a run's id begins with, at most one that every store knows.
func idTime(id journal.RunID) time.Time {
	var stamp [8]byte
	copy(stamp[2:], id[:6])
	return time.UnixMilli(min(int64(binary.BigEndian.Uint64(stamp[:])), idTimeMax))
}

// oneRunThen is the completion of a verb on a run and on something of that run: its second
// argument.
func (a *app) oneRunThen(of func(c *call, run journal.RunID) ([]cobra.Completion, error)) completion {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) != 1 {
			return a.completeFirst(a.completeRuns)(cmd, args, typed)
		}
		return a.offer(cmd, func(c *call) ([]cobra.Completion, error) {
			run, err := c.run(args[0])
			if err != nil {
				return nil, err
			}
			all, err := of(c, run)
			list := []cobra.Completion{}
			for _, one := range all {
				if strings.HasPrefix(one, typed) {
					list = append(list, one)
				}
			}
			return list, err
		})
	}
}

// completePoints offers the points of a run's history: by word, by step, and behind an event, the
// newest first.
func completePoints(c *call, run journal.RunID) (list []cobra.Completion, err error) {
	events, err := c.client.History(c.ctx, run)
	if err != nil {
		return nil, err
	}
	for _, p := range []struct {
		point runtime.Point
		what  string
	}{
		{runtime.BeforeFailure, "before the failure, the request to cancel, or the termination"},
		{runtime.GenerationStart, "the beginning of the present generation"},
		{runtime.RunStart, "the beginning of the run"},
		{runtime.LatestFit, "behind the last event that the code of this program replays"},
	} {
		list = append(list, cobra.CompletionWithDesc(string(p.point), p.what))
	}
	named := map[string]bool{}
	for i := range events {
		if ev := &events[i]; ev.Kind.EndsStep() && !named[ev.Name] {
			named[ev.Name] = true
			list = append(list, cobra.CompletionWithDesc(string(runtime.BeforeStep(ev.Name)), fmt.Sprintf("before event %d, %s", ev.Seq, ev.Kind)))
		}
	}
	return append(list, newestEvents(events, func(*journal.Event) bool { return true })...), nil
}

// completeSteps offers the steps of a run that can be given a result: those without an outcome,
// then those that have one, the newest first.
func completeSteps(c *call, run journal.RunID) (list []cobra.Completion, err error) {
	d, err := c.client.Describe(c.ctx, run)
	if err != nil {
		return nil, err
	}
	for i := range d.Steps {
		s := &d.Steps[i]
		list = append(list, cobra.CompletionWithDesc("step:"+s.Name, "it has no outcome"),
			cobra.CompletionWithDesc(fmt.Sprintf("cmd:%d", s.Cmd), oneLine(s.Name, 40)+" has no outcome"))
	}
	events, err := c.client.History(c.ctx, run)
	if err != nil {
		return nil, err
	}
	return append(list, newestEvents(events, func(ev *journal.Event) bool { return ev.Kind.EndsStep() })...), nil
}

// newestEvents offers the newest of some events.
func newestEvents(events []journal.Event, is func(*journal.Event) bool) (list []cobra.Completion) {
	for i := len(events) - 1; i >= 0 && len(list) < completeRuns; i-- {
		if ev := &events[i]; is(ev) {
			list = append(list, cobra.CompletionWithDesc(string(runtime.AfterEvent(ev.Seq)), strings.TrimSpace(ev.Kind.String()+" "+oneLine(ev.Name, 40))))
		}
	}
	return list
}
