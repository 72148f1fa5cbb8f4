package worker

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// far is a membership in a store across a network, whose rounds wait for each other: a round has
// the locks of its limits from when it gets them until its transaction has ended.
type far struct {
	driver.Membership
	locks  chan struct{}
	peers  map[journal.NodeID]*limiter
	rounds atomic.Int64
}

const (
	farTrip = 200 * time.Microsecond // of one question and its answer
	farWork = 2 * time.Millisecond   // of a round, and of its disk
	farHint = time.Millisecond       // from the end of a transaction to whoever hears of it
)

func (f *far) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	time.Sleep(farTrip / 2)
	if r.Size() == 0 {
		a, err := f.Membership.Limits(ctx, r)
		time.Sleep(farTrip / 2)
		return a, err
	}
	f.rounds.Add(1)
	f.locks <- struct{}{}
	time.Sleep(farTrip)
	if err := r.Gather(); err != nil {
		return driver.LimitAnswer{}, err
	}
	time.Sleep(farWork)
	a, err := f.Membership.Limits(ctx, r)
	<-f.locks
	for _, node := range a.Others {
		time.AfterFunc(farHint, func() { f.peers[node].hear(node) })
	}
	time.Sleep(farTrip / 2)
	return a, err
}

// Two nodes share a limit for which more wait than it lets begin. Between the end of a step and the
// begin of the next one in its place there is little more than a round: a place is not kept empty
// by rounds that were made before it was free, nor by a node that does not hear what it was
// granted, nor by one that has no slot for it.
func TestPlacesOfALimitAreNotKeptEmpty(t *testing.T) {
	for _, c := range []struct {
		name  string
		slots int
		also  []journal.LimitNeed // of each step, beside the limit that is full
	}{
		{"slots enough", 1000, nil},
		{"as many slots as places", 20, nil},
		{"as many slots as places, and two limits", 20, []journal.LimitNeed{{Name: "y", Cost: 1}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { usePlaces(t, c.slots, c.also) })
		})
	}
}

func usePlaces(t *testing.T, slots int, also []journal.LimitNeed) {
	const (
		places  = 40
		callers = 100 // of each node
		body    = 25 * time.Millisecond
		between = 5 * time.Millisecond
		lasts   = time.Second
	)
	j := driver.New(memory.New(nil), nil)
	setLimits(t, j, journal.Limit{Name: "x", Concurrency: places}, journal.Limit{Name: "y", Concurrency: 10 * places})
	ctx, cancel := context.WithCancel(t.Context())
	var loops, load sync.WaitGroup
	locks, peers := make(chan struct{}, 1), map[journal.NodeID]*limiter{}
	var nodes []*far
	for _, name := range []string{"one", "other"} {
		m, err := j.Join(ctx, journal.Node{Name: name, Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		f := &far{Membership: m, locks: locks, peers: peers}
		peers[m.ID()] = newLimiter(f, j, slog.New(slog.DiscardHandler))
		nodes = append(nodes, f)
	}
	var ended, holds atomic.Int64
	end := time.Now().Add(lasts)
	for _, f := range nodes {
		l := peers[f.ID()]
		var taken atomic.Int64
		slot := make(chan struct{}, slots)
		l.back.room = func() int { return slots - int(taken.Load()) }
		loops.Go(func() { l.loop(ctx) })
		for range callers {
			load.Go(func() {
				for time.Now().Before(end) {
					begins := make(chan struct{})
					w := &actor.LimitWant{Want: driver.Want{Run: journal.NewRunID(), Priority: 3, Since: time.Now(),
						Needs: append([]journal.LimitNeed{{Name: "x", Cost: 1}}, also...)}, Granted: func() { taken.Add(1); close(begins) }}
					l.Want(w)
					<-begins
					if n := holds.Add(1); n > places {
						t.Errorf("%d hold a limit of %d", n, places)
					}
					slot <- struct{}{}
					time.Sleep(body)
					<-slot
					holds.Add(-1)
					taken.Add(-1)
					l.noteRoom()
					l.Release(w, w.Needs)
					ended.Add(1)
					time.Sleep(between)
				}
			})
		}
	}
	load.Wait()
	took := lasts + time.Since(end)
	cancel()
	loops.Wait()
	share := float64(ended.Load()) * float64(body) / float64(places*took)
	rounds := float64(nodes[0].rounds.Load()+nodes[1].rounds.Load()) / float64(ended.Load())
	t.Logf("places are in use for %.2f of the time; %.2f rounds a step", share, rounds)
	if share < 0.85 {
		t.Errorf("places are in use for %.2f of the time, want 0.85", share)
	}
	if rounds > 0.2 {
		t.Errorf("%.2f rounds a step", rounds)
	}
}

func setLimits(t *testing.T, j *driver.Journal, list ...journal.Limit) {
	for i := range list {
		if _, err := j.Admin(t.Context(), driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &list[i]}); err != nil {
			t.Fatal(err)
		}
	}
}
