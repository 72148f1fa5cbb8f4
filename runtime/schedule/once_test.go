package schedule_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/schedule"
)

var (
	slotsMin = flag.Int("slots", 1_000, "how many slots TestOncePerSlot looks at, at least")
	seed     = flag.Uint64("seed", 1, "of the faults of TestOncePerSlot")
)

const (
	simSchedules = 20 // of a second each
	simSeconds   = 50
	simNodes     = 3

	skewMax = 4 * time.Second // between two servers of which one is ahead by two seconds, and the other behind
)

// TestOncePerSlot: schedules of a second on three nodes that die at commits, ahead of the write or
// behind it, while the store is that of another server now and then: its clock jumps by up to two
// seconds, and what the last seconds have written is lost. Each slot has one run in the end.
func TestOncePerSlot(t *testing.T) {
	t.Parallel()
	kills, jumps, backs, done := 0, 0, 0, 0
	for s := *seed; done < *slotsMin; s++ {
		w := simulate(t, s, nil)
		done += simSchedules * simSeconds
		kills, jumps, backs = kills+int(w.kills.Load()), jumps+w.jumps, backs+w.backs
		if t.Failed() || len(w.broken) > 0 {
			t.Fatalf("seed %d: %s", s, strings.Join(w.broken, "\n"))
		}
		if done%20_000 == 0 {
			t.Logf("%d slots up to seed %d, %d nodes killed, %d jumps of the clock, %d fail-overs", done, s, kills, jumps, backs)
		}
	}
	t.Logf("%d slots, %d nodes killed, %d jumps of the store's clock, %d fail-overs that lost commits", done, kills, jumps, backs)
	if kills == 0 || jumps == 0 || backs == 0 {
		t.Error("nothing has happened to the nodes, to the clock or to the store")
	}
}

// simulated is a store, nodes that die, and a server that another one takes over from.
type simulated struct {
	mu     sync.Mutex // guards random, ahead and broken: nodes ask for them
	random *rand.Rand
	ahead  time.Duration // by which the store's clock is
	broken []string      // what should not be

	store *memory.Store
	slip  slip // nil for none
	kills atomic.Int64
	jumps int
	backs int
	nodes sync.WaitGroup
}

// simulate lives one simulation.
func simulate(t *testing.T, seed uint64, s slip) *simulated {
	w := &simulated{random: rand.New(rand.NewPCG(seed, 7)), slip: s}
	synctest.Test(t, w.run)
	return w
}

func (w *simulated) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// breaks notes something that should not be.
func (w *simulated) breaks(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// now is the store's clock.
func (w *simulated) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
}

// setAhead sets the store's clock.
func (w *simulated) setAhead(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead = d
}

func (w *simulated) run(t *testing.T) {
	w.store = memory.New(&memory.Options{Now: w.now})
	defer w.store.Close()
	life, stop := context.WithCancel(context.Background())
	for place := range simNodes {
		w.nodes.Go(func() { w.place(life, place) })
	}
	r := &rig{TB: t, client: runtime.NewClient(journal.New(w.store.Peer(), nil), &runtime.ClientOptions{Logger: silent}), ctx: life, began: time.Now()}
	var list []schedule.Schedule
	for i := range simSchedules {
		s := every(fmt.Sprint("s", i), time.Second, job{})
		s.Overlap = schedule.Allow
		if i%2 == 1 {
			s.Overlap, s.Buffer = schedule.BufferAll, 1_000
		}
		list = append(list, s)
	}
	r.apply(list...)
	began, standby := w.now(), w.store.Mark()
	for w.now().Sub(began) < simSeconds*time.Second {
		time.Sleep(time.Duration(1+w.draw(4000)) * time.Millisecond)
		w.setAhead(time.Duration(w.draw(4001)-2000) * time.Millisecond)
		w.jumps++
		switch w.draw(3) {
		case 0: // the standby is the server now, and has not all
			w.store.GoBack(standby)
			w.backs++
		case 1: // the standby has all that there is
			standby = w.store.Mark()
		}
	}
	w.setAhead(2 * time.Second) // a clock that was set back stands still until it has caught up
	time.Sleep(30 * time.Second)
	for i := range simSchedules {
		w.check(r, fmt.Sprint("s", i), began)
	}
	stop()
	w.nodes.Wait()
}

// check looks at the slots of a schedule.
func (w *simulated) check(r *rig, id string, began time.Time) {
	seen := map[time.Duration]int{}
	last := time.Duration(0)
	for _, s := range r.slots(id) {
		seen[s.at]++
		last = max(last, s.at)
		// A node goes on with its own clock while that of the store stands still.
		if early := r.began.Add(s.at).Sub(s.run.CreatedAt); early > skewMax {
			w.breaks("schedule %s: the slot %s began %s early", id, s.at, early)
		}
	}
	first := began.Sub(r.began).Truncate(time.Second) + time.Second
	for at := first; at <= last; at += time.Second {
		if seen[at] != 1 {
			w.breaks("schedule %s: the slot %s has %d runs", id, at, seen[at])
		}
	}
	if last < simSeconds*time.Second {
		w.breaks("schedule %s: the last slot is %s", id, last)
	}
}

// place is where one node runs after another.
func (w *simulated) place(life context.Context, place int) {
	for n := 0; life.Err() == nil; n++ {
		ctx, die := context.WithCancel(life)
		peer := w.store.Peer()
		var dead atomic.Bool
		kill := func() {
			if !dead.Swap(true) {
				w.kills.Add(1)
				peer.Close()
				die()
			}
		}
		var store driver.Store = peer
		if w.slip != nil {
			store = w.slip(w, store, kill)
		}
		store = faulty.New(store, &faulty.Options{
			Decide: func(c faulty.Call) faulty.Fault {
				if c.Verb == "commit" && w.draw(100) == 0 {
					kill()
				}
				if dead.Load() {
					return faulty.Before
				}
				return faulty.None
			},
			Answer: func(c faulty.Call) {
				if c.Verb == "commit" && w.draw(100) == 0 {
					kill()
				}
			},
		})
		node := runtime.NewNode(journal.New(store, &journal.Options{Logger: silent}), &runtime.NodeOptions{
			Name: fmt.Sprintf("%d.%d", place, n), Lease: 2 * time.Second, Logger: silent, Drain: time.Millisecond, HistoryHint: 60,
		})
		schedule.Handle(node)
		handleWork(node)
		_ = node.Run(ctx) // a node that is dead may say so
		die()
		time.Sleep(300 * time.Millisecond)
	}
}
