package replica

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// generationsMax bounds how many generations a query foresees: code may continue as new without
// end.
const generationsMax = 1000

// foresee shows the machine what waits, as the run's owner would now. After an error stop is the
// message at which that ended, 0 if it was the run's first turn: there is no state before that.
func (r *replica) foresee(o *Options, d *delta) (stop journal.InboxSeq, err error) {
	if d.run.Task == nil {
		return 0, nil // a closed run consumes nothing more
	}
	now := o.Journal.Now()
	if r.machine.LastSeq() == 0 {
		r.ahead = true
		if err := r.machine.ForeseeFirst(&d.run, now); err != nil {
			return 0, explainedAhead(err)
		}
	}
	f := foreseeing{r: r, o: o, now: now}
	if err := f.take(); err != nil {
		return 0, explainedAhead(err)
	}
	cancel := slices.IndexFunc(d.messages, func(m journal.Message) bool { return m.Kind == journal.MessageCancel }) // at most one
	for i := range d.messages {
		msg := &d.messages[i]
		r.ahead, f.cancelFollows = true, i < cancel
		if err := f.take(*msg); err != nil {
			return msg.Number, explainedAhead(err)
		}
		r.inbox = driver.Consumed{Number: msg.Number, Digest: msg.Digest()}
	}
	return 0, nil
}

// foreseeing is a walk through the messages that wait, from generation to generation.
type foreseeing struct {
	r           *replica
	o           *Options
	now         time.Time
	generations int

	cancelFollows bool // see replay.Machine.CancelFollows
}

// take lets the run consume messages, until its code waits for more. Where a generation ends, the
// next one gets what was carried over to it first. A run that has closed consumes nothing.
func (f *foreseeing) take(queue ...journal.Message) error {
	for {
		for len(queue) > 0 && !f.r.machine.Finished() {
			f.r.machine.CancelFollows(f.cancelFollows)
			taken, err := f.r.machine.Foresee(&queue[0], f.now)
			if err != nil {
				return err
			}
			if taken {
				queue = queue[1:]
			}
		}
		next, carried, ok := replay.Successor(f.r.machine, &f.r.began)
		if !ok {
			return nil
		}
		if err := f.succeed(&next); err != nil {
			return err
		}
		queue = append(carried, queue...)
	}
}

// succeed begins the next generation.
func (f *foreseeing) succeed(next *journal.Run) error {
	if f.generations++; f.generations > generationsMax {
		return &replay.UndecidedError{What: fmt.Sprintf("what comes after %d generations without a wait", generationsMax)}
	}
	if err := f.r.begin(f.o, next); err != nil {
		return &replay.UndecidedError{What: fmt.Sprintf("the next generation, of which the code is not here (%v),", err)}
	}
	f.r.ahead = true
	return f.r.machine.ForeseeFirst(next, f.now)
}

// explainedAhead is explained for code that runs ahead of the history.
func explainedAhead(err error) error {
	if _, undecided := errors.AsType[*replay.UndecidedError](err); undecided {
		return err
	}
	return explained(err)
}
