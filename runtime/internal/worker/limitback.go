package worker

import (
	"container/heap"
	"container/list"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitBack holds wants back that the node has no slot for. A claim that is granted to a node whose
// slots are taken is a place that nobody uses, while a node with free slots waits: with as many
// slots as places, that were a quarter of all places, and a third if steps need two limits. So of
// each line no more wants wait in the store than the node has free slots, and it asks for no more
// at once. A step that is held back has lost nothing by it: its place is counted from when it fell
// due.
//
// Here wants stand in one line if they need the same limits with the same keys. Which lines could
// go on only the store knows, so it is shown the most urgent of each: one that waits for the limit
// of its tenant keeps no others waiting that need but one limit of the two, or another tenant's.
//
// The limiter's lock guards it, except for n.
type limitBack struct {
	room   func() int // free slots; nil for any number
	n      atomic.Int64
	lines  map[limitLineKey]*limitLine
	full   *list.List // lines of which wants are held back: who was served last is last
	asking int        // wants that were pulled, and not answered yet
}

func newLimitBack() limitBack {
	return limitBack{lines: map[limitLineKey]*limitLine{}, full: list.New()}
}

// limitEntry is a want of the list.
type limitEntry struct {
	want    *actor.LimitWant
	sent    bool // the store has it; if not, it is among the fresh ones
	granted bool
	again   bool       // it is executed, and the store has forgotten it
	line    *limitLine // until it is granted; nil for one that was never held back
	back    bool       // it is held back
	rank    int64      // by which those that are held back of a line are sorted
	at      int        // its index among them
}

// limitLineKey is what a want needs: its first limit, and the others as text, if there are any.
type limitLineKey struct {
	driver.LimitKey
	others string
}

func lineKeyOf(needs []journal.LimitNeed) limitLineKey {
	k := limitLineKey{LimitKey: driver.LimitKey{Name: needs[0].Name, Key: needs[0].Key}}
	for _, n := range needs[1:] {
		k.others += strconv.Quote(n.Name) + strconv.Quote(n.Key)
	}
	return k
}

// limitLine is what the node has of one line. It is in the map while it has something.
type limitLine struct {
	key   limitLineKey
	needs []journal.LimitNeed // of any want in it: the costs may differ
	waits int                 // wants that were sent, or are about to be, and not granted
	list  backHeap
	full  *list.Element // in the list of lines of which wants are held back; nil if it is not there
}

// add holds a new want back, and tells whether it does. A want for which there is a slot goes with
// the next round.
func (b *limitBack) add(e *limitEntry) bool {
	if b.room == nil {
		return false
	}
	k := lineKeyOf(e.want.Needs)
	if e.line = b.lines[k]; e.line == nil {
		e.line = &limitLine{key: k, needs: e.want.Needs}
		b.lines[k] = e.line
	}
	e.rank = e.want.Since.UnixMicro() + int64(e.want.Priority)*journal.LimitAgeingDefault.Microseconds()
	e.back = true
	heap.Push(&e.line.list, e)
	if e.line.full == nil {
		e.line.full = b.full.PushBack(e.line)
	}
	b.n.Add(1)
	return true
}

// leave takes a want out that was granted or withdrawn.
func (b *limitBack) leave(e *limitEntry) {
	l := e.line
	if l == nil {
		return
	}
	if e.line = nil; e.back {
		heap.Remove(&l.list, e.at)
		b.n.Add(-1)
	} else {
		l.waits--
	}
	b.forget(l)
}

// forget drops a line that has nothing.
func (b *limitBack) forget(l *limitLine) {
	if len(l.list) > 0 {
		return
	}
	if l.full != nil {
		b.full.Remove(l.full)
		l.full = nil
	}
	if l.waits == 0 {
		delete(b.lines, l.key)
	}
}

// pull returns wants for which there are slots now, of limits of the given names alone, which are
// sorted, or of all for nil: of each line one after the other, the most urgent of it first. It
// begins with the line that was looked at longest ago.
func (b *limitBack) pull(names []string) (wants []*limitEntry) {
	if b.n.Load() == 0 {
		return nil
	}
	room := b.room()
	for more := true; more; {
		more = false
		for left := b.full.Len(); left > 0; left-- {
			if b.asking >= room {
				return wants
			}
			l := b.full.Front().Value.(*limitLine)
			b.full.MoveToBack(l.full)
			if l.waits >= room {
				continue
			}
			if !allNamed(l.needs, names) {
				continue
			}
			e := heap.Pop(&l.list).(*limitEntry)
			e.back = false
			b.n.Add(-1)
			l.waits++
			b.asking++
			b.forget(l)
			wants, more = append(wants, e), true
		}
	}
	return wants
}

// allNamed tells whether needs are of limits of the given names, which are sorted; nil for any.
func allNamed(needs []journal.LimitNeed, names []string) bool {
	return names == nil || !slices.ContainsFunc(needs, func(n journal.LimitNeed) bool {
		_, in := slices.BinarySearch(names, n.Name)
		return !in
	})
}

// backHeap has the most urgent want first. What a limit says of its ageing the node does not know,
// so it takes the default; the store knows, among those that it has.
type backHeap []*limitEntry

func (h backHeap) Len() int           { return len(h) }
func (h backHeap) Less(i, j int) bool { return h[i].rank < h[j].rank }

// Swap implements heap.Interface.
func (h backHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push implements heap.Interface.
func (h *backHeap) Push(x any) {
	e := x.(*limitEntry)
	e.at = len(*h)
	*h = append(*h, e)
}

// Pop implements heap.Interface.
func (h *backHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return last
}
