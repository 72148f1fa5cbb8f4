package memory

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Planted is a Store with one bug: each function may spoil a request before it is carried out, or
// the database and the answer behind it.
type Planted struct {
	*Store
	start   func(m *Store, st *journal.Start)
	sent    func(m *Store, msg journal.Message, s *journal.Sent)
	claim   func(r *driver.ClaimRequest)
	claims  func(m *Store, c *driver.Claim)
	commit  func(m *Store, c *driver.Commit)
	written func(m *Store, c driver.Commit, o *driver.Outcome)
	load    func(r *driver.LoadRequest)
	list    func(f *journal.ListFilter)
	admin   func(m *Store, a driver.AdminAction, r *record)
	reaped  func(m *Store)
}

func (p *Planted) Start(ctx context.Context, tx journal.Tx, list []journal.Start) ([]journal.Started, error) {
	list = slices.Clone(list)
	for i := range list {
		if p.start != nil {
			p.start(p.Store, &list[i])
		}
	}
	return p.Store.Start(ctx, tx, list)
}

func (p *Planted) Send(ctx context.Context, tx journal.Tx, list []journal.Message) ([]journal.Sent, error) {
	out, err := p.Store.Send(ctx, tx, list)
	for i := range out {
		if p.sent != nil && out[i].Err == nil {
			p.sent(p.Store, list[i], &out[i])
		}
	}
	return out, err
}

func (p *Planted) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	if p.claim != nil {
		p.claim(&r)
	}
	c, err := p.Store.Claim(ctx, r)
	if p.claims != nil {
		p.claims(p.Store, &c)
	}
	return c, err
}

func (p *Planted) Commit(ctx context.Context, list []driver.Commit) ([]driver.Outcome, error) {
	list = slices.Clone(list)
	for i := range list {
		if p.commit != nil {
			p.commit(p.Store, &list[i])
		}
	}
	out, err := p.Store.Commit(ctx, list)
	for i := range out {
		if p.written != nil {
			p.written(p.Store, list[i], &out[i])
		}
	}
	return out, err
}

func (p *Planted) Load(ctx context.Context, list []driver.LoadRequest) ([]driver.History, error) {
	list = slices.Clone(list)
	for i := range list {
		if p.load != nil {
			p.load(&list[i])
		}
	}
	return p.Store.Load(ctx, list)
}

func (p *Planted) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	if p.list != nil {
		p.list(&f)
	}
	return p.Store.List(ctx, f)
}

func (p *Planted) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	old := p.db.runs[a.Run]
	out, err := p.Store.Admin(ctx, a)
	if p.admin != nil && err == nil {
		p.admin(p.Store, a, old)
	}
	return out, err
}

func (p *Planted) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := p.Store.Join(ctx, n)
	return plantedMember{m, p}, err
}

type plantedMember struct {
	driver.Membership
	p *Planted
}

func (m plantedMember) Reap(ctx context.Context, suspects []journal.NodeID) (driver.Reaped, error) {
	r, err := m.Membership.Reap(ctx, suspects)
	if m.p.reaped != nil {
		m.p.reaped(m.p.Store)
	}
	return r, err
}

// reshape changes a task and puts it where it then belongs.
func (m *Store) reshape(r *record, change func()) {
	m.db.dequeue(r)
	change()
	m.db.enqueue(r, m.db.now())
}

// PlantedBugs are found by random programs; see conformance_test.go, which sees them because this
// file is in the package.
var PlantedBugs = map[string]Planted{
	"J1 an event is lost": {written: func(m *Store, c driver.Commit, o *driver.Outcome) {
		if r := m.open(c.Run); o.Err == nil && r != nil && len(c.Events) > 2 && c.Events[1].Cmd > 0 && len(r.events) > 0 {
			r.events = slices.Delete(r.events, len(r.events)-1, len(r.events))
		}
	}},
	"J1 a commit onto another state is accepted": {commit: func(m *Store, c *driver.Commit) {
		if r := m.open(c.Run); r != nil && !r.follows(c) && c.Terminal() == nil {
			c.Head, c.Events = journal.Head{}, nil
		}
	}},
	"J3 a stale fence is accepted": {commit: func(m *Store, c *driver.Commit) {
		if r := m.open(c.Run); r != nil && c.Node == r.task.Owner {
			c.Fence = r.task.Fence
		}
	}},
	"J3 another node is accepted": {commit: func(m *Store, c *driver.Commit) {
		if r := m.open(c.Run); r != nil && r.task.Owner > 0 {
			c.Node = r.task.Owner
		}
	}},
	"J3 a wrong turn is accepted": {commit: func(m *Store, c *driver.Commit) {
		if r := m.open(c.Run); r != nil && c.Turn > r.task.Turn {
			c.Turn = r.task.Turn
		}
	}},
	"J4 a repeated commit is not recognised": {commit: func(m *Store, c *driver.Commit) {
		if c.WrittenAs(m.db.found(c)) {
			c.Fence = 1 << 30
		}
	}},
	"J4 a lost claim is not told again": {claim: func(r *driver.ClaimRequest) { r.Reconcile = false }},
	"J5 a message is lost": {sent: func(m *Store, msg journal.Message, s *journal.Sent) {
		if r := m.open(msg.Run); r != nil && !s.Duplicate && s.Number > 1 {
			r.inbox = r.inbox[:len(r.inbox)-1]
			r.inbox = append(r.inbox, r.inbox[0])
		}
	}},
	"J5 a number is wrong": {sent: func(_ *Store, msg journal.Message, s *journal.Sent) {
		if s.Duplicate && s.Number > 1 {
			s.Number--
		}
	}},
	"J5 keys are forgotten at consumption": {written: func(m *Store, c driver.Commit, o *driver.Outcome) {
		if r := m.open(c.Run); r != nil && o.Err == nil && c.InboxSeen > 0 {
			delete(r.known, r.inbox[0].Key)
		}
	}},
	"J6 park does not compare the inbox": {commit: func(_ *Store, c *driver.Commit) {
		if c.Next.Kind == driver.NextPark {
			c.InboxSeen = 1 << 30
		}
	}},
	"J6 a message does not wake": {sent: func(m *Store, msg journal.Message, s *journal.Sent) {
		if r := m.open(msg.Run); r != nil && !s.Duplicate && s.Number == 2 {
			m.reshape(r, func() { r.task.VisibleAt = time.Time{} })
		}
	}},
	"J6 a message wakes a blocked run": {sent: func(m *Store, msg journal.Message, s *journal.Sent) {
		if r := m.open(msg.Run); r != nil && r.task.State == journal.Blocked {
			m.reshape(r, func() { r.task.VisibleAt = m.db.now() })
		}
	}},
	"J7 a close keeps the status": {written: func(m *Store, c driver.Commit, o *driver.Outcome) {
		if r := m.db.runs[c.Run]; o.Err == nil && r != nil && r.run.Status == journal.Cancelled {
			r.run.Status = journal.Failed
		}
	}},
	"J8 a start is doubled": {start: func(m *Store, st *journal.Start) {
		if holder := m.db.keys[st.Key]; holder != nil && !holder.open {
			holder.holdsKey = false
			delete(m.db.keys, st.Key)
		}
	}},
	"J8 the key of a failed run is kept": {start: func(_ *Store, st *journal.Start) {
		if st.Reuse == journal.ReuseAllowIfFailed {
			st.Reuse = journal.ReuseReject
		}
	}},
	"J8 a deleted run keeps its key": {admin: func(m *Store, a driver.AdminAction, r *record) {
		if a.Kind == driver.AdminDelete && r.holdsKey {
			m.db.keys[r.run.Key] = r
		}
	}},
	"J9 a delayed run is due":    {start: func(_ *Store, st *journal.Start) { st.Delay = min(st.Delay, time.Minute) }},
	"claims ignore the priority": {start: func(_ *Store, st *journal.Start) { st.Priority = journal.PriorityDefault }},
	"claims never go by age":     {claim: func(r *driver.ClaimRequest) { r.Chance &^= 7; r.Max = min(r.Max, 7) }},
	"claims go by age too often": {claim: func(r *driver.ClaimRequest) { r.Chance |= 7 }},
	"nothing waits":              {claims: func(_ *Store, c *driver.Claim) { c.Waiting = 0 }},
	"claims take too few":        {claim: func(r *driver.ClaimRequest) { r.Max = min(r.Max, 1) }},
	"claims serve no other version": {claim: func(r *driver.ClaimRequest) {
		r.Routes = slices.DeleteFunc(slices.Clone(r.Routes), func(r journal.Route) bool { return r.Version == 2 })
	}},
	"claims forget what runs wait for": {claims: func(_ *Store, c *driver.Claim) {
		for i := range c.Tasks {
			c.Tasks[i].Task.Waiting = nil
		}
	}},
	"attention is missing": {claims: func(_ *Store, c *driver.Claim) { c.Attention = nil }},
	"nothing is due next":  {claims: func(_ *Store, c *driver.Claim) { c.NextDue = time.Time{} }},
	"a commit keeps old attempts": {commit: func(m *Store, c *driver.Commit) {
		if r := m.open(c.Run); r != nil && c.Attempts == nil {
			c.Attempts = r.withTask().Task.Attempts
		}
	}},
	"a commit does not forgive strikes": {commit: func(m *Store, c *driver.Commit) {
		if r := m.open(c.Run); r != nil && r.task.Strikes > 0 && r.task.Fence == c.Fence {
			c.Turn = 1 << 30
		}
	}},
	"nobody counts strikes": {reaped: func(m *Store) {
		for _, r := range m.db.sorted {
			r.task.Strikes = 0
		}
	}},
	"quarantine has no end": {admin: func(m *Store, a driver.AdminAction, r *record) {
		if r.open && a.Kind == driver.AdminResume && len(r.events) == 0 {
			m.reshape(r, func() { r.task.State = journal.Quarantined })
		}
	}},
	"resume is lost": {admin: func(m *Store, a driver.AdminAction, r *record) {
		if r.open && a.Kind == driver.AdminResume {
			m.reshape(r, func() { r.task.VisibleAt = time.Time{} })
		}
	}},
	"J12 an operator's priority is lost": {admin: func(m *Store, a driver.AdminAction, r *record) {
		if r.open && a.Kind == driver.AdminSetPriority {
			m.reshape(r, func() { r.task.Priority = journal.PriorityDefault })
		}
	}},
	"an operator's labels replace those of the start": {admin: func(_ *Store, a driver.AdminAction, r *record) {
		if a.Kind == driver.AdminSetLabels {
			r.run.StartLabels = nil
		}
	}},
	"a commit undoes an operator's labels": {written: func(m *Store, c driver.Commit, o *driver.Outcome) {
		if r := m.open(c.Run); o.Err == nil && r != nil && r.run.StartLabels != nil {
			r.run.Labels = r.run.StartLabels
		}
	}},
	"a load knows no limit":          {load: func(r *driver.LoadRequest) { r.Limit = 0 }},
	"a load begins too early":        {load: func(r *driver.LoadRequest) { r.AfterInbox = 0 }},
	"a listing ignores the status":   {list: func(f *journal.ListFilter) { f.Status = nil }},
	"a listing ignores the labels":   {list: func(f *journal.ListFilter) { delete(f.Labels, "l") }},
	"a listing repeats its pages":    {list: func(f *journal.ListFilter) { f.Limit = max(f.Limit, 2) }},
	"a listing takes part of a key":  {list: func(f *journal.ListFilter) { f.Key = "" }},
	"a listing takes any key prefix": {list: func(f *journal.ListFilter) { f.KeyPrefix = "" }},
}
