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

// news gathers the hints of one call.
type news struct {
	j             *Journal
	local, remote []Hint
}

func (n *news) spread() { n.j.spread(n.local, n.remote) }

func (j *Journal) hintStarted(starts []Start, index []int, out []Started) {
	n := news{j: j}
	for k := range starts {
		n.started(&starts[k], &out[index[k]])
	}
	n.spread()
}

func (n *news) started(st *Start, o *Started) {
	if st.Message != nil && o.Sent.Err == nil && !o.Created {
		n.sent(o.Run, &o.Sent)
	}
	if o.Err != nil || !o.Created || o.Owned {
		return
	}
	h := Hint{Kind: HintTasks}
	if st.Delay > 0 {
		h.At = o.StartAt
	}
	if n.j.local.serves(Route{st.Queue, st.Workflow, st.Version}) {
		n.local = append(n.local, h)
	} else if h.At.IsZero() {
		n.remote = append(n.remote, h)
	}
}

func (j *Journal) hintSent(messages []Message, index []int, out []Sent) {
	n := news{j: j}
	for k := range messages {
		n.sent(messages[k].Run, &out[index[k]])
	}
	n.spread()
}

func (n *news) sent(run RunID, o *Sent) {
	switch {
	case o.Err != nil || o.Duplicate:
	case o.Owner != 0:
		h := Hint{Kind: HintInbox, Run: run, Node: o.Owner}
		if n.j.local.hosts(o.Owner) {
			n.local = append(n.local, h)
		} else {
			n.remote = append(n.remote, h)
		}
	case n.j.local.serves(o.Route):
		n.local = append(n.local, Hint{Kind: HintTasks})
	default:
		n.remote = append(n.remote, Hint{Kind: HintTasks})
	}
}

func (j *Journal) hintCommitted(commits []Commit, out []Outcome) {
	n := news{j: j}
	waiters := j.local.remoteWaiters()
	for i := range commits {
		if out[i].Err == nil {
			n.committed(&commits[i], &out[i], waiters)
		}
	}
	n.spread()
}

func (n *news) committed(c *Commit, o *Outcome, waiters bool) {
	switch c.Next.Kind {
	case NextClose:
		n.closed(c.Run, c.Terminal(), waiters)
		if c.Children { // requests to those that are open: a claim also tells an owner of unread messages
			n.local, n.remote = append(n.local, Hint{Kind: HintTasks}), append(n.remote, Hint{Kind: HintTasks})
		}
	case NextPark:
		switch {
		case o.InboxLast > c.InboxSeen:
			n.local = append(n.local, Hint{Kind: HintTasks})
		case !c.Next.At.IsZero():
			n.local = append(n.local, Hint{Kind: HintTasks, At: c.Next.At})
		}
	case NextRelease: // its own node drains, others in this process or elsewhere may take it
		n.local = append(n.local, Hint{Kind: HintTasks})
		n.remote = append(n.remote, Hint{Kind: HintTasks})
	}
	if len(c.Replies) > 0 {
		n.closed(c.Run, nil, waiters)
	}
	for k := range o.Started {
		n.started(&c.Starts[k], &o.Started[k])
	}
	for k := range o.Sent {
		n.sent(c.Messages[k].Run, &o.Sent[k])
	}
	for _, run := range o.Closed {
		n.closed(run, nil, waiters)
	}
}

func (n *news) closed(run RunID, terminal *Event, waiters bool) {
	n.local = append(n.local, Hint{Kind: HintClosed, Run: run, Terminal: terminal})
	if waiters {
		n.remote = append(n.remote, Hint{Kind: HintClosed, Run: run})
	}
}

func (j *Journal) hintAdmin(a AdminAction) {
	switch a.Kind {
	case AdminResume:
		j.spread([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
	case AdminTerminate: // its parent and its children may have got messages
		hints := []Hint{{Kind: HintClosed, Run: a.Run}, {Kind: HintTasks}}
		j.spread(hints, hints)
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
