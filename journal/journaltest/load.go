package journaltest

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A load returns what the caller does not have yet, of one moment.
var loadChecks = []check{
	{"Load_ManyRunsInOneCall", loadMany},
	{"Load_LimitsAndOffsets", loadLimits},
	{"Load_LongInboxInPieces", loadLongInbox},
	{"Load_IsOneMomentUnderWrites", loadOneMoment},
}

// Many runs come back in one call, in the order of the requests, unknown ones among them with an
// error of their own.
func loadMany(k *kit) {
	node := k.join(leaseLong).ID()
	owners := k.own(node, 5)
	for i, o := range owners {
		o.commit(keep, started("a"))
		for range i {
			k.send(o.run, "sig", "")
		}
	}
	unknown := journal.NewRunID()
	requests := []driver.LoadRequest{{Run: owners[4].run}, {Run: unknown}, {Run: owners[0].run}, {Run: owners[4].run, InboxOnly: true}}
	for _, o := range owners[1:4] {
		requests = append(requests, driver.LoadRequest{Run: o.run})
	}
	list, err := k.j.Load(k.ctx, requests)
	k.ok(err)
	for i, h := range list {
		if requests[i].Run == unknown {
			if !errors.Is(h.Err, journal.ErrNotFound) {
				k.t.Errorf("unknown run: %+v", h)
			}
			continue
		}
		k.ok(h.Err)
		if h.Run.ID != requests[i].Run || h.Run.Task == nil {
			k.t.Errorf("history %d is of %+v", i, h.Run)
		}
		want := 1
		if requests[i].InboxOnly {
			want = 0
		}
		k.same(fmt.Sprintf("events of history %d", i), len(h.Events), want)
	}
	k.same("inboxes", []int{len(list[0].Inbox), len(list[2].Inbox), len(list[3].Inbox), len(list[4].Inbox)}, []int{4, 0, 4, 1})
	none, err := k.j.Load(k.ctx, nil)
	if err != nil || len(none) != 0 {
		k.t.Errorf("loading nothing: %v, %v", none, err)
	}
}

// A load returns what is after the seq and the message that the caller knows, and not more than it
// asks for.
func loadLimits(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a", "b", "c"), stepDone(1, "a", "1"), stepDone(2, "b", "2"), stepDone(3, "c", "3"))
	seqs := func(r driver.LoadRequest) (list []journal.Seq) {
		k.t.Helper()
		r.Run = o.run
		h := k.load(r)
		k.ok(h.Err)
		for _, ev := range h.Events {
			list = append(list, ev.Seq)
		}
		return list
	}
	k.same("limit 2", seqs(driver.LoadRequest{Limit: 2}), []journal.Seq{1, 2})
	k.same("after 2", seqs(driver.LoadRequest{AfterSeq: 2}), []journal.Seq{3, 4})
	k.same("after 1, limit 2", seqs(driver.LoadRequest{AfterSeq: 1, Limit: 2}), []journal.Seq{2, 3})
	k.same("after the last", seqs(driver.LoadRequest{AfterSeq: 4}), nil)
	k.same("limit beyond the end", seqs(driver.LoadRequest{Limit: 100}), []journal.Seq{1, 2, 3, 4})
}

// loadLongInbox: one answer may hold a part of a long inbox, but always its beginning.
func loadLongInbox(k *kit) {
	const total = 2500
	o := k.one(k.join(leaseLong).ID())
	var batch []journal.Message
	for n := range total {
		batch = append(batch, signal(o.run, "sig", fmt.Sprint(n)))
	}
	k.sends(batch...)
	o.commit(keep, started())
	for o.seen < total {
		inbox := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true, AfterInbox: o.seen}).Inbox
		if len(inbox) == 0 {
			k.t.Fatalf("nothing behind message %d of %d", o.seen, total)
		}
		var events []journal.Event
		for _, m := range inbox {
			events = append(events, received(m))
		}
		o.commit(keep, events...)
	}
	k.same("events", len(k.history(o.run).Events), total+1)
}

// loadOneMoment: every answer is of one moment: the task's turn, the events and the inbox fit
// together.
func loadOneMoment(k *kit) {
	const turns = 60
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started())
	k.together(3, func(i int) error {
		if i == 0 {
			for n := range turns {
				sent, err := k.j.Send(k.ctx, nil, []journal.Message{signal(o.run, "sig", fmt.Sprint(n))})
				if err != nil || sent[0].Err != nil {
					return errors.Join(err, sent[0].Err)
				}
				c := o.build(keep, received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: sent[0].Number}))
				out, err := k.commits(c)
				if err != nil || out[0].Err != nil {
					return errors.Join(err, out[0].Err)
				}
				o.accept(&c)
			}
			return nil
		}
		for {
			list, err := k.j.Load(k.ctx, []driver.LoadRequest{{Run: o.run}})
			if err != nil || list[0].Err != nil {
				return errors.Join(err, list[0].Err)
			}
			h := list[0]
			turn, last := int(h.Run.Task.Turn), int(h.Run.Task.InboxLast)
			if len(h.Events) != turn || len(h.Events)-1+len(h.Inbox) != last {
				return fmt.Errorf("turn %d with %d events, newest message %d with %d waiting", turn, len(h.Events), last, len(h.Inbox))
			}
			if turn == turns+1 {
				return nil
			}
		}
	})
}
