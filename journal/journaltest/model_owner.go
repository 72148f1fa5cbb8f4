package journaltest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// loseAnswer is the choice of a claim whose answer nobody gets.
const loseAnswer = 7

// claimAnswer is what is compared of a claim. Within an answer the order is the store's choice.
type claimAnswer struct {
	Tasks     map[journal.RunID]journal.Claimed
	Attention []journal.RunID
	NextDue   time.Time
}

// claim lets the store under test choose first: among tasks that became visible in one call any order is right. The
// model checks the choice, and makes the same.
func (m *model) claim(s step, inc int) string {
	r := journal.ClaimRequest{Routes: m.routesOf(s), Reconcile: s.reconciles()}
	if s.choice == 1 {
		r.Routes = append(r.Routes, r.Routes[0]) // a route that is named twice counts once
	}
	model, store := m.worlds[0], m.worlds[1]
	r.Node = model.members[inc].ID()
	want, err := model.j.Claim(m.ctx, r)
	if err != nil {
		return fmt.Sprintf("the model's claim: %v", err)
	}
	r.Node, r.Max = store.members[inc].ID(), s.max
	got, err := store.j.Claim(m.ctx, r)
	if err != nil {
		return fmt.Sprintf("claim: %v", err)
	}
	reconciled := map[journal.RunID]bool{}
	for _, c := range want.Tasks {
		reconciled[c.Run.ID] = true
	}
	var fresh []journal.RunID
	for _, c := range got.Tasks {
		if !reconciled[c.Run.ID] {
			fresh = append(fresh, c.Run.ID)
		}
	}
	if !m.memory.member(model.members[inc].ID()) {
		s.max = 0
	}
	if text := m.choose(r.Routes, s.max, fresh); text != "" {
		return text
	}
	for _, run := range fresh {
		want.Tasks = append(want.Tasks, m.memory.adopt(run, model.members[inc].ID()))
	}
	if text := m.diff("claim", m.claimAnswer(model, want), m.claimAnswer(store, got)); text != "" || s.choice == loseAnswer {
		return text
	}
	for _, c := range want.Tasks {
		m.look(inc, slices.Index(m.ids, c.Run.ID))
	}
	return ""
}

// choose checks which of the due tasks were claimed: all that are more urgent or older than the last of them.
func (m *model) choose(routes []journal.Route, max int, claimed []journal.RunID) string {
	due := m.memory.due(routes)
	n := min(max, len(due))
	if len(claimed) != n {
		return fmt.Sprintf("claimed %d tasks, want %d: %d are due", len(claimed), n, len(due))
	}
	for i, r := range due {
		got := slices.Contains(claimed, r.run.ID)
		edge := n > 0 && urgency(r, due[n-1]) == 0
		if got != (i < n) && !edge {
			return fmt.Sprintf("claimed run %d: %v, but it is number %d of what is due, and %d were claimed",
				slices.Index(m.ids, r.run.ID), got, i+1, n)
		}
		if got {
			claimed = slices.DeleteFunc(slices.Clone(claimed), func(id journal.RunID) bool { return id == r.run.ID })
		}
	}
	if len(claimed) > 0 {
		return fmt.Sprintf("claimed run %d, which is not due", slices.Index(m.ids, claimed[0]))
	}
	return ""
}

func urgency(a, b *record) int {
	return cmp.Or(cmp.Compare(a.task.Priority, b.task.Priority), a.task.VisibleAt.Compare(b.task.VisibleAt))
}

// due returns the tasks that can be claimed, most urgent first, oldest first.
func (m *Memory) due(routes []journal.Route) (list []*record) {
	m.db.mu.Lock()
	defer m.db.mu.Unlock()
	for _, l := range m.db.lanesOf(routes, m.db.now()) {
		for p := range l {
			list = append(list, l[p].due...)
		}
	}
	slices.SortFunc(list, urgency)
	return list
}

// member tells whether a node may claim.
func (m *Memory) member(node journal.NodeID) bool {
	m.db.mu.Lock()
	defer m.db.mu.Unlock()
	return m.db.alive(node)
}

// adopt claims one free task.
func (m *Memory) adopt(run journal.RunID, node journal.NodeID) journal.Claimed {
	m.db.mu.Lock()
	defer m.db.mu.Unlock()
	r := m.db.runs[run]
	m.db.take(r, node, m.db.now())
	return r.claimed()
}

func (m *model) claimAnswer(w *world, c journal.Claim) claimAnswer {
	p := m.plain(w)
	a := claimAnswer{Tasks: map[journal.RunID]journal.Claimed{}, Attention: c.Attention, NextDue: p.visible(c.NextDue)}
	slices.SortFunc(a.Attention, func(a, b journal.RunID) int { return cmp.Compare(a.String(), b.String()) })
	for _, t := range c.Tasks {
		s := RunState{Run: t.Run}
		p.run(&s)
		t.Run = s.Run
		p.task(&t.Task)
		a.Tasks[t.Run.ID] = t
	}
	return a
}

// look makes an incarnation an owner that has just loaded its run, unless it is that already.
func (m *model) look(inc, run int) {
	r := m.memory.db.runs[m.ids[run]]
	if n := len(m.views[run]); n > 0 && m.views[run][n-1].fence == r.task.Fence {
		return
	}
	o := &owner{run: r.run.ID, gen: r.task.Generation, fence: r.task.Fence, turn: r.task.Turn, seen: r.front.seen}
	o.seq, o.at = r.newest()
	m.views[run] = append(m.views[run], &view{owner: o, node: inc})
}

func (m *model) commit(s step) string {
	var list []journal.Commit
	var views []*view
	var nodes []int // by incarnation
	for _, mem := range s.members {
		known := m.views[mem.run]
		if len(known) == 0 {
			continue
		}
		v := known[len(known)-1]
		if mem.has(commitZombie) {
			v = known[max(0, len(known)-2)]
		}
		node := v.node
		if mem.has(commitNode) {
			node = (node + 1) % len(m.worlds[0].members)
		}
		list, views, nodes = append(list, m.turn(v, mem)), append(views, v), append(nodes, node)
	}
	if len(list) == 0 {
		return ""
	}
	text, out := both(m, "commit", func(w *world) ([]journal.Outcome, error) {
		own := slices.Clone(list)
		for i := range own {
			own[i].Node = w.members[nodes[i]].ID()
		}
		out, err := w.j.Commit(m.ctx, own)
		for i := range out {
			if out[i].Now = plainTime(out[i].Now); out[i].Err != nil {
				out[i] = journal.Outcome{Err: out[i].Err}
			}
			if own[i].Next.Kind == journal.NextClose {
				out[i].InboxLast = 0 // means something of open runs only
			}
		}
		return out, err
	})
	for i, o := range out {
		if v := views[i]; o.Err == nil && v.turn == list[i].Turn {
			v.accept(&list[i])
			v.last = &list[i]
		}
	}
	return text
}

// turn builds the commit of a view's next turn, or what its flags make of it.
func (m *model) turn(o *view, mem member) journal.Commit {
	if o.last != nil && mem.has(commitAgain) {
		return *o.last
	}
	events, open := m.events(o.owner, mem)
	c := journal.Commit{Run: o.run, Fence: o.fence, Turn: o.turn, Generation: o.gen, InboxSeen: o.seen, Next: ending(mem, m.steps)}
	for i := range events {
		ev := &events[i]
		ev.Seq, ev.Time = o.seq+journal.Seq(i)+1, modelNow.AddDate(-20, 0, 0).Add(time.Duration(m.steps)*time.Second)
		if mem.has(commitSeq) {
			ev.Seq = journal.Seq(i) + 1
		}
		c.InboxSeen = max(c.InboxSeen, ev.Inbox)
	}
	c.Events = events
	if mem.has(commitFence) {
		c.Fence--
	}
	if mem.has(commitTurn) {
		c.Turn++
	}
	if cmd := open.next(); mem.has(commitAttempts) && cmd > 0 && open[cmd-1].Kind == journal.CommandStep {
		c.Attempts = []journal.Attempt{{Cmd: cmd, Name: open[cmd-1].Name, Made: 2, NextAt: modelThen, Failure: &journal.Failure{Message: "no"}}}
		c.Waiting = []string{"step a", fmt.Sprint("step ", m.steps)}
	}
	return c
}

// commands are what a run has issued. Those with an outcome have lost their kind.
type commands []journal.Issued

// next returns the first command that can have an outcome, or 0.
func (c commands) next() journal.Cmd {
	return journal.Cmd(1 + slices.IndexFunc(c, func(i journal.Issued) bool {
		return i.Kind == journal.CommandStep || i.Kind == journal.CommandTimer
	}))
}

// events are those of the run's start if there is none yet, of steps and timers, of messages that wait, and of its
// end. It also returns the commands behind them.
func (m *model) events(o *owner, mem member) (list []journal.Event, open commands) {
	add := func(ev journal.Event) {
		list = append(list, ev)
		open = open.after(&ev)
	}
	r := m.memory.db.runs[o.run] // not nil: a run that is deleted has no views
	for i := range r.events[:min(len(r.events), int(o.seq))] {
		open = open.after(&r.events[i])
	}
	if o.seq == 0 {
		add(started("a", "b"))
	}
	for i := range mem.steps() {
		cmd := open.next()
		if cmd == 0 {
			break
		}
		ev := stepDone(cmd, open[cmd-1].Name, fmt.Sprint(m.steps, i), "c")
		if open[cmd-1].Kind == journal.CommandTimer {
			ev = journal.Event{Kind: journal.TimerFired, Cmd: cmd, Name: ev.Name}
		}
		ev.Issued = append(ev.Issued, journal.Issued{Kind: journal.CommandTimer, Name: "t", Due: modelThen},
			journal.Issued{Kind: journal.CommandCancel, Target: 1})
		add(ev)
	}
	for n := o.seen; n < min(o.seen+journal.InboxSeq(mem.messages()), journal.InboxSeq(len(r.inbox))); n++ {
		ev := r.inbox[n].Event()
		ev.Payload = journal.Payload{}
		add(ev)
	}
	if ending(mem, 0).Kind == journal.NextClose {
		add(ended(journal.RunCompleted + journal.Kind(mem.what-6)))
	}
	return list, open
}

// after returns what is open after an event.
func (c commands) after(ev *journal.Event) commands {
	if ev.Cmd > 0 {
		c[ev.Cmd-1].Kind = 0
	}
	return append(c, ev.Issued...)
}

// ending is in the order of endings.
func ending(mem member, steps int) journal.Next {
	at := func(t time.Time) time.Time { return t.Add(time.Duration(steps) * time.Minute) }
	switch mem.what {
	case 0:
		return park
	case 1:
		return parkUntil(at(modelThen))
	case 2:
		return parkUntil(at(modelPast))
	case 3:
		return release
	case 4:
		return block("a problem", time.Time{})
	case 5:
		return block("a problem\nof two lines", at(modelThen))
	case 6, 7, 8, 9:
		return closed
	}
	return keep
}
