package waiters

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An end that a retry or a reset has made void is told to nobody who asks behind it: not from a read
// that began before, and not from what is remembered, whether this client went back or another one a
// while ago. Each of them gets the next end, and needs no poll for it.
func TestAnEndThatIsOverIsNotTold(t *testing.T) {
	id := journal.NewRunID()
	first, second := &journal.Event{Kind: journal.RunFailed}, &journal.Event{Kind: journal.RunCompleted}
	for name, c := range map[string]struct {
		remembered bool
		between    func(w *Waiters)
		want       *journal.Event
	}{
		"a read is in flight":                  {between: func(*Waiters) {}, want: second},
		"this client has gone back":            {remembered: true, between: func(w *Waiters) { w.GoesOn(id, 1) }, want: second},
		"somebody has gone back long ago":      {remembered: true, between: func(*Waiters) { time.Sleep(recentFor + time.Millisecond) }, want: second},
		"nobody has gone back, the end is new": {remembered: true, between: func(*Waiters) {}, want: first},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var stored atomic.Pointer[journal.Event]
				stored.Store(first)
				s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) {
					end := stored.Load()
					time.Sleep(100 * time.Millisecond) // the answer's way
					return []driver.End{{Run: id, Terminal: end}}, nil
				}}
				w := New(driver.New(s, nil), Options{Poll: time.Hour, HintsPushed: true})
				if c.remembered {
					w.Hint(driver.Hint{Kind: driver.HintClosed, Run: id, Terminal: first, Generation: 1})
				} else {
					go func() { // who has asked before hears of the end that there was
						if ev, err := w.AwaitEnd(t.Context(), id, false); err != nil || ev != first {
							t.Errorf("who has asked before got %v, %v", ev, err)
						}
					}()
					time.Sleep(50 * time.Millisecond)
				}
				c.between(w)
				stored.Store(second)
				began := time.Now()
				if ev, err := w.AwaitEnd(t.Context(), id, c.remembered); err != nil || ev != c.want || time.Since(began) > time.Minute {
					t.Errorf("got %v, %v after %s, want %v", ev, err, time.Since(began), c.want)
				}
			})
		})
	}
}

// A hint may come when this client has gone back already: the end that it tells of is over, for those
// who wait and for those who come. That of the next generation is told, and remembered.
func TestALateHintOfAnEndThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := journal.NewRunID()
		first, second := &journal.Event{Kind: journal.RunFailed}, &journal.Event{Kind: journal.RunCompleted}
		reads := 0
		s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) {
			reads++
			return nil, nil // it is open
		}}
		w := New(driver.New(s, nil), Options{Poll: time.Hour, HintsPushed: true})
		heard := make(chan *journal.Event, 2)
		ask := func() {
			go func() {
				ev, err := w.AwaitEnd(t.Context(), id, true)
				if err != nil {
					t.Error(err)
				}
				heard <- ev
			}()
			synctest.Wait()
		}
		w.GoesOn(id, 1)
		ask()
		w.Hint(driver.Hint{Kind: driver.HintClosed, Run: id, Terminal: first, Generation: 1})
		synctest.Wait()
		ask()
		before := reads
		w.Hint(driver.Hint{Kind: driver.HintClosed, Run: id, Terminal: second, Generation: 2})
		for range 2 {
			if ev := <-heard; ev != second {
				t.Errorf("who has asked behind the reset got %v, want %v", ev, second)
			}
		}
		ask()
		if ev := <-heard; ev != second || reads != before {
			t.Errorf("who asks behind the end got %v, and the store was read %d times more", ev, reads-before)
		}
	})
}
