package journaltest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// A start can bring a message (J8): signal-with-start and update-with-start are one transaction,
// whichever run has the key in the end. A delayed run is the hard case, since a message makes runs
// visible and a delay must not be cut short.
var startMessageChecks = []check{
	{"J8_AStartBringsAMessage", startWithMessage},
	{"J4_ARepeatedStartSendsItsMessageOnce", messageOnce},
	{"J8_ConcurrentStartsWithMessages", messagesConcurrently},
	{"J8_AMessageForARunThatIsClosed", messageToClosed},
	{"J6_AMessageWakesTheRunThatHasTheKey", messageWakes},
	{"J9_AMessageWaitsForADelayedStart", messageWaits},
	{"J2_AChildStartsWithAMessage", childWithMessage},
}

// startWith returns a start that takes a signal along.
func startWith(key, name, messageKey string) journal.Start {
	m := signal(journal.RunID{}, name, messageKey)
	return journal.Start{Key: key, Workflow: flow, Message: &m}
}

// A message that comes with a start goes to whichever run has the key then, new or not, in the
// same transaction.
func startWithMessage(k *kit) {
	node := k.join(leaseLong).ID()
	updated := startWith("", "u", "1")
	updated.Message.Kind = journal.MessageUpdate
	owned := startWith("", "s", "1")
	owned.Owner = node
	out := k.starts(startWith("key", "s", "1"), updated, owned, startWith("key", "s", "2"))
	for i, want := range []journal.Sent{{Number: 1, Route: flowRoute}, {Number: 1, Route: flowRoute}, {Number: 1, Route: flowRoute, Owner: node}, {Number: 2, Route: flowRoute}} {
		if out[i].Created != (i < 3) || out[i].Owned != (i == 2) {
			k.t.Errorf("start %d: %+v", i, out[i])
		}
		k.same(fmt.Sprint("sent with start ", i), out[i].Sent, want)
	}
	k.same("run", out[3].Run, out[0].Run)
	k.inboxIs(out[0].Run, "1 s 1", "1 s 2")
	k.inboxIs(out[1].Run, "3 u 1")
	k.inboxIs(out[2].Run, "1 s 1")
	m := k.first(out[0].Run)
	k.same("message", m, journal.Message{Run: out[0].Run, Number: 1, Kind: journal.MessageSignal, Name: "s", Key: "1", Payload: journal.Payload{Data: []byte("s/1")}, Time: m.Time})
	k.same("attention", k.claim(node, 0).Attention, []journal.RunID{out[2].Run})
	k.same("sent without a message", k.starts(journal.Start{})[0].Sent, journal.Sent{})
	k.take(node, 3)[0].commit(park, started())

	starts := []journal.Start{startWith("key", "s", "3"), startWith("bad", "", "3")}
	starts[0].Workflow = "other"
	refused, err := k.j.Start(k.ctx, nil, starts)
	k.ok(err)
	var conflict *journal.KeyConflictError
	if !errors.As(refused[0].Err, &conflict) || !errors.Is(refused[1].Err, journal.ErrInvalid) {
		k.t.Errorf("starts that must fail: %+v", refused)
	}
	k.inboxIs(out[0].Run, "1 s 1", "1 s 2")
}

// A start that comes again sends its message once.
func messageOnce(k *kit) {
	node := k.join(leaseLong).ID()
	plain, keyed := startWith("", "s", "1"), startWith("key", "s", "1")
	plain.ID, keyed.ID = journal.NewRunID(), journal.NewRunID()
	k.starts(plain, keyed)
	again := func(what string) {
		k.t.Helper()
		k.unchanged(what, func() {
			for i, o := range k.starts(plain, keyed) {
				if !o.Created || o.Sent.Err != nil || !o.Sent.Duplicate || o.Sent.Number != 1 {
					k.t.Errorf("%s: start %d, repeated: %+v", what, i, o)
				}
			}
		})
	}
	again("at once")
	owners := k.take(node, 2)
	for _, o := range owners {
		o.commit(keep, started(), received(k.first(o.run)))
	}
	again("after consumption")
	for _, o := range owners {
		o.commit(closed, completed("1"))
	}
	again("after the close")
	other := startWith("key", "s", "2")
	other.Reuse = journal.ReuseAllow
	k.starts(other)
	again("after the key went to another run")
}

// messagesConcurrently: one run, and every message in it, whoever made the run.
func messagesConcurrently(k *kit) {
	const callers, keys = 16, 3
	var mu sync.Mutex
	created := map[string]int{}
	runs := map[string]journal.RunID{}
	k.together(callers, func(i int) error {
		var list []journal.Start
		for n := range keys {
			list = append(list, startWith(fmt.Sprint("key ", n), "s", fmt.Sprint(i)))
		}
		out, err := k.j.Start(k.ctx, nil, list)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		for n, o := range out {
			key := list[n].Key
			if err := errors.Join(o.Err, o.Sent.Err); err != nil {
				return err
			}
			if o.Created {
				created[key]++
			}
			if run, ok := runs[key]; ok && run != o.Run {
				return fmt.Errorf("key %q leads to %s and %s", key, run, o.Run)
			}
			runs[key] = o.Run
		}
		return nil
	})
	for key, run := range runs {
		k.same("created", created[key], 1)
		k.same("messages", len(k.history(run).Inbox), callers)
	}
	k.same("runs", len(k.listAll(journal.ListFilter{})), keys)
}

// If the key leads to a closed run that is not replaced, the message is refused and the caller is
// told.
func messageToClosed(k *kit) {
	node := k.join(leaseLong).ID()
	for i, end := range []journal.Kind{journal.RunCompleted, journal.RunFailed} {
		key := fmt.Sprint("key ", i)
		o := k.takeStarted(node, startWith(key, "s", "1"))
		o.commit(closed, started(), received(k.first(o.run)), ended(end))
		again := k.starts(startWith(key, "s", "1"), startWith(key, "s", "2"))
		for n, s := range again {
			if s.Created || s.Run != o.run {
				k.t.Errorf("after %s: %+v", end, s)
			}
			if n == 0 && (s.Sent.Err != nil || !s.Sent.Duplicate || s.Sent.Number != 1) {
				k.t.Errorf("a message that the closed run has: %+v", s.Sent)
			}
			if n == 1 && !errors.Is(s.Sent.Err, journal.ErrClosed) {
				k.t.Errorf("a message for a closed run: %+v", s.Sent)
			}
		}
		replace := startWith(key, "s", "1")
		replace.Reuse = []journal.Reuse{journal.ReuseAllow, journal.ReuseAllowIfFailed}[i]
		s := k.starts(replace)[0]
		if !s.Created || s.Run == o.run || s.Sent.Err != nil || s.Sent.Duplicate || s.Sent.Number != 1 {
			k.t.Errorf("a run in the place of the closed one: %+v", s)
		}
		k.inboxIs(o.run)
		k.inboxIs(s.Run, "1 s 1")
		k.take(node, 1)
	}
}

// The message wakes a run that had the key already, as any message does.
func messageWakes(k *kit) {
	node := k.join(leaseLong).ID()
	for name, next := range parks(k) {
		k.takeStarted(node, journal.Start{Key: name}).commit(next, started())
		k.nothingDue(node)
		k.starts(startWith(name, "s", "1"))
		o := k.take(node, 1)[0]
		o.commit(next, received(k.first(o.run)))
		k.starts(startWith(name, "s", "1")) // a duplicate wakes nobody
		k.nothingDue(node)
	}
	owned := k.takeStarted(node, journal.Start{Key: "owned"})
	k.same("sent to an owned run", k.starts(startWith("owned", "s", "1"))[0].Sent, journal.Sent{Number: 1, Owner: node, Route: flowRoute})
	k.same("attention", k.claim(node, 0).Attention, []journal.RunID{owned.run})
}

// messageWaits: the message that came with the start leaves the delay alone. A later one does not.
func messageWaits(k *kit) {
	node := k.join(leaseLong).ID()
	late := startWith("key", "s", "1")
	late.Delay = time.Hour
	o := k.starts(late)[0]
	k.nothingDue(node)
	if due := k.claim(node, 0).NextDue; !due.Equal(o.StartAt) {
		k.t.Errorf("due at %v, want %v", due, o.StartAt)
	}
	k.starts(late) // by its key this time: the message is a duplicate
	k.nothingDue(node)
	k.inboxIs(o.Run, "1 s 1")
	k.starts(startWith("key", "s", "2"))
	first := k.take(node, 1)[0]
	k.same("run", first.run, o.Run)

	soon := startWith("", "s", "1")
	soon.Delay = 50 * time.Millisecond
	run := k.starts(soon)[0].Run
	if next := k.takeSoon(node); next.run != run || len(k.history(run).Inbox) != 1 {
		k.t.Errorf("run %s became due, want %s with its message", next.run, run)
	}
}

// A child can start with a message, as any run can.
func childWithMessage(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.starts(journal.Start{Key: "taken", Delay: time.Hour})
	c := o.build(keep, asksChild(2))
	c.Starts = []journal.Start{o.child(1, 0), o.child(2, 0)}
	for i := range c.Starts {
		c.Starts[i].Message = startWith("", "s", "1").Message
	}
	c.Starts[0].Owner = node
	out := o.submit(c)
	k.same("sent", []journal.Sent{out.Started[0].Sent, out.Started[1].Sent},
		[]journal.Sent{{Number: 1, Owner: node, Route: flowRoute}, {Number: 1, Route: flowRoute}})
	for _, st := range c.Starts {
		k.inboxIs(st.ID, "1 s 1")
	}
}
