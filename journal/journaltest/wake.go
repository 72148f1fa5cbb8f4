package journaltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// No wake-up is lost (J6). The dangerous moment is a park and a message that cross: whichever the
// store takes first, the task must end up visible. These checks do both orders, one after the
// other and at the same time.
var wakeChecks = []check{
	{"J6_SignalThenPark", signalThenPark},
	{"J6_ParkThenSignal", parkThenSignal},
	{"J6_SignalWhileParking", signalWhileParking},
	{"J6_SignalToAnOwnedRunCallsForAttention", attention},
	{"J6_SignalWakesABlockedRunButNotAQuarantinedOne", signalToStuckRuns},
	{"J6_WatchBeginsWithAScan", watchBegins},
}

// watchBegins expects to be told, once the store listens, that there may be news that came before.
func watchBegins(k *kit) {
	ctx, cancel := context.WithCancel(k.ctx)
	heard := make(chan driver.HintKind, 100)
	watching := make(chan error, 1)
	go func() {
		watching <- k.store.Hints().Watch(ctx, func(h driver.Hint) {
			select {
			case heard <- h.Kind:
			default:
			}
		})
	}()
	if kind := <-heard; kind != driver.HintScan {
		k.t.Errorf("the first hint is %v, not a scan", kind)
	}
	cancel()
	<-watching
}

// parks are the ways to give a run up until something happens.
func parks(k *kit) map[string]driver.Next {
	return map[string]driver.Next{"for a message": park, "until a time": parkUntil(k.j.Now().Add(time.Hour))}
}

// A message that arrives while its run is being parked leaves the task visible: the park did not
// know of it.
func signalThenPark(k *kit) {
	node := k.join(leaseLong).ID()
	for name, next := range parks(k) {
		o := k.one(node)
		k.send(o.run, "sig", "1")
		if out := o.commit(next, started()); out.InboxLast != 1 {
			k.t.Errorf("parked %s: newest message %d, want 1", name, out.InboxLast)
		}
		o = k.take(node, 1)[0]
		if out := o.commit(next, received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1})); out.InboxLast != 1 {
			k.t.Errorf("parked %s again: newest message %d, want 1", name, out.InboxLast)
		}
		k.nothingDue(node)
	}
}

// A message to a parked run makes it due at once.
func parkThenSignal(k *kit) {
	node := k.join(leaseLong).ID()
	for _, next := range parks(k) {
		o := k.one(node)
		o.commit(next, started())
		k.nothingDue(node)
		k.send(o.run, "sig", "1")
		o = k.take(node, 1)[0]
		o.commit(next, received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}))
		k.nothingDue(node)
		if s := k.send(o.run, "sig", "1"); !s.Duplicate {
			k.t.Errorf("sent twice: %+v", s)
		}
		k.nothingDue(node) // a duplicate wakes nobody
	}
}

// signalWhileParking sends and parks at the same moment, many times. Whoever comes first, the run
// is visible afterwards.
func signalWhileParking(k *kit) {
	const rounds, runs = 25, 8
	node := k.join(leaseLong).ID()
	owners := k.own(node, runs)
	for _, o := range owners {
		o.commit(keep, started())
	}
	for round := range rounds {
		commits := make([]driver.Commit, runs)
		for i, o := range owners {
			commits[i] = o.build(park)
		}
		k.together(2*runs, func(i int) error {
			o := owners[i/2]
			if i%2 == 0 {
				out, err := k.commits(commits[i/2])
				return errors.Join(err, out[0].Err)
			}
			out, err := k.j.Send(k.ctx, nil, []journal.Message{signal(o.run, "sig", fmt.Sprint(round))})
			return errors.Join(err, out[0].Err)
		})
		owners = k.take(node, runs)
		for _, o := range owners {
			inbox := k.history(o.run).Inbox
			k.same("messages that wait", len(inbox), 1)
			o.commit(keep, received(inbox[0]))
		}
	}
}

// An owner learns from its next claim which of its runs have messages, even if every hint was
// lost.
func attention(k *kit) {
	node, other := k.join(leaseLong).ID(), k.join(leaseLong).ID()
	quiet, loud := k.one(node), k.one(node)
	quiet.commit(keep, started())
	loud.commit(keep, started())
	if s := k.send(loud.run, "sig", "1"); s.Owner != node {
		k.t.Errorf("sent to an owned run: %+v, want owner %d", s, node)
	}
	k.nothingDue(node)
	k.same("attention", k.claim(node, 0).Attention, []journal.RunID{loud.run})
	k.same("attention of another node", k.claim(other, 0).Attention, []journal.RunID{})
	out := loud.commit(keep, received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}))
	k.same("newest message", out.InboxLast, journal.InboxSeq(1))
	k.same("attention after consumption", k.claim(node, 5).Attention, []journal.RunID{})

	k.send(loud.run, "sig", "2")
	out = loud.commit(keep) // consumes nothing
	k.same("newest message", out.InboxLast, journal.InboxSeq(2))
	k.same("attention while it waits", k.claim(node, 0).Attention, []journal.RunID{loud.run})
}

// A message to a blocked run is kept for it; whether it wakes the run is the store's choice. One
// to a quarantined run does not make it claimable: no message stops a run from killing its nodes.
func signalToStuckRuns(k *kit) {
	node := k.join(leaseLong)
	o := k.one(node.ID())
	o.commit(block("code changed", k.j.Now().Add(time.Hour)), started())
	k.nothingDue(node.ID())
	k.send(o.run, "sig", "1") // whether this wakes it is the store's choice, but the message stays
	k.same("messages that wait", len(k.history(o.run).Inbox), 1)
	k.ok(acts(k, driver.AdminAction{Run: o.run, Kind: driver.AdminResume}))
	k.take(node.ID(), 1)[0].commit(closed, received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}), completed("1"))

	sick := k.begin(1)[0]
	k.quarantine(sick)
	k.send(sick, "sig", "1")
	k.nothingDue(node.ID())
}
