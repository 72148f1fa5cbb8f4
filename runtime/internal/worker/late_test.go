package worker

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/held"
)

// A run whose commits and loads take too long is found, by dividing its batches, and tried again
// alone; a line names it, and all others have their answers.
func TestARunThatTakesTooLongIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 30 * time.Second
		bad := journal.NewRunID()
		var mu sync.Mutex
		broken := true
		tooLong := func(has bool) error {
			mu.Lock()
			late := has && broken
			mu.Unlock()
			if !late {
				return nil
			}
			time.Sleep(limit)
			return fmt.Errorf("%w: %w", driver.ErrTookLong, journal.ErrUnavailable)
		}
		s := &faultyStore{
			commit: func(cs []driver.Commit) ([]driver.Outcome, error) {
				err := tooLong(slices.ContainsFunc(cs, func(c driver.Commit) bool { return c.Run == bad }))
				return make([]driver.Outcome, len(cs)), err
			},
			load: func(rs []driver.LoadRequest) ([]driver.History, error) {
				err := tooLong(slices.ContainsFunc(rs, func(r driver.LoadRequest) bool { return r.Run == bad }))
				return make([]driver.History, len(rs)), err
			},
		}
		var text bytes.Buffer
		w := newWriter(t.Context(), driver.New(s, &journal.Options{Logger: slog.New(slog.DiscardHandler)}), 1)
		log := slog.New(slog.NewTextHandler(&text, nil))
		w.late.Log, w.late.Key, w.late.What, w.slow.Log, w.slow.Away = log, "run", held.LateCall, log, func() bool { return true }
		var outcomes, histories int
		submit := func(run journal.RunID) {
			c := driver.Commit{Run: run, Node: 1, Fence: 1, Generation: 1, Next: driver.Next{Kind: driver.NextKeep}}
			w.Submit(c, func(o driver.Outcome) {
				mu.Lock()
				defer mu.Unlock()
				if outcomes++; o.Err != nil {
					t.Errorf("run %s: %v", run, o.Err)
				}
			})
			w.Load(driver.LoadRequest{Run: run}, func(_ driver.History, err error) {
				mu.Lock()
				defer mu.Unlock()
				if histories++; err != nil {
					t.Errorf("run %s: %v", run, err)
				}
			})
		}
		want := func(what string, n, lines int) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if outcomes != n || histories != n {
				t.Errorf("%s: %d outcomes and %d histories, want %d", what, outcomes, histories, n)
			}
			const line = `"the store gives a call up because it takes too long; it is tried again at longer intervals, apart from others"`
			if got := strings.Count(text.String(), "msg="+line+" run="+bad.String()); got != lines {
				t.Errorf("%s: %d lines name the run, want %d: %s", what, got, lines, &text)
			}
		}
		for range 5 {
			submit(journal.NewRunID())
		}
		submit(bad)
		for range 5 {
			submit(journal.NewRunID())
		}
		time.Sleep(6 * limit)
		synctest.Wait()
		want("the culprit is alone", 10, 1)
		submit(journal.NewRunID())
		time.Sleep(time.Second)
		synctest.Wait()
		want("nobody waits", 11, 1)
		mu.Lock()
		broken = false
		mu.Unlock()
		w.wait()
		synctest.Wait()
		want("at the end", 12, 1)
		if w.late.Held(bad) {
			t.Error("the run still counts as one that takes too long")
		}
	})
}
