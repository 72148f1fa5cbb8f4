package journaltest

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What is large comes in pages, see driver.LoadRequest. A page says exactly whether there is more,
// and whoever asks page by page gets everything once, in order.
var pageChecks = []check{
	{"Load_PagesOfEvents", pagesOfEvents},
	{"Load_PagesOfMessages", pagesOfMessages},
	{"Load_LeanPages", leanPages},
	{"Load_PagesWhileTheRunGoesOn", pagesMeanwhile},
	{"Load_AnOwnersPage", ownersPage},
}

// large is a payload whose first bytes tell it from others.
func large(n, bytes int) journal.Payload {
	p := journal.Payload{Data: make([]byte, bytes), Encoding: "x"}
	copy(p.Data, fmt.Sprint(n))
	return p
}

// largeRun is a run with ten messages and ten steps of so many bytes each, all consumed, and two
// messages that wait.
func largeRun(k *kit, bytes int) *owner {
	const each = 10
	o := k.one(k.join(leaseLong).ID())
	names := make([]string, each)
	for i := range names {
		names[i] = "s"
	}
	events := []journal.Event{started(names...)}
	for i := range each + 2 {
		m := signal(o.run, "sig", fmt.Sprint(i))
		m.Payload = large(i, bytes)
		m.Number = k.sends(m)[0].Number
		if i >= each {
			continue
		}
		step := stepDone(journal.Cmd(i+1), "s", "")
		step.Payload = large(100+i, bytes)
		events = append(events, received(m), step)
	}
	o.commit(keep, events...)
	return o
}

// The pages of a history are the history: no event is missing or comes twice, each with the payload
// of the message that it consumes, and none is much larger than what was asked for. What a page may
// hold exactly is on it, and then it does not say that there is more. Messages come at the end.
func pagesOfEvents(k *kit) {
	const bytes = 50_000
	o := largeRun(k, bytes)
	whole := k.history(o.run)
	k.same("events", len(whole.Events), 21)
	for _, q := range []driver.LoadRequest{
		{Bytes: 1}, {Bytes: bytes}, {Bytes: bytes + 10_000}, {Bytes: 3*bytes + 10_000}, {Bytes: 100 * bytes}, {Limit: 1}, {Limit: 20}, {Limit: 21},
		{Limit: 4, Bytes: 3*bytes + 10_000}, {Limit: 2, Bytes: 3*bytes + 10_000}, {Bytes: 3*bytes + 10_000, EventsOnly: true},
	} {
		var all []journal.Event
		what := fmt.Sprintf("limit %d, %d bytes", q.Limit, q.Bytes)
		for q.Run = o.run; ; q.AfterSeq = all[len(all)-1].Seq {
			h := k.load(q)
			k.ok(h.Err)
			all = append(all, h.Events...)
			if n := pageBytes(h.Events); n > q.BytesMax() && len(h.Events) > 1 || len(h.Events) > q.EventsMax() || len(h.Events) == 0 {
				k.t.Fatalf("%s: a page of %d events with %d bytes", what, len(h.Events), n)
			}
			if wantMore := len(all) < len(whole.Events); h.More != wantMore {
				k.t.Fatalf("%s: after event %d of %d, more: %v", what, len(all), len(whole.Events), h.More)
			}
			if h.More && (len(h.Inbox) > 0 || h.MoreInbox) || q.EventsOnly && len(h.Inbox) > 0 {
				k.t.Errorf("%s: %d messages with a page of events", what, len(h.Inbox))
			}
			if !h.More {
				break
			}
		}
		sameEvents(k, what, all, whole.Events)
	}
}

// sameEvents compares without looking at each byte of a payload in turn.
func sameEvents(k *kit, what string, got, want []journal.Event) {
	k.t.Helper()
	if len(got) != len(want) {
		k.t.Fatalf("%s: %d events, want %d", what, len(got), len(want))
	}
	for i := range got {
		samePayload(k, fmt.Sprintf("%s: event %d", what, i+1), got[i].Payload, want[i].Payload)
		g, w := got[i], want[i]
		g.Payload, w.Payload = journal.Payload{}, journal.Payload{}
		k.same(fmt.Sprintf("%s: event %d", what, i+1), g, w)
	}
}

func pageBytes(events []journal.Event) (n int) {
	for i := range events {
		n += driver.EventBytes(&events[i])
	}
	return n
}

// An inbox comes in pages too, and its owner may consume one before it asks for the next.
func pagesOfMessages(k *kit) {
	const bytes, total = 50_000, 12
	o := k.one(k.join(leaseLong).ID())
	for i := range total {
		m := signal(o.run, "sig", fmt.Sprint(i))
		m.Payload = large(i, bytes)
		k.sends(m)
	}
	o.commit(keep, started())
	for _, size := range []int{1, bytes + 10_000, 3*bytes + 10_000, 100 * bytes} {
		var after journal.InboxSeq
		for after < total {
			h := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true, AfterInbox: after, Bytes: size})
			n := len(h.Inbox)
			if n == 0 || n > 1 && n*bytes > size {
				k.t.Fatalf("%d bytes: a page of %d messages", size, n)
			}
			for i := range h.Inbox {
				after++
				k.same("number", h.Inbox[i].Number, after)
				samePayload(k, "message", h.Inbox[i].Payload, large(int(after)-1, bytes))
			}
			k.same(fmt.Sprintf("%d bytes: more after message %d", size, after), h.MoreInbox, after < total)
		}
	}
	for o.seen < total {
		h := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true, AfterInbox: o.seen, Bytes: 3*bytes + 10_000})
		if k.same("more to consume", h.MoreInbox, int(o.seen)+len(h.Inbox) < total); len(h.Inbox) == 0 {
			k.t.Fatalf("nothing behind message %d", o.seen)
		}
		var events []journal.Event
		for _, m := range h.Inbox {
			events = append(events, received(m))
		}
		o.commit(keep, events...)
	}
	h := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true})
	k.same("at the end", []int{len(h.Inbox), len(k.history(o.run).Events)}, []int{0, total + 1})
}

// A lean page leaves out what is larger than it may be by itself, and says so.
func leanPages(k *kit) {
	const bytes = 50_000
	o := largeRun(k, bytes)
	h := k.load(driver.LoadRequest{Run: o.run, Bytes: 10_000, Lean: true})
	k.same("the first event fits", []any{len(h.Events), h.More, len(h.Inbox)}, []any{1, true, 0})
	h = k.load(driver.LoadRequest{Run: o.run, Bytes: 10_000, Lean: true, AfterSeq: 1})
	k.same("the second does not", []any{len(h.Events), h.More, len(h.Inbox)}, []any{0, true, 0})
	h = k.load(driver.LoadRequest{Run: o.run, Bytes: 10_000, Lean: true, AfterSeq: 21, AfterInbox: 10})
	k.same("nor does a message", []any{len(h.Events), h.More, len(h.Inbox), h.MoreInbox}, []any{0, false, 0, true})
	h = k.load(driver.LoadRequest{Run: o.run, Bytes: bytes + 10_000, Lean: true, InboxOnly: true})
	k.same("one message does", []any{len(h.Events), h.More, len(h.Inbox), h.MoreInbox}, []any{0, false, 1, true})
	h = k.load(driver.LoadRequest{Run: o.run, Bytes: 10_000, Lean: true, AfterSeq: 21, AfterInbox: 12})
	k.same("at the end", []any{len(h.Events), h.More, len(h.Inbox), h.MoreInbox}, []any{0, false, 0, false})
}

// A run goes on between two pages: what it adds is on further pages. It continues as new: the page
// is of another generation, and says so, with the number after which it was asked.
func pagesMeanwhile(k *kit) {
	const bytes = 50_000
	o := largeRun(k, bytes)
	page := driver.LoadRequest{Run: o.run, Bytes: 4*bytes + 10_000}
	first := k.load(page)
	o.commit(keep, received(k.load(driver.LoadRequest{Run: o.run, InboxOnly: true}).Inbox[0]))
	var all []journal.Event
	for h := first; ; h = k.load(page) {
		if all = append(all, h.Events...); !h.More {
			k.same("messages at the end", len(h.Inbox), 1)
			break
		}
		page.AfterSeq = all[len(all)-1].Seq
	}
	sameEvents(k, "with what came meanwhile", all, k.history(o.run).Events)

	o.submit(o.continued(keep, nil))
	o.commit(keep, started())
	h := k.load(driver.LoadRequest{Run: o.run, AfterSeq: first.Events[len(first.Events)-1].Seq})
	k.same("of the next generation", []any{h.Run.Generation, h.Run.Task.Generation, len(h.Events), h.More}, []any{o.gen, o.gen, 0, false})
	k.same("generation", o.gen, first.Run.Generation+1)
}

// An owner gets at least what it compares, and what it asks for.
func ownersPage(k *kit) {
	o := largeRun(k, 1000)
	closed := k.one(o.node)
	closed.commit(driver.Next{Kind: driver.NextClose}, started(), completed("1"))
	list, err := k.j.Load(k.ctx, []driver.LoadRequest{
		{Run: o.run, Owned: true}, {Run: closed.run, Owned: true}, {Run: journal.NewRunID(), Owned: true},
	})
	k.ok(err)
	h, row := list[0], k.row(o.run)
	k.ok(h.Err)
	t := h.Run.Task
	k.same("task", []any{h.Run.ID, h.Run.Generation, t.Run, t.Owner, t.Fence, t.Generation, t.InboxLast},
		[]any{o.run, row.Generation, o.run, o.node, row.Task.Fence, row.Task.Generation, journal.InboxSeq(12)})
	sameEvents(k, "history", h.Events, k.history(o.run).Events)
	k.same("messages", len(h.Inbox), 2)
	if list[1].Err != nil || list[1].Run.Task != nil || len(list[1].Events) != 2 {
		k.t.Errorf("of a closed run: %+v", list[1])
	}
	if list[2].Err == nil {
		k.t.Error("an unknown run is found")
	}
}
