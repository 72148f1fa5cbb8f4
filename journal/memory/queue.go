package memory

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// The queue answers three questions of a claim: which due task is the most urgent and oldest, when
// the next one falls due, and which tasks of a node have messages. A list of all tasks would answer
// them too, in a time that grows with the runs that merely wait, and simulations have many of
// those. So tasks are kept by route, by priority and by whether they are due, and moving one costs
// the logarithm of its own queue.
//
// Nothing here runs by itself. A task falls due when somebody looks, see [queue.promote].

// taskHeap holds free tasks, the one that has been visible longest on top. A record knows its heap
// and its index there, which Swap, Push and Pop keep up to date: a task whose run gets a message is
// taken out of the middle.
type taskHeap []*record

// Len implements heap.Interface.
func (h taskHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h taskHeap) Less(i, j int) bool { return byVisibility(h[i], h[j]) < 0 }

// Swap implements heap.Interface.
func (h taskHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

// Push implements heap.Interface.
func (h *taskHeap) Push(x any) {
	r := x.(*record)
	r.heap, r.index = h, len(*h)
	*h = append(*h, r)
}

// Pop implements heap.Interface. The freed slot is cleared, or the heap would keep closed runs
// alive.
func (h *taskHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	r.heap = nil
	return r
}

// byUrgency orders due tasks as claims take them, apart from those that are equally old.
func byUrgency(a, b *record) int {
	return cmp.Or(cmp.Compare(a.task.Priority, b.task.Priority), a.task.VisibleAt.Compare(b.task.VisibleAt))
}

// byVisibility orders tasks by the time at which they became visible, and equal ones by the order
// in which they were enqueued, so that no two are equal and programs can be repeated.
func byVisibility(a, b *record) int {
	return cmp.Or(a.task.VisibleAt.Compare(b.task.VisibleAt), cmp.Compare(a.order, b.order))
}

// queueOf is the claimable tasks of one route and priority. Those that are due are apart, so that
// both the oldest of them and the next that falls due are found at once.
type queue struct {
	due, later taskHeap
}

// promote moves what has fallen due. It must run before anybody looks at the due ones, and it can
// run late: time alone changes nothing that anybody sees between two calls.
func (l *queue) promote(now time.Time) {
	for len(l.later) > 0 && !l.later[0].task.VisibleAt.After(now) {
		heap.Push(&l.due, heap.Pop(&l.later))
	}
}

// queues are those of one route, by priority. Priorities are few and known, so an array serves: a
// claim visits them from the most urgent on and stops when it has enough.
type queues [journal.PriorityMax + 1]queue

// holding is what one node owns. It exists only while it is not empty, so the owners of tasks are
// the keys of database.held, dead ones included.
// Its second set is what a claim reports as needing attention, so that an owner reads messages
// even if every hint was lost (J6).
type holding struct {
	all    map[journal.RunID]*record
	unread map[journal.RunID]*record // those with messages that their owner has not consumed
}

// dequeue takes a task out of the queue, for a change of it. [database.enqueue] puts it back.
// Calling it for a task that is nowhere is harmless, so callers need not know where the task was.
func (db *database) dequeue(r *record) {
	if r.heap != nil {
		heap.Remove(r.heap, r.index)
	}
	if h := db.held[r.task.Owner]; h != nil {
		delete(h.all, r.run.ID)
		delete(h.unread, r.run.ID)
		if len(h.all) == 0 {
			delete(db.held, r.task.Owner)
		}
	}
	delete(db.blocked, r.run.ID)
}

// enqueue puts a task where it belongs: to its owner, into a queue, or nowhere if it waits for
// something else than time.
func (db *database) enqueue(r *record, now time.Time) {
	if !r.open {
		return
	}
	db.enqueued++
	r.order = db.enqueued
	if r.task.State == journal.Blocked {
		db.blocked[r.run.ID] = r
	}
	switch {
	case r.task.Owner != 0:
		h := db.held[r.task.Owner]
		if h == nil {
			h = &holding{all: map[journal.RunID]*record{}, unread: map[journal.RunID]*record{}}
			db.held[r.task.Owner] = h
		}
		h.all[r.run.ID] = r
		if !r.task.VisibleAt.IsZero() {
			h.unread[r.run.ID] = r
		}
	case r.task.State >= journal.Quarantined || r.task.VisibleAt.IsZero():
		// It waits for an operator or for a message. Whoever brings that takes it from the record.
	default:
		l := db.queueOf(r)
		if r.task.VisibleAt.After(now) {
			heap.Push(&l.later, r)
		} else {
			heap.Push(&l.due, r)
		}
	}
}

// queueOf returns the queue that a free task belongs to. Queues are made when they are needed and
// stay.
func (db *database) queueOf(r *record) *queue {
	route := r.route()
	if db.queues[route] == nil {
		db.queues[route] = new(queues)
	}
	return &db.queues[route][r.task.Priority]
}

// queuesOf returns the queues of routes, each once, and promotes what has fallen due.
func (db *database) queuesOf(routes []journal.Route, now time.Time) []*queues {
	var list []*queues
	for i, route := range routes {
		found := db.queues[route]
		// A route that is named twice would be looked at twice, and pick would compare a queue with
		// itself.
		if found == nil || slices.Contains(routes[:i], route) {
			continue
		}
		for p := range found {
			found[p].promote(now)
		}
		list = append(list, found)
	}
	return list
}

// pick takes up to r.Max due tasks out of queues: r.ByAge() of them because they are the oldest,
// the others because they are the most urgent, and among equals the oldest. At most r.Suspects of
// them are suspects; further ones are passed over and put back.
func pick(list []*queues, r *driver.ClaimRequest) []*record {
	var picked, passed []*record
	from, suspects := map[*record]*taskHeap{}, r.Suspects
	defer func() {
		for _, rec := range passed {
			heap.Push(from[rec], rec)
		}
	}()
	take := func(limit int, first, last int) {
		for len(picked) < limit {
			best := oldest(list, first, last)
			if best == nil {
				return
			}
			rec := heap.Pop(best).(*record)
			if rec.task.Strikes >= driver.SuspectStrikes {
				if suspects == 0 {
					passed, from[rec] = append(passed, rec), best
					continue
				}
				suspects--
			}
			picked = append(picked, rec)
		}
	}
	take(min(r.ByAge(), r.Max), journal.PriorityMin, journal.PriorityMax)
	for p := journal.PriorityMin; p <= journal.PriorityMax; p++ {
		take(r.Max, p, p)
	}
	return picked
}

// oldest returns the queue that has the oldest due task of the priorities in a range, nil for none.
func oldest(list []*queues, from, to int) (best *taskHeap) {
	for _, l := range list {
		for p := from; p <= to; p++ {
			if due := &l[p].due; len(*due) > 0 && (best == nil || byVisibility((*due)[0], (*best)[0]) < 0) {
				best = due
			}
		}
	}
	return best
}

// countDue counts the due tasks of queues.
func countDue(list []*queues) (n int) {
	for _, l := range list {
		for p := range l {
			n += len(l[p].due)
		}
	}
	return n
}

// nextVisible returns when the next task of the queues falls due; zero for none.
func nextVisible(list []*queues) (next time.Time) {
	for _, l := range list {
		for p := range l {
			if later := l[p].later; len(later) > 0 && (next.IsZero() || later[0].task.VisibleAt.Before(next)) {
				next = later[0].task.VisibleAt
			}
		}
	}
	return next
}

// inOrder returns records in the order in which they were enqueued. Sets are maps, whose own order
// is chance: without this a seed would not repeat what it found.
func inOrder(set map[journal.RunID]*record) []*record {
	return slices.SortedFunc(maps.Values(set), func(a, b *record) int { return cmp.Compare(a.order, b.order) })
}
