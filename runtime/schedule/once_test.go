package schedule_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
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
// behind it, while the clock of the store jumps by up to two seconds, as that of another server
// does that takes over. Each slot has one run.
func TestOncePerSlot(t *testing.T) {
	t.Parallel()
	kills, jumps, done := 0, 0, 0
	for s := *seed; done < *slotsMin; s++ {
		w := &simulated{random: rand.New(rand.NewPCG(s, 7))}
		synctest.Test(t, w.run)
		done += simSchedules * simSeconds
		kills, jumps = kills+int(w.kills.Load()), jumps+w.jumps
		if t.Failed() {
			t.Fatalf("seed %d", s)
		}
		if done%20_000 == 0 {
			t.Logf("%d slots up to seed %d, %d nodes killed", done, s, kills)
		}
	}
	t.Logf("%d slots, %d nodes killed, %d jumps of the store's clock", done, kills, jumps)
	if kills == 0 || jumps == 0 {
		t.Error("nothing has happened to the nodes or to the clock")
	}
}

// simulated is a store, nodes that die, and a clock that jumps.
type simulated struct {
	mu     sync.Mutex // guards random and ahead: nodes ask for them
	random *rand.Rand
	ahead  time.Duration // by which the store's clock is

	store *memory.Store
	kills atomic.Int64
	jumps int
	nodes sync.WaitGroup
}

func (w *simulated) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// now is the store's clock.
func (w *simulated) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.ahead)
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
	began := w.now()
	for w.now().Sub(began) < simSeconds*time.Second {
		time.Sleep(time.Duration(1+w.draw(4000)) * time.Millisecond)
		w.mu.Lock()
		w.ahead = time.Duration(w.random.IntN(4001)-2000) * time.Millisecond
		w.mu.Unlock()
		w.jumps++
	}
	w.mu.Lock()
	w.ahead = 2 * time.Second // a clock that was set back stands still until it has caught up
	w.mu.Unlock()
	time.Sleep(30 * time.Second)
	for i := range simSchedules {
		w.check(r, fmt.Sprint("s", i), began)
	}
	stop()
	w.nodes.Wait()
}

// check looks at the slots of a schedule.
func (w *simulated) check(r *rig, id string, began time.Time) {
	r.Helper()
	seen := map[time.Duration]int{}
	last := time.Duration(0)
	for _, s := range r.slots(id) {
		seen[s.at]++
		last = max(last, s.at)
		// A node goes on with its own clock while that of the store stands still.
		if early := r.began.Add(s.at).Sub(s.run.CreatedAt); early > skewMax {
			r.Errorf("schedule %s: the slot %s began %s early", id, s.at, early)
		}
	}
	first := began.Sub(r.began).Truncate(time.Second) + time.Second
	for at := first; at <= last; at += time.Second {
		if seen[at] != 1 {
			r.Errorf("schedule %s: the slot %s has %d runs", id, at, seen[at])
		}
	}
	if last < simSeconds*time.Second {
		r.Errorf("schedule %s: the last slot is %s", id, last)
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
		store := faulty.New(peer, &faulty.Options{
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
