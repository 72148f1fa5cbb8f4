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
	touched := touches{}
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
		if c := m.turn(v, mem); touched.add(m.touches(&c)) {
			list, views, nodes = append(list, c), append(views, v), append(nodes, node)
		}
	}
	if len(list) == 0 {
		return ""
	}
	text, out := both(m, "commit", func(w *world) ([]journal.Outcome, error) {
		own := slices.Clone(list)
		for i := range own {
			own[i].Node = w.members[nodes[i]].ID()
			own[i].Starts = slices.Clone(own[i].Starts)
			for k := range own[i].Starts {
				if own[i].Starts[k].Owner != 0 {
					own[i].Starts[k].Owner = own[i].Node
				}
			}
		}
		out, err := w.j.Commit(m.ctx, own)
		for i := range out {
			if out[i].Now = plainTime(out[i].Now); out[i].Err != nil {
				out[i] = journal.Outcome{Err: out[i].Err}
			}
			w.plainEffects(&out[i])
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
			m.lookAtChildren(nodes[i], &list[i], o.Started)
		}
	}
	return text
}
