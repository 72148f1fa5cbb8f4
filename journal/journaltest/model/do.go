package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

// do carries a step out in both worlds and returns how they differ. A step that names what is not
// there does nothing.
func (m *model) do(s step) string {
	switch s.verb {
	case doJoin:
		return m.join(s)
	case doStart:
		return m.start(s)
	case doSend:
		return m.send(s)
	case doLoad:
		return m.load(s)
	case doList:
		return m.list(s)
	case doRush, doResume, doTerminate, doDelete, doPause, doLabel, doPriority:
		return m.admin(s)
	case doPlague:
		return m.plague()
	case doDynasty:
		return m.dynasty(s)
	case doCommit:
		return m.commit(s)
	}
	inc, ok := m.incarnation(s.node, 0)
	if !ok {
		return ""
	}
	switch s.verb {
	case doClaim:
		return m.claim(s, inc)
	case doReap:
		return m.reap(inc)
	}
	return m.lease(s.verb, inc)
}

// incarnation returns the incarnation that a node's number names now, or the one so many before.
func (m *model) incarnation(node, before int) (int, bool) {
	list := m.slots[node]
	if len(list) <= before {
		return 0, false
	}
	return list[len(list)-1-before], true
}

func (m *model) routesOf(s step) []journal.Route {
	var routes []journal.Route
	for _, n := range s.routes() {
		routes = append(routes, m.routes[n])
	}
	return routes
}

// join adds an incarnation to a node of the program.
func (m *model) join(s step) string {
	text, _ := both(m, "join", func(w *world) (none, error) {
		member, err := w.j.Join(m.ctx, journal.Node{Name: "model", Routes: m.routesOf(s), Lease: time.Hour})
		if err != nil {
			return none{}, err
		}
		w.members = append(w.members, member)
		w.names[member.ID()] = journal.NodeID(len(w.members))
		return none{}, nil
	})
	if text == "" {
		m.slots[s.node] = append(m.slots[s.node], len(m.worlds[0].members)-1)
	}
	return text
}

// lease does what concerns a node's own lease.
func (m *model) lease(v verb, inc int) string {
	text, _ := both(m, verbNames[v], func(w *world) ([]journal.NodeID, error) {
		switch v {
		case doLeave:
			return nil, w.members[inc].Leave(m.ctx)
		case doExpire:
			if e, ok := w.store.(expirer); ok && m.ages() {
				return nil, e.Expire(m.ctx, w.members[inc].ID())
			}
			return nil, nil
		}
		if _, err := w.members[inc].Renew(m.ctx); err != nil {
			return nil, err
		}
		l, err := w.members[inc].Look(m.ctx)
		return w.known(l.Suspects), err
	})
	return text
}

// ages tells whether the store under test can make times come.
func (m *model) ages() bool {
	_, rushes := m.worlds[1].store.(rusher)
	_, expires := m.worlds[1].store.(expirer)
	return rushes && expires
}

// known returns the names of nodes, without those of other programs.
func (w *world) known(ids []journal.NodeID) []journal.NodeID {
	var list []journal.NodeID
	for _, id := range ids {
		if name, ok := w.names[id]; ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// reap also ends the back-off that follows, which is the store's own choice.
func (m *model) reap(inc int) string {
	text, _ := both(m, "reap", func(w *world) (driver.Reaped, error) {
		r, err := w.members[inc].Reap(m.ctx, nil)
		r.Nodes = w.known(r.Nodes)
		return r, err
	})
	if text != "" || !m.ages() {
		return text
	}
	for run := range m.ids {
		if t := m.task(m.ids[run]); t != nil && t.Owner == 0 && t.Strikes > 1 {
			if text := m.admin(step{verb: doRush, members: []member{{run: run}}}); text != "" {
				return text
			}
		}
	}
	return ""
}

// start makes the node the owner of what it owns from birth, so that its next commit has a view.
func (m *model) start(s step) string {
	inc, owned := m.incarnation(s.node, 0)
	starts := make([]journal.Start, len(s.members))
	for i, mem := range s.members {
		starts[i] = m.startOf(mem)
	}
	text, out := both(m, "start", func(w *world) ([]journal.Started, error) {
		list := slices.Clone(starts)
		for i, mem := range s.members {
			if owned && mem.has(startOwned) {
				list[i].Owner = w.members[inc].ID()
			}
		}
		out, err := w.j.Start(m.ctx, nil, list)
		for i := range out {
			w.plainStarted(&out[i])
		}
		return out, err
	})
	for i, o := range out {
		run := s.members[i].run
		if t := m.task(m.ids[run]); text == "" && o.Owned && o.Created && t.Turn == 0 {
			m.look(inc, run)
		}
	}
	return text
}

// startOf turns the numbers of a member into a start. Keys are few, so that starts meet each other.
func (m *model) startOf(mem member) journal.Start {
	st := journal.Start{ID: m.ids[mem.run], Reuse: journal.Reuse(mem.reuse()), Labels: map[string]string{"model": m.space},
		Input: journal.Payload{Data: []byte{0, byte(mem.run)}}}
	if k := mem.key(); k > 0 {
		st.Key = fmt.Sprintf("k%d %s", k, m.space)
	}
	route := m.routes[0]
	if mem.has(startRouteB) {
		route = m.routes[1]
	}
	if mem.has(startRouteC) {
		route = m.routes[2]
	}
	st.Queue, st.Workflow, st.Version = route.Queue, route.Workflow, route.Version
	if mem.has(startUrgent) {
		st.Priority = journal.PriorityMin
	}
	if mem.has(startDelayed) {
		st.Delay = time.Hour
	}
	if mem.has(startLabelled) {
		st.Labels["l"] = "ü"
	}
	if mem.has(startMessage) {
		msg := m.message(st.ID, 1+mem.what)
		st.Message = &msg
		if m.exists(st.ID) {
			st.Delay = 0 // nobody repeats a start with another message, which could cut the delay short
		}
	}
	return st
}

func (m *model) send(s step) string {
	list := make([]journal.Message, len(s.members))
	for i, mem := range s.members {
		list[i] = m.message(m.ids[mem.run], mem.what)
	}
	text, _ := both(m, "send", func(w *world) ([]journal.Sent, error) {
		out, err := w.j.Send(m.ctx, nil, list)
		for i := range out {
			out[i].Owner = w.names[out[i].Owner]
		}
		return out, err
	})
	return text
}

// admin is what somebody does to one run from outside, and what the audit says of the run then.
func (m *model) admin(s step) string {
	run := s.members[0].run
	text, _ := both(m, verbNames[s.verb], func(w *world) (acted, error) {
		a := driver.AdminAction{Run: m.ids[run], Reason: "why", Actor: "somebody"}
		switch s.verb {
		case doRush:
			if r, ok := w.store.(rusher); ok && m.ages() {
				return acted{}, r.Rush(m.ctx, m.ids[run])
			}
			return acted{}, nil
		case doResume:
			a.Kind = driver.AdminResume
		case doTerminate:
			a.Kind = driver.AdminTerminate
		case doPause:
			a.Kind = s.members[0].pauseKind()
		case doLabel:
			a.Kind, a.Labels = driver.AdminSetLabels, s.members[0].labels()
		case doPriority:
			a.Kind, a.Priority = driver.AdminSetPriority, s.members[0].priority()
		default:
			a.Kind = driver.AdminDelete
		}
		out, err := w.j.Admin(m.ctx, a)
		out.Owner = w.names[out.Owner]
		list, failed := w.j.Audit(m.ctx, journal.AuditFilter{Run: m.ids[run]})
		for i := range list {
			list[i].Number, list[i].Time = 0, time.Time{}
		}
		return acted{out, list}, errors.Join(err, failed)
	})
	if !m.exists(m.ids[run]) { // its next life begins with fence 1 again
		m.views[run] = nil
	}
	return text
}

// acted is the answer to an action, and the audit of its run.
type acted struct {
	Outcome driver.AdminOutcome
	Audit   []journal.AuditEntry
}

// load asks for whole histories, parts of them, inboxes and answers.
func (m *model) load(s step) string {
	requests := make([]driver.LoadRequest, len(s.members))
	for i, mem := range s.members {
		requests[i] = driver.LoadRequest{Run: m.ids[mem.run], AfterSeq: journal.Seq(mem.afterSeq()),
			AfterInbox: journal.InboxSeq(mem.afterInbox()), InboxOnly: mem.has(loadInbox)}
		if mem.has(loadPart) {
			requests[i].Limit = s.max
		}
		if mem.has(loadAnswer) {
			requests[i] = driver.LoadRequest{Run: m.ids[mem.run], Answer: journal.InboxSeq(1 + mem.what/3)}
		}
	}
	text, _ := both(m, "load", func(w *world) ([]driver.History, error) {
		list, err := w.j.Load(m.ctx, requests)
		p := m.plain(w)
		for i := range list {
			p.History(&list[i])
		}
		return list, err
	})
	if text != "" {
		return text
	}
	return m.ends(s)
}

// ends asks for the ends of the same runs.
func (m *model) ends(s step) string {
	var runs []journal.RunID
	for _, mem := range s.members {
		runs = append(runs, m.ids[mem.run])
	}
	text, _ := both(m, "ends", func(w *world) ([]driver.End, error) {
		list, err := w.j.Ends(m.ctx, runs)
		p := m.plain(w)
		for i := range list {
			r := state.Run{Run: journal.Run{ID: list[i].Run, Terminal: list[i].Terminal}}
			p.Run(&r)
			list[i].Terminal = r.Run.Terminal
		}
		return list, err
	})
	return text
}

// list compares every page of a listing.
func (m *model) list(s step) string {
	f := journal.ListFilter{Labels: map[string]string{"model": m.space}, Limit: s.max}
	open, failed, blocked := journal.Open, journal.Failed, journal.Blocked
	switch s.choice {
	case 0:
		f.Workflow = m.routes[0].Workflow
	case 1:
		f.Workflow, f.Version = m.routes[1].Workflow, 2
	case 2:
		f.Status = &open
	case 3:
		f.Status = &failed
	case 4:
		f.State = &blocked
	case 5:
		f.Key = fmt.Sprintf("k%d %s", s.node, m.space)
	case 6:
		f.KeyPrefix = fmt.Sprintf("k%d ", s.node)
	case 7:
		f.Parent = m.ids[s.node]
	case 8:
		f.Unchanged = "c"
	default:
		f.Labels["l"] = "ü"
	}
	text, _ := both(m, "list", func(w *world) (pages []journal.RunPage, err error) {
		p := m.plain(w)
		for f := f; ; {
			page, err := w.j.List(m.ctx, f)
			if err != nil {
				return pages, err
			}
			for i := range page.Runs {
				row := state.Run{Run: page.Runs[i]}
				p.Run(&row)
				page.Runs[i] = row.Run
			}
			page.Now = state.PlainTime(page.Now)
			pages = append(pages, page)
			if f.Cursor = page.Next; f.Cursor == "" {
				return pages, nil
			}
		}
	})
	return text
}

// plague lets the owners of whatever is due die until it is quarantined.
func (m *model) plague() string {
	if _, ok := m.incarnation(0, 0); !ok || !m.ages() {
		return ""
	}
	const victim = nodesMax - 1
	for range driver.QuarantineStrikes {
		for _, s := range []step{{verb: doJoin, node: victim, choice: 1}, {verb: doClaim, node: victim, max: runsMax, choice: 1},
			{verb: doExpire, node: victim}, {verb: doReap}} {
			if text := m.do(s); text != "" {
				return text
			}
		}
	}
	return ""
}
