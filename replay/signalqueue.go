package replay

import (
	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// SignalQueue holds the signals of one name that code has not received yet, first in, first out. It
// exists before anyone waits, so no signal is lost.
//
// An arriving signal wakes one strand, the one that has waited longest, and not all: with a
// thousand strands waiting, each signal would resume a thousand. So whoever has waited for the
// queue calls Env.Pass when it no longer waits, and a signal that is left wakes the next strand. An
// event is at most one signal and wakes nothing else, so the strand that is woken finds it today;
// the rule keeps a signal from lying in the queue while a strand waits for it even if an event did
// more.
//
// A signal is decoded when code looks at it, because only the code knows its type. One that does
// not decode is set aside: see Sift.
type SignalQueue struct {
	name    string
	cond    Cond
	signals list.Queue[received]
	looked  int // how many of the oldest SiftAll has looked at
}

// received is a signal as it came.
type received struct {
	number  journal.InboxSeq
	payload journal.Payload
}

// SignalQueue returns the queue of a signal's name.
func (e *Env) SignalQueue(name string) *SignalQueue {
	e.MarkExternal()
	q := e.signals[name]
	if q == nil {
		q = &SignalQueue{name: name, cond: Cond{What: "signal " + name}}
		if e.signals == nil {
			e.signals = make(map[string]*SignalQueue)
		}
		e.signals[name] = q
	}
	return q
}

// Len is the number of signals that were not received.
func (q *SignalQueue) Len() int { return q.signals.Len() }

// Cond is where strands wait for a signal.
func (q *SignalQueue) Cond() *Cond { return &q.cond }

// Pop takes the oldest signal out; there must be one.
func (q *SignalQueue) Pop() journal.Payload {
	q.looked = max(q.looked-1, 0)
	return q.signals.Pop().payload
}

// messages lists those that were not received.
func (q *SignalQueue) messages(name string) []journal.Message {
	var all []journal.Message
	for _, s := range q.signals.All() {
		all = append(all, journal.Message{Number: s.number, Kind: journal.MessageSignal, Name: name, Payload: s.payload})
	}
	return all
}

// deliver puts a signal into its queue.
func (e *Env) deliver(ev *journal.Event) {
	q := e.SignalQueue(ev.Name)
	q.signals.Push(received{ev.Inbox, ev.Payload})
	e.signal(&q.cond)
}

// Pass lets the next strand that waits for the queue look, if signals are left: see SignalQueue.
func (e *Env) Pass(q *SignalQueue) {
	if q.Len() > 0 {
		e.signal(&q.cond)
	}
}
