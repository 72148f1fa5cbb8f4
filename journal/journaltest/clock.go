package journaltest

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// The store's clock decides (J9). These checks compare with times that the store itself told,
// never with the local clock.
var clockChecks = []check{
	{"J9_DelayedStart", delayedStart},
	{"J9_ParkUntilATime", parkUntilATime},
	{"J9_NextDueIsTheEarliest", nextDue},
	{"J9_TimesAreWholeMicroseconds", timesAreMicroseconds},
}

// short is a delay that a test can wait for, and long enough to look before it ends.
const short = 400 * time.Millisecond

// A run that starts with a delay cannot be claimed before it is over by the store's clock, and its
// workflow time is the end of the delay.
func delayedStart(k *kit) {
	node := k.join(leaseLong).ID()
	out := k.starts(journal.Start{Delay: short})[0]
	if wait := out.StartAt.Sub(out.Now); wait > short {
		k.t.Errorf("starts %s after now, want %s", wait, short)
	}
	if r := k.row(out.Run); !r.StartAt.Equal(r.CreatedAt.Add(short)) || !r.StartAt.Equal(out.StartAt) || !r.Task.VisibleAt.Equal(out.StartAt) {
		k.t.Errorf("starts at %s, visible at %s, want %s", r.StartAt, r.Task.VisibleAt, out.StartAt)
	}
	untilClaimed(k, node, out.StartAt)
}

// untilClaimed claims until a task comes, which must not be before due.
func untilClaimed(k *kit, node journal.NodeID, due time.Time) {
	k.t.Helper()
	k.eventually("a task becomes due", func() bool {
		c := k.claim(node, 1)
		if early := c.Now.Before(due); early != (len(c.Tasks) == 0) && early {
			k.t.Fatalf("claimed at %s what is due at %s", c.Now, due)
		}
		if len(c.Tasks) == 0 && c.Now.Before(due) && !c.NextDue.Equal(due) {
			k.t.Fatalf("next due at %s, want %s", c.NextDue, due)
		}
		return len(c.Tasks) == 1
	})
}

// A run that is parked until a time becomes due then by itself; one whose time has passed is due
// at once.
func parkUntilATime(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	due := k.j.Now().Add(short)
	o.commit(parkUntil(due), started())
	untilClaimed(k, node, due)

	past := k.one(node)
	past.commit(parkUntil(k.j.Now().Add(-time.Hour)), started())
	k.take(node, 1)
}

// The next due time is the earliest among the routes of the claim, so a node sleeps exactly as
// long as it may.
func nextDue(k *kit) {
	node := k.join(leaseLong).ID()
	if c := k.claim(node, 1); !c.NextDue.IsZero() {
		k.t.Errorf("an empty queue is due at %s", c.NextDue)
	}
	later := k.starts(journal.Start{Delay: 2 * time.Hour})[0].StartAt
	sooner := k.starts(journal.Start{Delay: time.Hour, Priority: journal.PriorityMax})[0].StartAt
	k.starts(journal.Start{Delay: time.Minute, Workflow: "of nobody"})
	k.one(node).commit(park, started())
	c := k.claim(node, 1)
	if !c.NextDue.Equal(sooner) || !sooner.Before(later) {
		k.t.Errorf("next due at %s, want %s", c.NextDue, sooner)
	}
}

// Times come back as they were given, in whole microseconds. Replay computes timers from them, so
// a rounding would move them.
func timesAreMicroseconds(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	at := k.j.Now().Add(time.Hour)
	ev := started()
	ev.Time = at
	o.commit(parkUntil(at), ev)
	if got := k.history(o.run).Events[0].Time; !got.Equal(at) {
		k.t.Errorf("event at %s, want %s", got, at)
	}
	if got := k.row(o.run).Task.VisibleAt; !got.Equal(at) {
		k.t.Errorf("visible at %s, want %s", got, at)
	}
}
