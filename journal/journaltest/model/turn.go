package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// turn is a commit that is being built, for a view of a run.
type turn struct {
	m    *model
	v    *view
	mem  member
	r    *memory.RunSnapshot // of the run in the reference, ahead of the turn; a run that is deleted has no views
	c    driver.Commit
	open commands           // behind the events so far
	left []journal.InboxSeq // messages that the turn may consume, in order
}

// commands are what a run has issued in its generation. Those with an outcome have lost their kind.
type commands []journal.Issued

// next returns the first command that a step or a timer can answer, or 0.
func (c commands) next() journal.Cmd {
	return journal.Cmd(1 + slices.IndexFunc(c, func(i journal.Issued) bool {
		return i.Kind == journal.CommandStep || i.Kind == journal.CommandTimer
	}))
}

// after returns what is open after an event.
func (c commands) after(ev *journal.Event) commands {
	if ev.Cmd > 0 {
		c[ev.Cmd-1].Kind = 0
	}
	return append(c, ev.Issued...)
}

// turn builds the commit of a view's next turn, or what its flags make of it.
func (m *model) turn(v *view, mem member) driver.Commit {
	if v.last != nil && mem.has(commitAgain) {
		return *v.last
	}
	r, _ := m.memory.Run(v.run)
	t := &turn{m: m, v: v, mem: mem, r: &r}
	t.c = driver.Commit{Run: v.run, Fence: v.fence, Turn: v.turn, Generation: v.gen, Head: v.head, InboxSeen: v.seen,
		Next: ending(mem, m.steps)}
	t.begin()
	t.body()
	t.effects()
	t.end()
	if mem.has(commitHead) {
		t.c.Head = journal.Head{Link: v.origin}
	}
	link := t.c.Head.Link
	for i := range t.c.Events {
		ev := &t.c.Events[i]
		ev.Seq, ev.Time = t.c.Head.Seq+journal.Seq(i)+1, yearNow.AddDate(-20, 0, 0).Add(time.Duration(m.steps)*time.Second)
		link = ev.LinkAfter(link)
		ev.Link = link
	}
	t.c.Hold = mem.has(commitHold) && t.c.Next.Kind == driver.NextKeep
	t.c.Interrupted = t.c.Hold && mem.how%2 == 0
	if t.c.Hold && mem.has(commitPause) {
		t.c.Pause = fmt.Sprint("step ", m.steps, " is exhausted")
	}
	if mem.has(commitLabel) {
		t.c.Labels = mem.labels()
	}
	if mem.has(commitFence) {
		t.c.Fence--
	}
	if mem.has(commitTurn) {
		t.c.Turn++
	}
	if cmd := t.open.next(); mem.has(commitAttempts) && cmd > 0 && t.open[cmd-1].Kind == journal.CommandStep {
		t.c.Attempts = []journal.Attempt{{Cmd: cmd, Name: t.open[cmd-1].Name, Made: 2, NextAt: yearThen, Failure: &journal.Failure{Message: "no"}}}
		t.c.Waiting = []string{"step a", fmt.Sprint("step ", m.steps)}
	}
	return t.c
}

// begin reads the history that the view knows, and what waits for it.
func (t *turn) begin() {
	events := t.r.Events
	if past := int(t.v.gen) - 1; past < len(t.r.Past) {
		events = t.r.Past[past]
	}
	for i := range events[:min(len(events), int(t.v.head.Seq))] {
		t.open = t.open.after(&events[i])
	}
	for i := range t.r.Inbox {
		t.left = append(t.left, t.r.Inbox[i].Number)
	}
}

func (t *turn) add(ev journal.Event) {
	t.c.Events = append(t.c.Events, ev)
	t.c.InboxSeen = max(t.c.InboxSeen, ev.Inbox)
	t.open = t.open.after(&ev)
}

// body adds the event of the run's start if there is none yet, then steps and timers, then
// messages. A turn that blocks its run ends no step: the task keeps its attempts then, and those
// are of steps that are not done.
func (t *turn) body() {
	if t.v.head.Seq == 0 {
		t.add(started("a", "b"))
	}
	for i := range t.mem.steps() {
		cmd := t.open.next()
		if cmd == 0 || t.c.Next.Kind == driver.NextBlock {
			break
		}
		ev := stepDone(cmd, t.open[cmd-1].Name, fmt.Sprint(t.m.steps, i), "c")
		if t.open[cmd-1].Kind == journal.CommandTimer {
			ev = journal.Event{Kind: journal.TimerFired, Cmd: cmd, Name: ev.Name}
		}
		ev.Issued = append(ev.Issued, journal.Issued{Kind: journal.CommandTimer, Name: "t", Due: yearThen},
			journal.Issued{Kind: journal.CommandCancel, Target: 1})
		if t.mem.has(commitChange) {
			ev.Issued = append(ev.Issued, journal.Issued{Kind: journal.CommandChange, Name: "c"})
		}
		t.add(ev)
	}
	for i := 0; i < t.mem.messages() && len(t.left) > 0; i++ {
		t.consume()
	}
}

// consume takes the next message, by a rejection if the turn rejects updates.
func (t *turn) consume() {
	m := t.r.Messages[t.left[0]-1]
	t.left = t.left[1:]
	t.c.Consumed = append(t.c.Consumed, driver.Consumed{Number: m.Number, Digest: m.Digest()})
	if m.Kind == journal.MessageUpdate && t.mem.has(commitReject) {
		t.c.Replies = append(t.c.Replies, journal.Reply{Number: m.Number, Payload: t.payload("rejected"), Rejected: true})
		t.c.InboxSeen = max(t.c.InboxSeen, m.Number)
		return
	}
	ev := m.Event()
	if m.Kind.Answers() && !t.awaits(&m) {
		ev = journal.Event{Kind: journal.MessageDropped, Inbox: m.Number}
	}
	t.add(ev)
}

// awaits tells whether a command of the generation is open that the message answers. It may be for
// an earlier life of the run: the model uses ids again.
func (t *turn) awaits(m *journal.Message) bool {
	if m.Generation != t.v.gen || int(m.Cmd) > len(t.open) {
		return false
	}
	kind := journal.CommandSend
	if m.Kind == journal.MessageChildCompleted || m.Kind == journal.MessageChildFailed {
		kind = journal.CommandChild
	}
	return t.open[m.Cmd-1].Kind == kind && t.open[m.Cmd-1].Name == m.Name
}

func (t *turn) payload(what string) journal.Payload {
	return journal.Payload{Encoding: "e", Data: fmt.Appendf(nil, "%s at step %d", what, t.m.steps)}
}

// end adds the event that ends the run or its generation.
func (t *turn) end() {
	switch next := t.c.Next.Kind; {
	case next == driver.NextClose:
		t.add(ended(journal.RunCompleted + journal.Kind(t.mem.what-6)))
		t.sendOutcome()
	case t.mem.has(commitContinue) && (next == driver.NextKeep || next == driver.NextRelease):
		t.carryOn()
	}
}

// ending is in the order of endings.
func ending(mem member, steps int) driver.Next {
	at := func(t time.Time) time.Time { return t.Add(time.Duration(steps) * time.Minute) }
	switch mem.what {
	case 0:
		return park
	case 1:
		return parkUntil(at(yearThen))
	case 2:
		return parkUntil(at(yearPast))
	case 3:
		return release
	case 4:
		return block("a problem", time.Time{})
	case 5:
		return block("a problem\nof two lines", at(yearThen))
	case 6, 7, 8, 9:
		return closed
	}
	return keep
}
