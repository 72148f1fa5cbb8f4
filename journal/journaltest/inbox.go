package journaltest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An inbox is a queue without gaps or doubles (J5). These checks send from one caller and from
// many, with keys that were seen before, to runs in every state, and read numbers and order back.
var inboxChecks = []check{
	{"J5_InboxOrderUnder16Senders", inboxOrder},
	{"J5_InboxNumbersPerRunInABatch", inboxNumbersInABatch},
	{"J5_KeysDeduplicateInABatchAndAcrossBatches", keysDeduplicate},
	{"J5_KeysDeduplicateAfterConsumptionAndClose", keysOutliveMessages},
	{"J5_KeysDeduplicateConcurrentSenders", keysUnderConcurrency},
	{"J5_CancelIsAskedOnce", cancelOnce},
	{"J5_EachMemberOfASendHasItsOwnOutcome", sendOutcomes},
	{"J5_ConsumedMessagesKeepTheirPayload", consumedPayload},
}

func signal(run journal.RunID, name, key string) journal.Message {
	return journal.Message{Run: run, Kind: journal.MessageSignal, Name: name, Key: key,
		Payload: journal.Payload{Data: []byte(name + "/" + key)}}
}

// inboxOrder: many senders, while the owner consumes as fast as it can. What the owner sees next is
// always the next number, and each sender's messages keep their order.
func inboxOrder(k *kit) {
	const senders, each, total = 16, 25, 16 * 25
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started())
	var work sync.WaitGroup
	for s := range senders {
		work.Go(func() {
			for n := range each {
				batch := []journal.Message{signal(o.run, fmt.Sprintf("s%02d", s), fmt.Sprintf("%d-%d", s, n))}
				if out, err := k.j.Send(k.ctx, nil, batch); err != nil || out[0].Err != nil {
					k.t.Errorf("send: %v", errors.Join(err, out[0].Err))
				}
			}
		})
	}
	next := map[string]int{}
	k.eventually("all messages are consumed", func() bool {
		h := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true, AfterInbox: o.seen})
		var events []journal.Event
		for i, m := range h.Inbox {
			if want := o.seen + journal.InboxSeq(i) + 1; m.Number != want {
				k.t.Fatalf("message %d is next, want %d (J5)", m.Number, want)
			}
			var sender, n int
			if _, err := fmt.Sscanf(m.Key, "%d-%d", &sender, &n); err != nil || n != next[m.Name] {
				k.t.Fatalf("message %q of %s is next, want its number %d (%v)", m.Key, m.Name, next[m.Name], err)
			}
			next[m.Name]++
			events = append(events, received(m))
		}
		if len(events) > 0 {
			o.commit(keep, events...)
		}
		return o.seen == total
	})
	work.Wait()
	o.commit(closed, completed("1"))
	k.same("events", len(k.history(o.run).Events), total+2)
}

// The messages of one call get numbers in their order, for each run from 1 and without gaps.
func inboxNumbersInABatch(k *kit) {
	ids := k.begin(3)
	var batch []journal.Message
	for n := range 30 {
		batch = append(batch, signal(ids[n%3], "sig", fmt.Sprint(n)))
	}
	for n, s := range k.sends(batch...) {
		k.ok(s.Err)
		if want := journal.InboxSeq(n/3 + 1); s.Number != want || s.Duplicate {
			k.t.Errorf("message %d: %+v, want number %d", n, s, want)
		}
	}
	for i, id := range ids {
		inbox := k.history(id).Inbox
		k.same("messages", len(inbox), 10)
		for n, m := range inbox {
			want := batch[n*3+i]
			want.Number, want.Time = journal.InboxSeq(n+1), m.Time
			k.same("message", m, want)
			if m.Time.IsZero() {
				k.t.Error("a message has no time")
			}
		}
	}
}

// Two messages with one key are one message, whether they come in one call or in two; the second
// gets the number of the first.
func keysDeduplicate(k *kit) {
	ids := k.begin(2)
	out := k.sends(signal(ids[0], "a", "1"), signal(ids[0], "b", "1"), signal(ids[1], "a", "1"), signal(ids[0], "a", "2"))
	for i, want := range []journal.Sent{{Number: 1}, {Number: 1, Duplicate: true}, {Number: 1}, {Number: 2}} {
		if out[i].Err != nil || out[i].Number != want.Number || out[i].Duplicate != want.Duplicate {
			k.t.Errorf("message %d: %+v, want %+v", i, out[i], want)
		}
	}
	again := k.sends(signal(ids[0], "c", "3"), signal(ids[0], "a", "2"), signal(ids[0], "d", "3"))
	for i, want := range []journal.Sent{{Number: 3}, {Number: 2, Duplicate: true}, {Number: 3, Duplicate: true}} {
		if again[i].Err != nil || again[i].Number != want.Number || again[i].Duplicate != want.Duplicate {
			k.t.Errorf("message %d of the next batch: %+v, want %+v", i, again[i], want)
		}
	}
	inbox := k.history(ids[0]).Inbox
	k.same("messages", len(inbox), 3)
	k.same("the first of a key counts", inbox[0].Name, "a")
}

// A key stays taken after its message was consumed, and after the run has closed.
func keysOutliveMessages(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	k.send(o.run, "a", "1")
	o.commit(keep, started(), received(journal.Message{Kind: journal.MessageSignal, Name: "a", Number: 1}))
	if s := k.send(o.run, "a", "1"); !s.Duplicate || s.Number != 1 {
		k.t.Errorf("after consumption: %+v", s)
	}
	o.commit(closed, completed("1"))
	out := k.sends(signal(o.run, "a", "1"), signal(o.run, "a", "2"))
	if !out[0].Duplicate || out[0].Number != 1 || out[0].Err != nil {
		k.t.Errorf("a known key after the close: %+v, want a duplicate: its sender may only have missed the answer (J4)", out[0])
	}
	if !errors.Is(out[1].Err, journal.ErrClosed) {
		k.t.Errorf("a new key after the close: %+v, want ErrClosed", out[1])
	}
}

// Many senders with one key at the same moment put one message into the inbox, and all get its
// number.
func keysUnderConcurrency(k *kit) {
	const senders = 16
	run := k.begin(1)[0]
	var mu sync.Mutex
	fresh := 0
	k.together(senders, func(int) error {
		out, err := k.j.Send(k.ctx, nil, []journal.Message{signal(run, "a", "x"), signal(run, "a", "y")})
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for _, s := range out {
			if s.Err != nil {
				return s.Err
			}
			if !s.Duplicate {
				fresh++
			}
		}
		return nil
	})
	k.same("accepted messages", fresh, 2)
	k.same("inbox", len(k.history(run).Inbox), 2)
}

// A second cancel request is a duplicate of the first.
func cancelOnce(k *kit) {
	run := k.begin(1)[0]
	reason := journal.EncodeFailure(&journal.Failure{Type: journal.FailureCancelled, Message: "enough"})
	cancel := journal.Message{Run: run, Kind: journal.MessageCancel, Payload: reason}
	out := k.sends(cancel, cancel)
	again := k.sends(cancel)
	if out[0].Duplicate || !out[1].Duplicate || !again[0].Duplicate || again[0].Number != 1 {
		k.t.Errorf("cancels: %+v, then %+v", out, again)
	}
	inbox := k.history(run).Inbox
	k.same("inbox", len(inbox), 1)
	ev := inbox[0].Event()
	k.same("event", ev, journal.Event{Kind: journal.CancelRequested, Inbox: 1, Payload: reason})
	k.take(k.join(leaseLong).ID(), 1)[0].commit(closed, started(), ev, ended(journal.RunCancelled))
}

// Each message of a call has its own outcome: one that no run can take does not hinder the others.
func sendOutcomes(k *kit) {
	node := k.join(leaseLong).ID()
	done := k.one(node)
	done.commit(closed, started(), completed("1"))
	owned := k.one(node)
	free := k.begin(1)[0]
	out := k.sends(signal(journal.NewRunID(), "a", ""), signal(free, "a", ""), signal(done.run, "a", ""),
		signal(owned.run, "a", ""), journal.Message{Run: free, Kind: 77})
	for i, want := range map[int]error{0: journal.ErrNotFound, 2: journal.ErrClosed, 4: journal.ErrInvalid} {
		if !errors.Is(out[i].Err, want) {
			k.t.Errorf("member %d: got %v, want %v", i, out[i].Err, want)
		}
	}
	for i, want := range map[int]journal.Sent{
		1: {Number: 1, Route: flowRoute}, 3: {Number: 1, Route: flowRoute, Owner: node},
	} {
		k.same(fmt.Sprintf("member %d", i), out[i], want)
	}
}

// An event that consumes a message has its payload, which is stored once, with the message.
func consumedPayload(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	k.sends(signal(o.run, "a", "1"), signal(o.run, "b", "2"), signal(o.run, "c", "3"))
	first := k.history(o.run).Inbox
	consumed := received(first[0])
	consumed.Payload = journal.Payload{} // stored once, in the inbox
	o.commit(keep, started(), consumed)
	h := k.history(o.run)
	k.same("payload of a consumed message", string(h.Events[1].Payload.Data), "a/1")
	k.same("what waits", h.Inbox, first[1:])
	k.same("what waits behind 2", k.load(driver.LoadRequest{Run: o.run, AfterInbox: 2}).Inbox, first[2:])
	only := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true})
	if len(only.Events) != 0 || len(only.Inbox) != 2 {
		k.t.Errorf("inbox only: %d events, %d messages", len(only.Events), len(only.Inbox))
	}
}
