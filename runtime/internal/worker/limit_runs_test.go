package worker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// counted counts rounds.
type counted struct {
	driver.Membership
	rounds atomic.Int64
}

func (c *counted) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	c.rounds.Add(1)
	return c.Membership.Limits(ctx, r)
}

// A run that waits for its limits is found by a hint, at its time, and without any hint by a poll,
// which is rare.
func TestRunsThatWaitAreFound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		j := driver.New(store, nil)
		routes := []journal.Route{{Queue: journal.DefaultQueue, Workflow: "w", Version: 1}}
		m, err := j.Join(t.Context(), journal.Node{Name: "n", Lease: 24 * time.Hour, Routes: routes})
		if err != nil {
			t.Fatal(err)
		}
		c := &counted{Membership: m}
		l := newRunLimits(c, j.Now, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); l.loop(ctx) }()
		defer func() { cancel(); <-done }()
		start := func(delay time.Duration) func(what string, want journal.TaskState) {
			st := journal.Start{Workflow: "w", Delay: delay, Limits: []journal.LimitNeed{{Name: "free", Cost: 1}}}
			st.SetDefaults()
			if _, err := store.Start(t.Context(), nil, []journal.Start{st}); err != nil { // no hint tells of it
				t.Fatal(err)
			}
			return func(what string, want journal.TaskState) {
				t.Helper()
				synctest.Wait()
				page, err := j.List(t.Context(), journal.ListFilter{IDs: []journal.RunID{st.ID}})
				if err != nil {
					t.Fatal(err)
				}
				if got := page.Runs[0].Task.State; got != want {
					t.Errorf("%s it is %s, want %s", what, got, want)
				}
			}
		}
		hinted := start(0)
		hinted("before anybody looks", journal.Limited)
		l.hear(time.Time{})
		hinted("behind a hint", journal.Ready)
		later := start(time.Second)
		l.hear(j.Now().Add(time.Second))
		time.Sleep(time.Second - time.Millisecond)
		later("before its time", journal.Limited)
		time.Sleep(5 * time.Millisecond)
		later("at its time", journal.Ready)
		polled := start(0)
		time.Sleep(limitRunsPoll)
		polled("behind a poll", journal.Ready)
		before := c.rounds.Load()
		time.Sleep(time.Hour)
		synctest.Wait()
		looks := c.rounds.Load() - before
		if most := int64(limitRunsBusy/limitRunsPoll + (time.Hour-limitRunsBusy)/limitRunsRest); looks > most || looks < most-2 {
			t.Errorf("%d looks in an hour, want %d", looks, most)
		}
		polled = start(0)
		time.Sleep(limitRunsRest)
		polled("behind a rare poll", journal.Ready)
	})
}
