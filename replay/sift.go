package replay

import (
	"strconv"

	"github.com/reprise-run/reprise/journal"
)

// Sift tells whether the queue has a signal for the code that looks, and sets aside the oldest ones
// as long as they do not decode. decode keeps what it decodes: the signal is the caller's next Pop.
//
// # Why a signal is set aside
//
// Whoever may send to a run can send what does not decode. If that stopped the run, one signal
// would keep everything that is behind it in the inbox from the run, a cancel request too, until
// code is deployed for a payload that nobody meant. So it counts as received by nobody, and code
// goes on waiting. The history keeps the payload, in the event of the signal, and what became of
// it, as an entry of the ledger (journal.CommandAside).
//
// # Why the history decides
//
// What decodes depends on the code's type, and that may change. So replay decodes nothing here: the
// ledger has an entry at the very place where a signal was set aside, and every other signal that
// code looked at was taken for good. If one of these does not decode now, the caller's Decode stops
// the machine: the code has become another.
//
// A predicate of Until looks in read-only code, which can enter nothing: it counts what is there.
//
// With Definition.BlockOnBadSignal such a signal stops the machine, unless a cancel request waits
// behind it, which would not get through.
func (e *Env) Sift(q *SignalQueue, decode func(journal.Payload) error) bool {
	for q.Len() > 0 {
		if !e.unfit(q, q.signals.At(0), decode) {
			return true
		}
		q.Pop()
	}
	return false
}

// SiftAll returns how many signals the queue has, and sets aside all that do not decode. Each is
// decoded once, however often it is called.
func (e *Env) SiftAll(q *SignalQueue, decode func(journal.Payload) error) int {
	if e.readOnly {
		return q.Len()
	}
	var unfit []int
	for place := q.looked; place < q.Len(); place++ {
		if e.unfit(q, q.signals.At(place), decode) {
			unfit = append(unfit, place)
		}
	}
	q.remove(unfit)
	q.looked = q.Len()
	return q.Len()
}

// remove takes signals out of the middle, whose places are in order: the queue is turned round
// once, however many they are.
func (q *SignalQueue) remove(places []int) {
	if len(places) == 0 {
		return
	}
	for i := range q.Len() {
		s := q.signals.Pop()
		if len(places) > 0 && places[0] == i {
			places = places[1:]
			continue
		}
		q.signals.Push(s)
	}
}

// unfit tells whether a signal does not decode, and enters that into the ledger. On replay the
// ledger tells. Nothing that code does while it is unwound has an effect, so it enters nothing
// then.
func (e *Env) unfit(q *SignalQueue, s *received, decode func(journal.Payload) error) bool {
	switch {
	case e.unwinding:
		return e.try(decode, s.payload) != nil
	case e.replaying:
		return e.matched < len(e.event.Issued) && e.entered(q.aside(s))
	}
	err := e.try(decode, s.payload)
	if err == nil {
		return false
	}
	if e.blockOnBadSignal && !e.cancelFollows {
		e.Abort(&DecodeError{What: "signal " + q.name, Err: err})
	}
	e.issueUnanswered(q.aside(s))
	e.out.aside = append(e.out.aside, SetAside{Signal: q.name, Number: s.number, Err: err})
	return true
}

// aside is the entry of a signal that does not decode.
func (q *SignalQueue) aside(s *received) journal.Issued {
	return journal.Issued{Kind: journal.CommandAside, Name: q.name, Detail: strconv.FormatInt(int64(s.number), 10)}
}

// try decodes a payload. A type's own code may panic over what somebody has sent, which is no
// better reason to stop the run than an error. A panic that ends the strand goes on.
func (e *Env) try(decode func(journal.Payload) error, p journal.Payload) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if e.err != nil || e.unwinding {
				panic(v)
			}
			err = panicked("decoding", v)
		}
	}()
	e.ReadOnly(func() { err = decode(p) })
	return err
}

// entered tells whether the history has an entry here, perhaps after changes that the code no
// longer asks about, and takes it.
func (l *ledger) entered(want journal.Issued) bool {
	for i := l.matched; i < len(l.event.Issued); i++ {
		switch w := &l.event.Issued[i]; {
		case *w == want:
			for l.matched < i {
				l.passOver(&l.event.Issued[l.matched])
			}
			l.issueUnanswered(want)
			return true
		case w.Kind != journal.CommandChange:
			return false
		}
	}
	return false
}
