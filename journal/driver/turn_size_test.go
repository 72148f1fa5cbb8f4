package driver_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// accepting is a store that takes every commit and counts them.
type accepting struct {
	driver.Store
	commits int
}

func (s *accepting) Commit(_ context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	s.commits += len(commits)
	return make([]driver.Outcome, len(commits)), nil
}

// A turn that has more bytes than a store must take is refused before anything is sent, with an
// error that names the run. What it does to others is written apart and does not count.
func TestATurnThatIsTooLarge(t *testing.T) {
	const each = 2 << 20
	const fit = journal.CommitBytesMax / each
	payload := journal.Payload{Data: make([]byte, each), Encoding: "x"} // shared, so that the turns cost no memory
	run := journal.NewRunID()
	steps := func(c *driver.Commit, n int) {
		for range n {
			c.Events = append(c.Events, journal.Event{Seq: journal.Seq(len(c.Events) + 2), Kind: journal.StepCompleted, Cmd: 1, Payload: payload, Link: 1})
		}
	}
	for name, test := range map[string]struct {
		fill func(c *driver.Commit)
		fits bool
	}{
		"full":                {func(c *driver.Commit) { steps(c, fit) }, true},
		"a byte more":         {func(c *driver.Commit) { steps(c, fit); c.Next.Problem = "x" }, false},
		"an event more":       {func(c *driver.Commit) { steps(c, fit+1) }, false},
		"with heartbeats":     {func(c *driver.Commit) { steps(c, fit); c.Attempts = []journal.Attempt{{Heartbeat: &payload}} }, false},
		"with the next input": {func(c *driver.Commit) { steps(c, fit); continues(c, payload) }, false},
		"with children": {func(c *driver.Commit) {
			steps(c, fit)
			c.Starts = []journal.Start{{Workflow: "w", Input: payload}}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			store := &accepting{}
			c := driver.Commit{Run: run, Head: journal.Head{Seq: 1, Link: 1}}
			test.fill(&c)
			_, err := driver.New(store, nil).Commit(t.Context(), []driver.Commit{c})
			if test.fits {
				if err != nil || store.commits != 1 {
					t.Errorf("%v, %d commits", err, store.commits)
				}
				return
			}
			limit, ok := errors.AsType[*journal.LimitError](err)
			if !ok || limit.Max != journal.CommitBytesMax || limit.Size <= limit.Max || !strings.Contains(err.Error(), run.String()) {
				t.Errorf("the error is %v", err)
			}
			if store.commits != 0 {
				t.Error("the turn was sent")
			}
		})
	}
}

func continues(c *driver.Commit, input journal.Payload) {
	c.Continue = &journal.Continue{Version: 1, Input: input}
	c.Events = append(c.Events, journal.Event{Seq: journal.Seq(len(c.Events) + 2), Kind: journal.RunContinued, Link: 1})
}
