package driver

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
)

// Change says that a call of this process has changed something that people may look at.
type Change struct {
	Run journal.RunID // zero if it is about a scope or a node
	// Operator says that an operator did it, so that the audit may have an entry.
	Operator bool
}

// changes calls those who show runs after each call of this process that has changed some. They are
// not hints: no other process hears of them, no loop of the engine waits for them, and what the
// engine does itself between two commits, such as a claim, is none. Where nobody listens, a call
// costs one load.
type changes struct {
	mu  sync.Mutex
	fns atomic.Pointer[[]*func(Change)] // replaced under mu, and never changed; nil if nobody listens
}

// Changes calls fn for every change by this process until stop is called. fn must be quick; it is
// called from several goroutines, and may be called once more after stop. A change that others have
// made, in this process or elsewhere, is not told: hints tell of some, and a poll of all.
func (j *Journal) Changes(fn func(Change)) (stop func()) {
	c := &j.changes
	c.edit(func(list []*func(Change)) []*func(Change) { return append(list, &fn) })
	return func() {
		c.edit(func(list []*func(Change)) []*func(Change) {
			return slices.DeleteFunc(list, func(f *func(Change)) bool { return f == &fn })
		})
	}
}

// edit replaces the list of those who listen.
func (c *changes) edit(change func(list []*func(Change)) []*func(Change)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*func(Change)
	if now := c.fns.Load(); now != nil {
		list = slices.Clone(*now)
	}
	if list = change(list); len(list) == 0 {
		c.fns.Store(nil)
		return
	}
	c.fns.Store(&list)
}

// tell calls those who listen. each calls its argument for each change.
func (c *changes) tell(each func(tell func(Change))) {
	fns := c.fns.Load()
	if fns == nil {
		return
	}
	each(func(change Change) {
		for _, fn := range *fns {
			(*fn)(change)
		}
	})
}

func (c *changes) started(out []journal.Started, index []int) {
	c.tell(func(tell func(Change)) {
		for _, i := range index {
			if out[i].Err == nil {
				tell(Change{Run: out[i].Run})
			}
			for _, run := range out[i].Cancelled {
				tell(Change{Run: run, Operator: true})
			}
		}
	})
}

func (c *changes) sent(messages []journal.Message) {
	c.tell(func(tell func(Change)) {
		for i := range messages {
			tell(Change{Run: messages[i].Run})
		}
	})
}

// committed tells of each turn, and of the runs that it has started, written to and closed.
func (c *changes) committed(commits []Commit, out []Outcome) {
	c.tell(func(tell func(Change)) {
		for i := range commits {
			if out[i].Err != nil {
				continue
			}
			tell(Change{Run: commits[i].Run})
			for k := range out[i].Started {
				if out[i].Started[k].Created {
					tell(Change{Run: out[i].Started[k].Run})
				}
				for _, run := range out[i].Started[k].Cancelled {
					tell(Change{Run: run, Operator: true})
				}
			}
			for k := range commits[i].Messages {
				tell(Change{Run: commits[i].Messages[k].Run})
			}
			for _, run := range out[i].Closed {
				tell(Change{Run: run})
			}
		}
	})
}

func (c *changes) acted(a AdminAction) {
	c.tell(func(tell func(Change)) { tell(Change{Run: a.Run, Operator: true}) })
}
