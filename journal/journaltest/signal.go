package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Messages between runs travel in commits (J2, J5). Runs that write to each other at the same
// moment are where a store deadlocks, and a sender that writes to itself is where it locks a row
// twice.
var signalChecks = []check{
	{"J2_ACommitSendsItsMessages", commitSends},
	{"J6_ASenderIsWokenByItsAnswers", answersWake},
	{"J2_NobodyHearsOfMessagesWithoutACommand", unasked},
	{"J5_ARunWritesToItself", writesToItself},
	{"J5_KeysDeduplicateMessagesOfCommits", signalsOnce},
	{"J5_MessagesOfABatchKeepTheirOrder", batchOrder},
	{"J5_CrosswiseMessagesDoNotDeadlock", crosswise},
}

// The messages of a commit are in the other inboxes when it is accepted, and the sender hears
// which arrived.
func commitSends(k *kit) {
	node := k.join(leaseLong).ID()
	o, owned, sleeper := k.one(node), k.one(node), k.one(node)
	sleeper.commit(park, started())
	free, parked := k.starts(journal.Start{Workflow: "other"})[0].Run, sleeper.run
	c := o.build(keep, asksSend("a", "b", "c"))
	c.Messages = []journal.Message{aimed(1, free, "a", "1"), aimed(2, parked, "b", "2"), aimed(3, owned.run, "c", "3")}
	out := o.submit(c)
	k.same("sent", out.Sent, []journal.Sent{{Number: 1, Route: journal.Route{Queue: journal.DefaultQueue, Workflow: "other", Version: 1}},
		{Number: 1, Route: flowRoute}, {Number: 1, Route: flowRoute, Owner: node}})
	for i, run := range []journal.RunID{free, parked, owned.run} {
		m := k.first(run)
		want := c.Messages[i]
		want.Number, want.Time, want.Cmd = 1, m.Time, 0 // the command is the sender's own
		k.same("message", m, want)
	}
	k.same("newest message", out.InboxLast, journal.InboxSeq(3))
	events := []journal.Event{}
	for i, m := range k.history(o.run).Inbox {
		want := journal.Message{Run: o.run, Number: journal.InboxSeq(i + 1), Kind: journal.MessageSent, Name: c.Messages[i].Name,
			Key: m.Key, Time: m.Time, Cmd: journal.Cmd(i + 1), Generation: 1}
		k.same("answer", m, want)
		events = append(events, received(m))
	}
	k.same("attention", len(k.claim(node, 0).Attention), 2)
	due := k.takeRun(node, parked) // J6
	due.commit(keep, received(k.first(parked)))
	o.commit(closed, append(events, completed("1"))...)
}

// The answer to a sender's message wakes it, although it arrives with the very commit that parks
// it.
func answersWake(k *kit) {
	node := k.join(leaseLong).ID()
	done := k.one(node)
	done.commit(closed, started(), completed("1"))
	for name, next := range parks(k) {
		o, free := k.one(node), k.starts(journal.Start{Workflow: "other"})[0].Run
		c := o.build(next, asksSend("a", "b", "c"))
		c.Messages = []journal.Message{aimed(1, journal.NewRunID(), "a", ""), aimed(2, free, "b", ""), aimed(3, done.run, "c", "")}
		if out := o.submit(c); out.InboxLast != 3 {
			k.t.Errorf("parked %s: newest message %d, want 3", name, out.InboxLast)
		}
		o = k.takeRun(node, o.run)
		inbox := k.waits(o.run, 3)
		k.inboxIs(o.run, "7 a 1", "6 b 2", "7 c 3")
		if f := k.failure(inbox[0].Payload); f.Type != journal.FailureNotFound {
			k.t.Errorf("signal to nobody: %+v", f)
		}
		if f := k.failure(inbox[2].Payload); f.Type != journal.FailureClosed {
			k.t.Errorf("signal to a closed run: %+v", f)
		}
		for i, m := range inbox {
			if m.Cmd != journal.Cmd(i+1) || m.Generation != 1 {
				k.t.Errorf("answer %+v", m)
			}
		}
		o.commit(next, received(inbox[0]), received(inbox[1]), received(inbox[2]))
		k.nothingDue(node)
		events := k.history(o.run).Events
		k.same("kinds", []journal.Kind{events[1].Kind, events[2].Kind, events[3].Kind},
			[]journal.Kind{journal.SignalRefused, journal.SignalSent, journal.SignalRefused})
		k.same("why", events[1].Payload, inbox[0].Payload)
	}
}

// unasked: messages without a command are sent or dropped. The same goes for those of a run that
// closes.
func unasked(k *kit) {
	node := k.join(leaseLong).ID()
	done := k.one(node)
	done.commit(closed, started(), completed("1"))
	for _, next := range []driver.Next{park, closed} {
		o, free := k.one(node), k.starts(journal.Start{Workflow: "other"})[0].Run
		c := o.build(next, asksSend("a", "b", "c"))
		if next.Kind == driver.NextClose {
			c = o.build(next, asksSend("a", "b", "c"), completed("1"))
		}
		c.Messages = []journal.Message{signal(journal.NewRunID(), "a", ""), signal(free, "b", ""), signal(done.run, "c", "")}
		if next.Kind == driver.NextClose {
			for i := range c.Messages {
				c.Messages[i].Cmd = journal.Cmd(i + 1)
			}
		}
		out := o.submit(c)
		if len(out.Sent) != 3 || !errors.Is(out.Sent[0].Err, journal.ErrNotFound) || out.Sent[1].Err != nil || !errors.Is(out.Sent[2].Err, journal.ErrClosed) {
			k.t.Errorf("sent: %+v", out.Sent)
		}
		k.inboxIs(o.run)
		k.inboxIs(done.run)
		k.inboxIs(free, "1 b 1")
		k.nothingDue(node)
	}
}

// A run may send itself a message. Its inbox is locked once, and the message gets the next number.
func writesToItself(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	c := o.build(park, asksSend("a", "b"))
	c.Messages = []journal.Message{aimed(1, o.run, "a", ""), aimed(2, o.run, "b", "")}
	if out := o.submit(c); out.InboxLast != 4 {
		k.t.Errorf("newest message %d, want 4", out.InboxLast)
	}
	o = k.takeRun(node, o.run)
	var signals, answers []string
	var events []journal.Event
	for _, m := range k.history(o.run).Inbox {
		events = append(events, received(m))
		if m.Kind == journal.MessageSignal {
			signals = append(signals, m.Name)
		} else {
			answers = append(answers, fmt.Sprint(m.Kind, m.Name, m.Cmd))
		}
	}
	k.same("signals", signals, []string{"a", "b"})
	k.same("answers", answers, []string{fmt.Sprint(journal.MessageSent, "a", 1), fmt.Sprint(journal.MessageSent, "b", 2)})
	o.commit(park, events...)
	k.nothingDue(node)
}

// Messages of commits are deduplicated by key like those of clients.
func signalsOnce(k *kit) {
	node := k.join(leaseLong).ID()
	o, free := k.one(node), k.starts(journal.Start{Workflow: "other"})[0].Run
	k.send(free, "a", "1")
	c := o.build(keep, asksSend("a", "a", "a"))
	c.Messages = []journal.Message{aimed(1, free, "a", "1"), aimed(2, free, "a", "2"), aimed(3, free, "a", "2")}
	out := o.submit(c)
	for i, want := range []journal.Sent{{Number: 1, Duplicate: true}, {Number: 2}, {Number: 2, Duplicate: true}} {
		if s := out.Sent[i]; s.Err != nil || s.Number != want.Number || s.Duplicate != want.Duplicate {
			k.t.Errorf("message %d: %+v, want %+v", i, s, want)
		}
	}
	k.inboxIs(free, "1 a 1", "1 a 2")
	k.inboxIs(o.run, "6 a 1", "6 a 2", "6 a 3")
}

// Messages that members of one batch send to one run arrive in the order of the members.
func batchOrder(k *kit) {
	const senders, each = 5, 7
	node := k.join(leaseLong).ID()
	owners, free := k.own(node, senders), k.starts(journal.Start{Workflow: "other"})[0].Run
	var batch []driver.Commit
	var want []string
	for i, o := range owners {
		c := o.build(keep, started())
		for n := range each {
			c.Messages = append(c.Messages, signal(free, fmt.Sprint(i, n), ""))
			want = append(want, fmt.Sprintf("1 %s %d", fmt.Sprint(i, n), len(want)+1))
		}
		batch = append(batch, c)
	}
	out, err := k.commits(batch...)
	k.ok(err)
	for i := range out {
		k.ok(out[i].Err)
		k.same("last number", out[i].Sent[each-1].Number, journal.InboxSeq((i+1)*each))
	}
	k.inboxIs(free, want...)
}

// crosswise: batches whose members write to those of all others, each in an order of its own, at
// the same moment.
func crosswise(k *kit) {
	const groups, size, rounds = 6, 4, 12
	node := k.join(leaseLong).ID()
	owners := k.own(node, groups*size)
	for _, o := range owners {
		o.commit(keep, started())
	}
	counts := make([]map[journal.RunID]int, groups)
	k.together(groups, func(g int) error {
		r := rand.New(rand.NewPCG(uint64(g), 1))
		counts[g] = map[journal.RunID]int{}
		own := owners[g*size : (g+1)*size]
		for round := range rounds {
			batch := make([]driver.Commit, size)
			for n, i := range r.Perm(size) {
				c := own[i].build(keep)
				for _, target := range r.Perm(len(owners))[:8] {
					c.Messages = append(c.Messages, signal(owners[target].run, "s", fmt.Sprint(g, round, n)))
					counts[g][owners[target].run]++
				}
				batch[n] = c
			}
			out, err := k.commits(batch...)
			if err != nil {
				return err
			}
			for n := range out {
				if out[n].Err != nil {
					return out[n].Err
				}
				for _, o := range own {
					if o.run == batch[n].Run {
						o.accept(&batch[n])
					}
				}
			}
		}
		return nil
	})
	for _, o := range owners {
		want := 0
		for _, c := range counts {
			want += c[o.run]
		}
		if task := k.row(o.run).Task; int(task.InboxLast) != want {
			k.t.Errorf("run %s got %d messages, want %d", o.run, task.InboxLast, want)
		}
	}
}
