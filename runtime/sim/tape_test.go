package sim

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
)

// tape is what reached the database, in the order in which it did.
type tape struct {
	mu      sync.Mutex
	grants  []grant
	left    map[journal.NodeID]bool
	orphans []grant // to nodes that had left
	commits []written
	lost    []written  // commits that the database has gone back from
	pasts   []past     // to which it can go back, oldest first
	backs   []goneBack // what operators have rewound
	blocks  []string
	tells   map[journal.RunID][]tell          // signals of programs, by receiver
	cancels map[journal.RunID]bool            // who was asked to end by another run
	inputs  map[journal.RunID]journal.Payload // with which runs were started
	arrived map[message]time.Time             // by the store's clock
}

// tell is a signal that a run sent to another one.
type tell struct {
	from    journal.RunID
	payload string
	number  journal.InboxSeq
}

// message is one of a run's inbox.
type message struct {
	run    journal.RunID
	number journal.InboxSeq
}

// grant is a node becoming a run's owner.
type grant struct {
	run   journal.RunID
	fence journal.Fence
	node  journal.NodeID
	to    string // the process
	after int    // how often the run had been opened again: it has a new task since, and fences begin anew
}

// written is a commit that the store has accepted.
type written struct {
	driver.Commit
	process string
	late    bool          // it came when nobody waited for it
	before  *journal.Task // what it met; nil if the run was closed
	place   int           // on the tape
	at      time.Time     // the store's clock
}

// line is a process's connection to the database, as far as calls get there. It writes the tape.
// Below it may be a mutation of the store; what it compares with is the store itself. Calls that
// have come so far happen, whether their caller still waits or not.
type line struct {
	store
	p *process
}

var _ store = (*line)(nil)

// Begin implements driver.TxStore.
func (l *line) Begin(ctx context.Context) (journal.Tx, error) {
	return l.store.Begin(context.WithoutCancel(ctx))
}

// Start implements journal.store.
func (l *line) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	t := &l.p.w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	out, err := l.store.Start(context.WithoutCancel(ctx), tx, starts)
	for i := range out {
		if out[i].Err == nil && out[i].Created {
			t.inputs[out[i].Run] = starts[i].Input
		}
		if out[i].Err == nil && out[i].Owned {
			t.grant(grant{out[i].Run, journal.FenceAtBirth, starts[i].Owner, l.p.name, 0})
		}
	}
	return out, err
}

// Send implements journal.store.
func (l *line) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	t := &l.p.w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	out, err := l.store.Send(context.WithoutCancel(ctx), tx, messages)
	for i := range out {
		if out[i].Err == nil && !out[i].Duplicate {
			t.arrived[message{messages[i].Run, out[i].Number}] = l.p.w.storeClock()
		}
	}
	return out, err
}

// Claim implements journal.store.
func (l *line) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	t := &l.p.w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	c, err := l.store.Claim(context.WithoutCancel(ctx), r)
	for i := range c.Tasks {
		t.grant(grant{c.Tasks[i].Task.Run, c.Tasks[i].Task.Fence, r.Node, l.p.name, 0})
	}
	return c, err
}

func (t *tape) grant(g grant) {
	g.after = t.reopened(g.run, t.end())
	if slices.Contains(t.grants, g) { // a reconciling claim tells it again
		return
	}
	t.grants = append(t.grants, g)
	if t.left[g.node] {
		t.orphans = append(t.orphans, g)
	}
}

// Commit implements journal.store.
func (l *line) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	t := &l.p.w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	met, err := l.p.w.tasks(commits)
	if err != nil {
		return nil, err
	}
	l.p.w.remember()
	l.p.w.pauseBeside(commits, false)
	rows := make([]int, len(commits))
	for i := range commits {
		if commits[i].Pause != "" {
			rows[i] = l.p.w.audited(commits[i].Run)
		}
	}
	out, err := l.store.Commit(context.WithoutCancel(ctx), commits)
	defer l.p.w.pauseBeside(commits, true)
	for i := range out {
		if out[i].Err != nil {
			continue
		}
		c := commits[i]
		c.Events = slices.Clone(c.Events)
		t.commits = append(t.commits, written{Commit: c, process: l.p.name, late: faulty.Straggles(ctx), before: met[i], place: len(t.commits), at: out[i].Now})
		if c.Next.Kind == driver.NextBlock {
			l.blocked(&c, met[i])
		}
		if c.Pause != "" && met[i] != nil && met[i].Fence == c.Fence && met[i].Turn == c.Turn { // else an earlier try has written it
			l.p.w.exhausted(&c, rows[i])
		}
		l.effects(&c, &out[i])
	}
	return out, err
}

// effects notes what a commit did to others. The tape is locked.
func (l *line) effects(c *driver.Commit, out *driver.Outcome) {
	t := &l.p.w.tape
	for k, o := range out.Started {
		st := &c.Starts[k]
		if !o.Created || o.Err != nil {
			continue
		}
		t.inputs[o.Run] = st.Input
		l.p.w.born(c.Run, st)
		if o.Owned {
			t.grant(grant{o.Run, journal.FenceAtBirth, st.Owner, l.p.name, 0})
		}
	}
	for k, o := range out.Sent {
		m := &c.Messages[k]
		switch {
		case m.Kind == journal.MessageCancel:
			t.cancels[m.Run] = true
		case m.Kind == journal.MessageSignal && o.Err == nil:
			t.tells[m.Run] = append(t.tells[m.Run], tell{c.Run, decodeSignal(m.Payload), o.Number})
		}
	}
}

// tasks reads what commits are going to meet.
func (w *world) tasks(commits []driver.Commit) ([]*journal.Task, error) {
	requests := make([]driver.LoadRequest, len(commits))
	for i := range commits {
		requests[i] = driver.LoadRequest{Run: commits[i].Run, InboxOnly: true, AfterInbox: 1 << 40}
	}
	list, err := w.db.Load(context.Background(), requests)
	if err != nil {
		return nil, err
	}
	met := make([]*journal.Task, len(commits))
	for i := range list {
		met[i] = list[i].Run.Task
	}
	return met, nil
}

// Load implements journal.store.
func (l *line) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	return l.store.Load(context.WithoutCancel(ctx), requests)
}

// Join implements journal.store.
func (l *line) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	t := &l.p.w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	m, err := l.store.Join(context.WithoutCancel(ctx), n)
	if err != nil {
		return nil, err
	}
	delete(t.left, m.ID()) // if the database has gone back, its number may be that of a node that has left
	return &hold{m, l.p}, nil
}

// hold is a membership. That of a dead process is lost: this ends the process's goroutines, which
// cannot be killed.
type hold struct {
	driver.Membership
	p *process
}

// Renew implements driver.Membership.
func (h *hold) Renew(ctx context.Context) (driver.Renewal, error) {
	if h.p.dead.Load() {
		return driver.Renewal{}, journal.ErrNodeLost
	}
	return h.Membership.Renew(context.WithoutCancel(ctx))
}

// Look implements driver.Membership.
func (h *hold) Look(ctx context.Context) (driver.Look, error) {
	if h.p.dead.Load() {
		return driver.Look{}, journal.ErrNodeLost
	}
	return h.Membership.Look(context.WithoutCancel(ctx))
}

// Reap implements driver.Membership.
func (h *hold) Reap(ctx context.Context, suspects []journal.NodeID) (driver.Reaped, error) {
	return h.Membership.Reap(context.WithoutCancel(ctx), suspects)
}

// Owned implements driver.Membership.
func (h *hold) Owned(ctx context.Context) ([]driver.Holding, error) {
	return h.Membership.Owned(context.WithoutCancel(ctx))
}

// Release implements driver.Membership.
func (h *hold) Release(ctx context.Context, list []driver.Holding) error {
	return h.Membership.Release(context.WithoutCancel(ctx), list)
}

// Leave implements driver.Membership.
func (h *hold) Leave(ctx context.Context) error {
	t := &h.p.w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	err := h.Membership.Leave(context.WithoutCancel(ctx))
	if err == nil && !h.p.w.member(h.ID()) {
		t.left[h.ID()] = true
	}
	return err
}

// commitsOf returns a run's accepted commits, in order, without repetitions.
func (t *tape) commitsOf(run journal.RunID) (list []*written) {
	var known repetitions
	for i := range t.commits {
		if c := &t.commits[i]; c.Run == run && !known.has(c) {
			list = append(list, c)
		}
	}
	return list
}

// member tells whether some node has an id now.
func (w *world) member(id journal.NodeID) bool {
	return slices.ContainsFunc(w.db.Snapshot().Nodes, func(n journal.Node) bool { return n.ID == id })
}

// repetitions tells which commits write nothing: their last event is there already, or, if they add
// none, the turn of the task under their fence. The first event of a run follows from its start
// alone, so two owners may write the same one, and the later one is told that it is written.
type repetitions struct {
	events map[place]journal.Link
	turns  map[place]bool
}

// place is an event of a run, or a turn of its task.
type place struct {
	run        journal.RunID
	generation journal.Generation
	seq        journal.Seq
	fence      journal.Fence
	turn       journal.Turn
}

// has tells whether a commit repeats one that was asked about before, and keeps it.
func (p *repetitions) has(c *written) bool {
	if p.events == nil {
		p.events, p.turns = map[place]journal.Link{}, map[place]bool{}
	}
	if len(c.Events) == 0 {
		at := place{run: c.Run, fence: c.Fence, turn: c.Turn}
		known := p.turns[at]
		p.turns[at] = true
		return known
	}
	last := c.NewHead()
	known := p.events[place{run: c.Run, generation: c.Generation, seq: last.Seq}] == last.Link
	for i := range c.Events {
		p.events[place{run: c.Run, generation: c.Generation, seq: c.Events[i].Seq}] = c.Events[i].Link
	}
	return known
}

// storeClock is the store's clock.
func (w *world) storeClock() time.Time {
	return w.storeTime(w.elapsed())
}

// storeTime is what the store's clock shows when some time has passed since the world began.
func (w *world) storeTime(elapsed time.Duration) time.Time {
	now := w.began.Add(elapsed + w.plan.Clock.Ahead + elapsed/1_000_000*time.Duration(w.plan.Clock.Gain))
	for i := range w.plan.Faults {
		if f := &w.plan.Faults[i]; f.Kind == leap && f.At <= elapsed {
			now = now.Add(f.For)
		}
	}
	return now
}

// generationOf returns when the present generation of a run was begun, if it is not the first: what
// it has not taken may have come long before.
func (t *tape) generationOf(run journal.RunID) (at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.commitsOf(run) {
		if c.Continue != nil {
			at = c.at
		}
	}
	return later(at, t.backBefore(run, t.end()))
}

// backBefore returns when somebody went back in the run, or made it as a fork, for the last time
// before a place on the tape. What it waits for since then may have been due long before.
func (t *tape) backBefore(run journal.RunID, commits int) (at time.Time) {
	for _, b := range t.backsOf(run) {
		if b.commits <= commits {
			at = later(at, b.at)
		}
	}
	return at
}

// reopened is how often a closed run was opened again before a place on the tape.
func (t *tape) reopened(run journal.RunID, commits int) (n int) {
	for _, b := range t.backsOf(run) {
		if b.commits <= commits && b.closed != nil {
			n++
		}
	}
	return n
}

func (t *tape) end() int { return len(t.commits) }
