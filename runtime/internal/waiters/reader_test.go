package waiters

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// TestLateReadsAreDivided: a read that took too long is made again in parts, so whoever waits for a
// run that can be read hears of its end, and of the answers to its updates. The run that takes too
// long by itself waits alone, and is heard of when it can be read.
func TestLateReadsAreDivided(t *testing.T) {
	const limit, callsMax = 30 * time.Second, 14 // of a call
	synctest.Test(t, func(t *testing.T) {
		runs := make([]journal.RunID, 40)
		for i := range runs {
			runs[i] = journal.NewRunID()
		}
		greedy := runs[7]
		var free atomic.Bool
		var calls atomic.Int64
		took := func(members int, asked bool) error {
			if calls.Add(1); members > 8 || asked && !free.Load() {
				time.Sleep(limit)
				return fmt.Errorf("%w: %w", driver.ErrTookLong, journal.ErrUnavailable)
			}
			return nil
		}
		s := &endStore{ends: func(_ context.Context, runs []journal.RunID) (ends []driver.End, err error) {
			for _, id := range runs {
				ends = append(ends, driver.End{Run: id, Terminal: &journal.Event{Kind: journal.RunCompleted}})
			}
			return ends, took(len(runs), slices.Contains(runs, greedy))
		}, load: func(_ context.Context, list []driver.LoadRequest) (histories []driver.History, err error) {
			for _, q := range list {
				histories = append(histories, driver.History{Run: journal.Run{ID: q.Run}, Answer: &journal.Answer{}})
			}
			return histories, took(len(list), false)
		}}
		w := New(driver.New(s, nil), Options{Poll: pollOfTests, Unanswered: func(*journal.Run) error { return nil }})
		var all sync.WaitGroup
		var last sync.WaitGroup
		for _, id := range runs {
			of := &all
			if id == greedy {
				of = &last
			}
			of.Go(func() {
				if _, err := w.AwaitEnd(t.Context(), id, false); err != nil {
					t.Error(err)
				}
			})
		}
		for update := range journal.InboxSeq(20) { // all of one run
			all.Go(func() {
				if _, err := w.AwaitReply(t.Context(), runs[0], update+1); err != nil {
					t.Error(err)
				}
			})
		}
		began := time.Now()
		all.Wait()
		if waited := time.Since(began); waited > callsMax*limit {
			t.Errorf("those who could hear waited %s, which is more than %d calls that take too long", waited, callsMax)
		}
		free.Store(true)
		last.Wait()
		time.Sleep(limit) // a call that was on its way when the last one heard
		if n := calls.Load(); n > 60 {
			t.Errorf("%d calls were made", n)
		}
	})
}
