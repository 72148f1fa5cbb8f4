package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

// effects adds replies, a child and messages.
func (t *turn) effects() {
	if t.mem.has(commitReply) {
		t.reply()
	}
	t.c.Children = t.mem.has(commitChildren)
	if t.mem.has(commitChild) {
		t.child()
	}
	if t.mem.has(commitSignal) {
		t.signal()
	}
	if to := t.m.ids[t.mem.other]; t.mem.has(commitMessage) && to != t.v.run {
		m := t.m.message(to, t.mem.pick)
		t.c.Messages = append(t.c.Messages, m)
	}
}

// dynastyLevels is how many generations of runs a dynasty has.
const dynastyLevels = 4

// dynasty makes a line of fresh runs, each the child of the one before. It ends the first, so that
// the others meet their policies, or the last, of which the one before hears.
func (m *model) dynasty(s step) string {
	if len(s.members) < dynastyLevels {
		return ""
	}
	const stay, complete, listen = 23, 6, 12
	var steps []step
	commit := func(mem member) { steps = append(steps, step{verb: doCommit, members: []member{mem}}) }
	for _, mem := range s.members {
		one := []member{{run: mem.run}}
		steps = append(steps, step{verb: doTerminate, members: one}, step{verb: doDelete, members: one})
	}
	steps = append(steps, step{verb: doStart, members: []member{{run: s.members[0].run, flags: startOwned}}})
	picks := [...]int{4, 4, 12, 8} // children that their parent's node owns, and their policies
	for i := range s.members[1:] {
		commit(member{run: s.members[i].run, what: stay, flags: commitChild, other: s.members[i+1].run, pick: picks[s.members[i].pick%len(picks)]})
	}
	end := s.members[s.choice/2%2*(dynastyLevels-1)].run
	if s.choice%2 == 0 {
		commit(member{run: end, what: complete, flags: commitChildren})
	} else {
		steps = append(steps, step{verb: doTerminate, members: []member{{run: end}}})
	}
	commit(member{run: s.members[dynastyLevels-2].run, what: stay, how: listen})
	for _, st := range steps {
		if text := m.do(st); text != "" {
			return text
		}
	}
	return ""
}

// reply answers the oldest update of this generation that has no answer.
func (t *turn) reply() {
	for _, list := range [][]journal.Event{t.r.Events, t.c.Events} {
		for i := range list {
			if _, done := t.r.Answers[list[i].Inbox]; list[i].Kind == journal.UpdateReceived && !done {
				t.c.Replies = append(t.c.Replies, journal.Reply{Number: list[i].Inbox, Payload: t.payload("answer")})
				return
			}
		}
	}
}

// issue adds a command to the newest event, and returns its number; 0 if there is no event in this
// turn.
func (t *turn) issue(i journal.Issued) journal.Cmd {
	if len(t.c.Events) == 0 {
		return 0
	}
	last := &t.c.Events[len(t.c.Events)-1]
	last.Issued = append(last.Issued, i)
	t.open = append(t.open, i)
	return journal.Cmd(len(t.open))
}

// child starts a run that is not there, under a key that may be taken.
func (t *turn) child() {
	id := t.m.ids[t.mem.other]
	if t.m.exists(id) || len(t.m.children(id)) > 0 { // the children of an earlier life
		return
	}
	st := t.m.startOf(member{run: t.mem.other, what: t.mem.pick, how: t.mem.pick / 4, flags: t.mem.pick % startOwned})
	cmd := t.issue(journal.Issued{Kind: journal.CommandChild, Name: st.Workflow})
	if cmd == 0 {
		return
	}
	st.Parent = &journal.Parent{Run: t.v.run, Generation: t.v.gen, Cmd: cmd, Policy: journal.ClosePolicy(t.mem.pick % 3)}
	if t.mem.pick%2 == 0 {
		st.Owner = 1 // stands for the parent's node
	}
	t.c.Starts = append(t.c.Starts, st)
}

// signal sends a signal that it wants to hear of.
func (t *turn) signal() {
	to := t.m.ids[t.mem.third]
	for i := 0; t.mem.pick%4 > 0 && i < runsMax && (to == t.v.run || t.m.task(to) == nil); i++ { // mostly to one that hears it
		to = t.m.ids[(t.mem.third+i)%runsMax]
	}
	if to == t.v.run {
		return
	}
	m := t.m.message(to, 1+t.mem.pick)
	if m.Kind != journal.MessageSignal {
		return
	}
	if m.Cmd = t.issue(journal.Issued{Kind: journal.CommandSend, Name: m.Name}); m.Cmd > 0 {
		t.c.Messages = append(t.c.Messages, m)
	}
}

// sendOutcome adds what tells the parent of a run that closes.
func (t *turn) sendOutcome() {
	if m, waits := t.r.Run.ParentMessage(t.c.Terminal()); waits && m.Run != t.v.run {
		t.c.Messages = append(t.c.Messages, m)
	}
}

// carryOn ends the generation. Some of the messages that it consumed go to the next, and some that
// it did not see.
func (t *turn) carryOn() {
	t.add(journal.Event{Kind: journal.RunContinued, Payload: t.r.Run.Input})
	next := &journal.Continue{Input: t.payload("input"), Version: t.r.Run.Version, Seen: t.c.InboxSeen}
	if t.mem.pick%3 == 0 && t.r.Run.Workflow == t.m.routes[0].Workflow {
		next.Version = 3 - next.Version
	}
	known := map[journal.InboxSeq]bool{}
	for _, list := range [][]journal.Event{t.r.Events, t.c.Events} {
		for i := range list {
			known[list[i].Inbox] = true
		}
	}
	for _, n := range t.left {
		known[n] = n <= next.Seen
	}
	for _, n := range slices.Sorted(maps.Keys(known)) {
		if _, answered := t.r.Answers[n]; n > 0 && known[n] && !answered && !t.replies(n) && int(n)%(1+t.mem.pick%4) == 0 {
			next.Carried = append(next.Carried, n)
		}
	}
	t.c.Continue = next
}

func (t *turn) replies(n journal.InboxSeq) bool {
	return slices.ContainsFunc(t.c.Replies, func(r journal.Reply) bool { return r.Number == n })
}

// touches is what a commit may change beyond what it wrote: runs, and the keys of runs. Members of
// a batch that touch the same are carried out in an order that is the store's choice, so programs
// keep them apart.
type touches map[string]bool

// add takes the touches of one more member, unless they meet those of another.
func (all touches) add(more touches) bool {
	for name := range more {
		if all[name] {
			return false
		}
	}
	maps.Copy(all, more)
	return true
}

// touches returns what a commit may change.
func (m *model) touches(c *driver.Commit) touches {
	set := touches{c.Run.String(): true}
	for i := range c.Starts {
		st := &c.Starts[i]
		set[st.ID.String()] = true
		if st.Key != "" {
			set["key "+st.Key] = true
			if holder, ok := m.holder(st.Key); ok {
				set[holder.String()] = true
			}
		}
	}
	for i := range c.Messages {
		set[c.Messages[i].Run.String()] = true
	}
	if c.Next.Kind == driver.NextClose && c.Children {
		m.touchChildren(c.Run, set)
	}
	return set
}

// touchChildren adds the family that close policies can reach.
func (m *model) touchChildren(parent journal.RunID, set touches) {
	for _, id := range m.children(parent) {
		if !set[id.String()] {
			set[id.String()] = true
			m.touchChildren(id, set)
		}
	}
}

// plainEffects makes comparable what a commit did to others.
func (w *world) plainEffects(o *driver.Outcome) {
	for i := range o.Started {
		w.plainStarted(&o.Started[i])
	}
	for i := range o.Sent {
		o.Sent[i].Owner = w.names[o.Sent[i].Owner]
	}
	o.Closed = sortedIDs(o.Closed)
}

func (w *world) plainStarted(o *journal.Started) {
	o.StartAt, o.Now, o.Sent.Owner = state.PlainTime(o.StartAt), state.PlainTime(o.Now), w.names[o.Sent.Owner]
}

// lookAtChildren makes an incarnation the owner of children that it owns from birth.
func (m *model) lookAtChildren(inc int, c *driver.Commit, started []journal.Started) {
	for i, o := range started {
		if o.Owned && o.Created && m.task(o.Run) != nil { // not terminated in the same moment, for its parent
			m.look(inc, slices.Index(m.ids, c.Starts[i].ID))
		}
	}
}

// message returns a message whose kind and key a number says.
func (m *model) message(to journal.RunID, pick int) journal.Message {
	msg := journal.Message{Run: to, Kind: journal.MessageSignal, Name: "s", Key: fmt.Sprint(pick % messageKeys),
		Payload: journal.Payload{Encoding: "e", Data: fmt.Appendf(nil, "%d of step %d", pick, m.steps)}}
	switch {
	case pick == 0:
		msg.Kind, msg.Name = journal.MessageCancel, ""
	case pick%3 == 0:
		msg.Kind, msg.Name = journal.MessageUpdate, "u"
	}
	return msg
}
