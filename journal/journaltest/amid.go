package journaltest

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// amidChecks are checks of single commits, once more in batches: each of their commits has another
// run's before it and one after it. A store may have a statement for a single commit and another
// one for many, and each must compare owner, fence and turn (J3), and the inbox (J6).
var amidChecks = []check{
	{"J3_ZombieOwnerEveryWriteRefused_AmidOthers", amid(zombieEveryWriteRefused)},
	{"J3_ZombieRefusedBeforeItsRunIsTakenOver_AmidOthers", amid(zombieRefusedWhileFree)},
	{"J3_WrongTurnIsRefused_AmidOthers", amid(wrongTurnRefused)},
	{"J3_WrongOwnerIsRefused_AmidOthers", amid(wrongOwnerRefused)},
	{"J6_SignalThenPark_AmidOthers", amid(signalThenPark)},
	{"J6_ParkThenSignal_AmidOthers", amid(parkThenSignal)},
	{"J6_SignalToAnOwnedRunCallsForAttention_AmidOthers", amid(attention)},
}

// crowd is the workflow of the runs that share the batches. The checks claim flow, so they never
// see these.
const crowd = "crowd"

// amid makes a check commit in batches. The node that owns the other members joins here, because
// only the test's goroutine may let it leave.
func amid(run func(*kit)) func(*kit) {
	return func(k *kit) {
		k.crowd = k.join(leaseLong, journal.Route{Queue: journal.DefaultQueue, Workflow: crowd, Version: 1}).ID()
		run(k)
	}
}

// commitAmid submits one commit between those of two runs that are made for it: stores write
// batches in the order of ids, so one id is before that of any other run, and one is behind.
func (k *kit) commitAmid(c driver.Commit) ([]driver.Outcome, error) {
	first, last := journal.NewRunID(), journal.NewRunID()
	first[0], last[0] = 0, 0xff
	out, err := k.j.Start(k.ctx, nil, []journal.Start{{ID: first, Workflow: crowd, Owner: k.crowd}, {ID: last, Workflow: crowd, Owner: k.crowd}})
	if err != nil {
		return nil, err
	}
	batch := []driver.Commit{c, c, c}
	for i, at := range []int{0, 2} {
		if out[i].Err != nil || !out[i].Owned {
			return nil, fmt.Errorf("start of another member: owned %v, %w", out[i].Owned, out[i].Err)
		}
		o := *bornOwner(k, k.crowd, out[i].Run, journal.Payload{})
		batch[at] = o.build(keep, started())
	}
	answers, err := k.j.Commit(k.ctx, batch)
	if err != nil {
		return nil, err
	}
	for _, at := range []int{0, 2} {
		if err := answers[at].Err; err != nil {
			return nil, fmt.Errorf("another member of the batch: %w", err)
		}
	}
	return answers[1:2], nil
}
