package memory

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// taskHeap holds free tasks, the one that has been visible longest on top.
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

// Pop implements heap.Interface.
func (h *taskHeap) Pop() any {
	last := len(*h) - 1
	r := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	r.heap = nil
	return r
}

// byUrgency orders due tasks as claims take them, but for those that are equally old.
func byUrgency(a, b *record) int {
	return cmp.Or(cmp.Compare(a.task.Priority, b.task.Priority), a.task.VisibleAt.Compare(b.task.VisibleAt))
}

func byVisibility(a, b *record) int {
	return cmp.Or(a.task.VisibleAt.Compare(b.task.VisibleAt), cmp.Compare(a.order, b.order))
}

// queueOf is the claimable tasks of one route and priority. Those that are due are apart, so that both the oldest of
// them and the next that falls due are found at once.
type queue struct {
	due, later taskHeap
}

// promote moves what has fallen due.
func (l *queue) promote(now time.Time) {
	for len(l.later) > 0 && !l.later[0].task.VisibleAt.After(now) {
		heap.Push(&l.due, heap.Pop(&l.later))
	}
}

// queues are those of one route, by priority.
type queues [journal.PriorityMax + 1]queue

// holding is what one node owns.
type holding struct {
	all    map[journal.RunID]*record
	unread map[journal.RunID]*record // those with messages that their owner has not consumed
}

// dequeue takes a task out of the queue, for a change of it. [database.enqueue] puts it back.
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

// enqueue puts a task where it belongs: to its owner, into a lane, or nowhere if it waits for something else than time.
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
	case r.task.State == journal.Quarantined || r.task.VisibleAt.IsZero():
	default:
		l := db.queueOf(r)
		if r.task.VisibleAt.After(now) {
			heap.Push(&l.later, r)
		} else {
			heap.Push(&l.due, r)
		}
	}
}

func (db *database) queueOf(r *record) *queue {
	route := r.route()
	if db.queues[route] == nil {
		db.queues[route] = new(queues)
	}
	return &db.queues[route][r.task.Priority]
}

// queuesOf returns the lanes of routes, each once, and promotes what has fallen due.
func (db *database) queuesOf(routes []journal.Route, now time.Time) []*queues {
	var list []*queues
	for i, route := range routes {
		found := db.queues[route]
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

// pick takes up to max due tasks out of lanes, most urgent first, oldest first.
func pick(list []*queues, max int) []*record {
	var picked []*record
	for p := journal.PriorityMin; p <= journal.PriorityMax; p++ {
		for len(picked) < max {
			var best *taskHeap
			for _, l := range list {
				if due := &l[p].due; len(*due) > 0 && (best == nil || byVisibility((*due)[0], (*best)[0]) < 0) {
					best = due
				}
			}
			if best == nil {
				break
			}
			picked = append(picked, heap.Pop(best).(*record))
		}
	}
	return picked
}

// nextVisible returns when the next task of the lanes falls due; zero for none.
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

// inOrder returns records in the order in which they were placed.
func inOrder(set map[journal.RunID]*record) []*record {
	return slices.SortedFunc(maps.Values(set), func(a, b *record) int { return cmp.Compare(a.order, b.order) })
}
