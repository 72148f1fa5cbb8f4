package actor

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// memory is a Store in memory. It keeps J1, J3, J6 and J7, and answers from other goroutines, as a
// real one does.
type memory struct {
	*journal.Journal
	mu      sync.Mutex
	runs    map[journal.RunID]*record
	commits []driver.Commit // that were tried, in order
	loads   int
	txs     []*memoryTx
	// fate decides over a commit before it is looked at: an error refuses it. It may block.
	fate func(c *driver.Commit) error
	// late holds the answer of a commit back that was written.
	late func(c *driver.Commit)
	// loadFate is the same for loads.
	loadFate func(r *driver.LoadRequest) error
	// refuse is why no transaction can be begun, and beginTakes how long a begin takes that does not
	// heed its context.
	refuse     error
	beginTakes time.Duration
	// writer makes the store one that writes one thing at a time: transactions of steps hold it
	// from their first use on. nil for none.
	writer chan struct{}
}

// record is what is stored of one run.
type record struct {
	run    journal.Run
	task   *journal.Task // nil once closed
	events []journal.Event
	inbox  []journal.Message
	seen   journal.InboxSeq
}

func newMemory() *memory {
	return &memory{Journal: journal.New(nil, nil), runs: map[journal.RunID]*record{}}
}

// Now implements Store.
func (m *memory) Now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// written returns the commits so far.
func (m *memory) written() []driver.Commit {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.commits)
}

// Submit implements Store.
func (m *memory) Submit(c driver.Commit, done func(driver.Outcome)) {
	go func() {
		m.mu.Lock()
		fate, late := m.fate, m.late
		m.commits = append(m.commits, c)
		m.mu.Unlock()
		if fate != nil {
			if err := fate(&c); err != nil {
				if c.Tx != nil {
					_ = c.Tx.Rollback(context.Background())
				}
				done(driver.Outcome{Err: err})
				return
			}
		}
		if m.writer != nil && c.Tx == nil {
			m.writer <- struct{}{}
			defer func() { <-m.writer }()
		}
		out := m.apply(&c)
		if late != nil {
			late(&c)
		}
		done(out)
	}()
}

func (m *memory) apply(c *driver.Commit) driver.Outcome {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[c.Run]
	if r == nil || r.task == nil || r.task.Owner != c.Node || r.task.Fence != c.Fence || r.task.Turn != c.Turn ||
		r.task.Generation != c.Generation {
		if c.Tx != nil {
			c.Tx.(*memoryTx).end("rolled back")
		}
		return driver.Outcome{Err: journal.ErrFenced}
	}
	if c.Tx != nil {
		if c.Tx.(*memoryTx).end("committed") != "committed" {
			return driver.Outcome{Err: journal.ErrTxLost}
		}
	}
	if c.Pause != "" && (!c.Hold || c.Next.Kind != driver.NextKeep) {
		panic("memory: a commit pauses a run that it does not hold")
	}
	head := journal.Head{Link: r.origin()}
	if n := len(r.events); n > 0 {
		head = journal.Head{Seq: r.events[n-1].Seq, Link: r.events[n-1].Link}
	}
	if c.Head.Link != 0 && c.Head != head {
		panic(fmt.Sprintf("memory: the commit follows %v, the history ends at %v", c.Head, head))
	}
	for _, ev := range c.Events {
		if ev.Seq != journal.Seq(len(r.events)+1) || ev.Link != ev.LinkAfter(head.Link) {
			panic("memory: J1 is broken")
		}
		head.Link = ev.Link
		r.events = append(r.events, ev)
		r.seen = max(r.seen, ev.Inbox)
	}
	t := r.task
	if c.AppendOnly {
		return driver.Outcome{Now: m.Now()}
	}
	t.Turn++
	t.Link = 0
	if next := c.Continue; next != nil {
		t.Generation++
		r.events, r.seen = nil, next.Seen
		r.run.Generation, r.run.Input, r.run.Version, r.run.Continued = t.Generation, next.Input, next.Version, next
	}
	t.Attempts, t.Waiting, t.Problem, t.State = c.Attempts, c.Waiting, c.Next.Problem, driver.CommittedState(c, t.State)
	if c.Next.Kind != driver.NextKeep {
		t.Link = c.NewHead().Link
	}
	switch c.Next.Kind {
	case driver.NextPark:
		t.Owner, t.VisibleAt = 0, c.Next.At
		if t.InboxLast > c.InboxSeen {
			t.VisibleAt = m.Now() // J6
		}
	case driver.NextRelease:
		t.Owner, t.VisibleAt = 0, m.Now()
	case driver.NextBlock:
		t.Owner, t.VisibleAt = 0, c.Next.At
	case driver.NextClose:
		r.run.Status, _ = journal.StatusOf(c.Terminal().Kind)
		r.task = nil
	}
	out := driver.Outcome{InboxLast: t.InboxLast, Now: m.Now()}
	if c.TellsState() {
		out.State = t.State
	}
	return out
}

// origin is what the first event of the present generation follows.
func (r *record) origin() journal.Link {
	ident := replay.InfoOf(&r.run)
	return replay.OriginOf(&ident)
}

// Load implements Store.
func (m *memory) Load(q driver.LoadRequest, done func(driver.History, error)) {
	go func() {
		if m.mu.Lock(); q.Lean {
			q.Bytes = 32 << 10
		}
		m.loads++
		fate := m.loadFate
		m.mu.Unlock()
		if fate != nil {
			if err := fate(&q); err != nil {
				done(driver.History{}, err)
				return
			}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		r := m.runs[q.Run]
		if r == nil {
			done(driver.History{Err: journal.ErrNotFound}, nil)
			return
		}
		h := driver.History{Run: r.run}
		if r.task != nil {
			task := *r.task
			h.Run.Task = &task
		}
		page := driver.NewPage(&q, q.EventsMax())
		for i := int(q.AfterSeq); i < len(r.events) && !q.InboxOnly && !h.More; i++ {
			if h.More = !page.Fits(driver.EventBytes(&r.events[i])); !h.More {
				h.Events = append(h.Events, r.events[i])
			}
		}
		page = driver.NewPage(&q, journal.InboxLoadMax)
		for _, msg := range r.inbox {
			if msg.Number > max(q.AfterInbox, r.seen) && !q.EventsOnly && !h.More && !h.MoreInbox {
				if h.MoreInbox = !page.Fits(driver.MessageBytes(&msg)); !h.MoreInbox {
					h.Inbox = append(h.Inbox, msg)
				}
			}
		}
		done(h, nil)
	}()
}

// Begin implements Store.
func (m *memory) Begin(context.Context) (journal.Tx, error) {
	time.Sleep(m.beginTakes)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refuse != nil {
		return nil, m.refuse
	}
	tx := &memoryTx{writer: m.writer}
	m.txs = append(m.txs, tx)
	return tx, nil
}

// send puts a message into a run's inbox.
func (m *memory) send(run journal.RunID, name string, v any) {
	p, err := m.Encode(name, v)
	if err != nil {
		panic(err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[run]
	r.task.InboxLast++
	r.inbox = append(r.inbox, journal.Message{
		Run: run, Number: r.task.InboxLast, Kind: journal.MessageSignal, Name: name, Payload: p, Time: m.Now(),
	})
	if r.task.Owner == 0 {
		r.task.VisibleAt = m.Now()
	}
}

// claim makes a node the owner of a run.
func (m *memory) claim(run journal.RunID, node journal.NodeID) driver.Claimed {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.runs[run]
	r.task.Fence = r.task.Fence.Next(1)
	r.task.Owner, r.task.State = node, journal.Ready
	return driver.Claimed{Task: *r.task, Run: r.run}
}

// memoryTx is a transaction that only remembers its end.
type memoryTx struct {
	mu     sync.Mutex
	ended  string
	writer chan struct{} // of the store
	holds  bool
	before func(ctx context.Context) error
	back   time.Duration // that a rollback takes
}

// BeforeUse implements driver.ExclusiveTx.
func (t *memoryTx) BeforeUse(ask func(ctx context.Context) error) { t.before = ask }

// use is what a body's first statement does.
func (t *memoryTx) use(ctx context.Context) error {
	if err := t.before(ctx); err != nil {
		return err
	}
	t.writer <- struct{}{}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holds = true
	return nil
}

func (t *memoryTx) end(how string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == "" {
		if t.ended = how; t.holds {
			<-t.writer
		}
	}
	return t.ended
}

func (t *memoryTx) fate() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ended
}

// Value implements journal.Tx.
func (t *memoryTx) Value() any { return t }

// Rollback implements journal.Tx.
func (t *memoryTx) Rollback(context.Context) error {
	time.Sleep(t.back)
	t.end("rolled back")
	return nil
}
