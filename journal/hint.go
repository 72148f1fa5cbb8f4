package journal

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"
)

// waiterMemory is how long a process goes on sending HintClosed after it heard of a waiter elsewhere.
// Waiters repeat themselves every third of it.
const waiterMemory = 30 * time.Second

// hub spreads hints inside the process and knows which of them other processes need.
type hub struct {
	mu       *sync.Mutex
	watchers map[int]func(Hint)
	next     int
	nodes    map[NodeID][]Route // members that live in this process
	waiter   time.Time          // when somebody elsewhere last said that it waits for results
}

func newHub() hub {
	return hub{mu: new(sync.Mutex), watchers: map[int]func(Hint){}, nodes: map[NodeID][]Route{}}
}

func (h *hub) join(id NodeID, routes []Route) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes[id] = routes
}

func (h *hub) leave(id NodeID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.nodes, id)
}

func (h *hub) serves(r Route) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, routes := range h.nodes {
		if slices.Contains(routes, r) {
			return true
		}
	}
	return false
}

func (h *hub) hosts(id NodeID) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.nodes[id]
	return ok
}

func (h *hub) heardWaiter() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiter = time.Now()
}

func (h *hub) remoteWaiters() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.waiter) < waiterMemory
}

func (h *hub) publish(hints ...Hint) {
	h.mu.Lock()
	fns := slices.Collect(maps.Values(h.watchers))
	h.mu.Unlock()
	for _, fn := range fns {
		for _, hint := range hints {
			fn(hint)
		}
	}
}

// Watch calls fn for every hint of this process and of others until ctx ends. fn must be quick; it is called from
// several goroutines.
func (j *Journal) Watch(ctx context.Context, fn func(Hint)) error {
	j.local.mu.Lock()
	id := j.local.next
	j.local.next++
	j.local.watchers[id] = fn
	j.local.mu.Unlock()
	defer func() {
		j.local.mu.Lock()
		defer j.local.mu.Unlock()
		delete(j.local.watchers, id)
	}()
	return j.store.Hints().Watch(ctx, func(h Hint) {
		if h.Kind == HintWaiter {
			j.local.heardWaiter()
			return
		}
		fn(h)
	})
}

// AnnounceWaiter tells other processes that this one waits for results. Repeat it every
// WaiterInterval while that is so.
func (j *Journal) AnnounceWaiter() { j.store.Hints().Notify([]Hint{{Kind: HintWaiter}}) }

// WaiterInterval is how often a waiter repeats itself.
const WaiterInterval = waiterMemory / 3

func (j *Journal) hintStarted(starts []Start, index []int, out []Started) {
	var local, remote []Hint
	for k := range starts {
		o := &out[index[k]]
		if o.Err != nil || !o.Created || o.Owned {
			continue
		}
		h := Hint{Kind: HintTasks}
		if starts[k].Delay > 0 {
			h.At = o.StartAt
		}
		if j.local.serves(Route{starts[k].Queue, starts[k].Workflow, starts[k].Version}) {
			local = append(local, h)
		} else if h.At.IsZero() {
			remote = append(remote, h)
		}
	}
	j.spread(local, remote)
}

func (j *Journal) hintSent(messages []Message, index []int, out []Sent) {
	var local, remote []Hint
	for k := range messages {
		o := &out[index[k]]
		switch {
		case o.Err != nil || o.Duplicate:
		case o.Owner != 0:
			h := Hint{Kind: HintInbox, Run: messages[k].Run, Node: o.Owner}
			if j.local.hosts(o.Owner) {
				local = append(local, h)
			} else {
				remote = append(remote, h)
			}
		case j.local.serves(o.Route):
			local = append(local, Hint{Kind: HintTasks})
		default:
			remote = append(remote, Hint{Kind: HintTasks})
		}
	}
	j.spread(local, remote)
}

func (j *Journal) hintCommitted(commits []Commit, out []Outcome) {
	var local, remote []Hint
	waiters := j.local.remoteWaiters()
	for i := range commits {
		if out[i].Err != nil {
			continue
		}
		switch c := &commits[i]; c.Next.Kind {
		case NextClose:
			local = append(local, Hint{Kind: HintClosed, Run: c.Run, Terminal: c.Terminal()})
			if waiters {
				remote = append(remote, Hint{Kind: HintClosed, Run: c.Run})
			}
		case NextPark:
			switch {
			case out[i].InboxLast > c.InboxSeen:
				local = append(local, Hint{Kind: HintTasks})
			case !c.Next.At.IsZero():
				local = append(local, Hint{Kind: HintTasks, At: c.Next.At})
			}
		case NextRelease: // its own node drains, others in this process or elsewhere may take it
			local = append(local, Hint{Kind: HintTasks})
			remote = append(remote, Hint{Kind: HintTasks})
		}
	}
	j.spread(local, remote)
}

func (j *Journal) hintAltered(a Alteration) {
	switch a.Op {
	case OpResume:
		j.spread([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
	case OpTerminate:
		j.spread([]Hint{{Kind: HintClosed, Run: a.Run}}, []Hint{{Kind: HintClosed, Run: a.Run}})
	}
}

func (j *Journal) spread(local, remote []Hint) {
	j.local.publish(local...)
	if len(remote) > 0 {
		j.store.Hints().Notify(remote)
	}
}

// member tells the hub when a node of this process is gone, and everyone when it freed tasks.
type member struct {
	Membership
	j *Journal
}

func (m *member) Renew(ctx context.Context) (Renewal, error) {
	r, err := m.Membership.Renew(ctx)
	if errors.Is(err, ErrNodeLost) {
		m.j.local.leave(m.ID())
	}
	m.j.clock.Observe(r.Now)
	return r, err
}

func (m *member) Reap(ctx context.Context, suspects []NodeID) (Reaped, error) {
	r, err := m.Membership.Reap(ctx, suspects)
	if r.Tasks > 0 {
		m.j.spread([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
	}
	return r, err
}

func (m *member) Leave(ctx context.Context) error {
	m.j.local.leave(m.ID())
	err := m.Membership.Leave(ctx)
	m.j.spread(nil, []Hint{{Kind: HintTasks}})
	return err
}
