package model

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

// loseAnswer is the choice of a claim whose answer nobody gets, countOnly that of one that takes
// nothing.
const loseAnswer, countOnly = 7, 5

// claimAnswer is what is compared of a claim. Within an answer the order is the store's choice.
type claimAnswer struct {
	Tasks     map[journal.RunID]driver.Claimed
	Attention []journal.RunID
	Waiting   int
	NextDue   time.Time
}

// claim lets the store under test choose first: among tasks that became visible in one call any
// order is right. The model checks the choice, and makes the same.
func (m *model) claim(s step, inc int) string {
	r := driver.ClaimRequest{Routes: m.routesOf(s), Reconcile: s.reconciles(), Chance: uint32(m.steps)}
	if s.choice == 1 {
		r.Routes = append(r.Routes, r.Routes[0]) // a route that is named twice counts once
	}
	model, store := m.worlds[0], m.worlds[1]
	r.Node = model.members[inc].ID()
	want, err := model.j.Claim(m.ctx, r)
	if err != nil {
		return fmt.Sprintf("the model's claim: %v", err)
	}
	r.Node, r.Max, r.Suspects = store.members[inc].ID(), s.max, s.max
	if s.choice == countOnly {
		r.Max = 0
	}
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
	if text := m.choose(m.memory.Due(model.members[inc].ID(), r.Routes), &r, fresh); text != "" {
		return text
	}
	if r.Max > 0 {
		want.Waiting = 0
	}
	for _, run := range fresh {
		want.Tasks = append(want.Tasks, m.memory.Assign(run, model.members[inc].ID(), r.Chance))
	}
	if text := m.diff("claim", m.claimAnswer(model, want), m.claimAnswer(store, got)); text != "" || s.choice == loseAnswer {
		return text
	}
	for _, c := range want.Tasks {
		m.look(inc, slices.Index(m.ids, c.Run.ID))
	}
	return ""
}

// choose checks which of the due tasks were claimed: the oldest, as many as the request says, and
// of the others all that are more urgent or older than the last of them. due is sorted by urgency.
// Of tasks that are equally old the store may have chosen any; the least urgent that it chose count
// as chosen by age, because the others can be explained by their priority.
func (m *model) choose(due []journal.Task, r *driver.ClaimRequest, claimed []journal.RunID) string {
	n := min(r.Max, len(due))
	if len(claimed) != n {
		return fmt.Sprintf("claimed %d tasks, want %d: %d are due", len(claimed), n, len(due))
	}
	taken := func(t journal.Task) bool { return slices.Contains(claimed, t.Run) }
	byAge := slices.Clone(due)
	slices.SortFunc(byAge, func(a, b journal.Task) int {
		return cmp.Or(a.VisibleAt.Compare(b.VisibleAt), cmp.Compare(known(taken(b)), known(taken(a))), cmp.Compare(b.Priority, a.Priority))
	})
	oldest := byAge[:min(r.ByAge(), n)]
	for i, t := range oldest {
		if !taken(t) {
			return fmt.Sprintf("did not claim run %d, which is number %d of what is due by age, and %d were claimed by age",
				slices.Index(m.ids, t.Run), i+1, len(oldest))
		}
	}
	rest := slices.DeleteFunc(slices.Clone(due), func(t journal.Task) bool {
		return slices.ContainsFunc(oldest, func(o journal.Task) bool { return o.Run == t.Run })
	})
	left := n - len(oldest)
	for i, t := range rest {
		edge := left > 0 && t.Priority == rest[left-1].Priority && t.VisibleAt.Equal(rest[left-1].VisibleAt)
		if taken(t) != (i < left) && !edge {
			return fmt.Sprintf("claimed run %d: %v, but it is number %d of what is due, and %d were claimed by priority",
				slices.Index(m.ids, t.Run), taken(t), i+1, left)
		}
	}
	for _, id := range claimed {
		if !slices.ContainsFunc(due, func(t journal.Task) bool { return t.Run == id }) {
			return fmt.Sprintf("claimed run %d, which is not due", slices.Index(m.ids, id))
		}
	}
	return ""
}

// known makes a fact comparable: 1 if it is true.
func known(fact bool) int {
	if fact {
		return 1
	}
	return 0
}

// claimAnswer makes a claim comparable.
func (m *model) claimAnswer(w *world, c driver.Claim) claimAnswer {
	p := m.plain(w)
	a := claimAnswer{Tasks: map[journal.RunID]driver.Claimed{}, Attention: c.Attention, Waiting: c.Waiting, NextDue: p.Visible(c.NextDue)}
	slices.SortFunc(a.Attention, func(a, b journal.RunID) int { return cmp.Compare(a.String(), b.String()) })
	for _, t := range c.Tasks {
		s := state.Run{Run: t.Run}
		p.Run(&s)
		t.Run = s.Run
		p.Task(&t.Task)
		a.Tasks[t.Run.ID] = t
	}
	return a
}

// look makes an incarnation an owner that has just loaded its run, unless it is that already.
func (m *model) look(inc, run int) {
	r, _ := m.memory.Run(m.ids[run])
	t := r.Run.Task
	if n := len(m.views[run]); n > 0 && m.views[run][n-1].fence == t.Fence {
		return
	}
	v := &view{node: inc, run: t.Run, gen: t.Generation, fence: t.Fence, turn: t.Turn, seen: r.Consumed, origin: originOf(&r.Run)}
	if v.head.Link = v.origin; len(r.Events) > 0 {
		newest := r.Events[len(r.Events)-1]
		v.head = journal.Head{Seq: newest.Seq, Link: newest.Link}
	}
	m.views[run] = append(m.views[run], v)
}

// commit submits the turns of owners, former owners and impostors in one batch. Members that could
// meet are kept apart by touches, because the order within a batch is the store's choice.
func (m *model) commit(s step) string {
	var list []driver.Commit
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
	text, out := both(m, "commit", func(w *world) ([]driver.Outcome, error) {
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
			if out[i].Now = state.PlainTime(out[i].Now); out[i].Err != nil {
				out[i] = driver.Outcome{Err: out[i].Err}
			}
			w.plainEffects(&out[i])
			if own[i].Next.Kind == driver.NextClose {
				out[i].InboxLast = 0 // means something of open runs only
			}
		}
		return out, err
	})
	for i, o := range out {
		if v := views[i]; o.Err == nil && v.turn == list[i].Turn {
			v.accept(&list[i])
			m.lookAtChildren(nodes[i], &list[i], o.Started)
		}
	}
	return text
}

// originOf returns what the first event of a run's generation follows.
func originOf(run *journal.Run) journal.Link {
	var seen journal.InboxSeq
	if run.Continued != nil {
		seen = run.Continued.Seen
	}
	return journal.OriginOf(run.ID, run.Generation, seen, run.Input)
}
