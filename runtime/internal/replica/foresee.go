package replica

import (
	"errors"
	"fmt"
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
		if err := replay.ForeseeFirst(r.machine, &d.run, now); err != nil {
			return 0, explainedAhead(err)
		}
	}
	f := foreseeing{r: r, o: o, now: now}
	f.note(d.messages)
	if err := f.take(); err != nil {
		return 0, explainedAhead(err)
	}
	for i := range d.messages {
		msg := &d.messages[i]
		r.ahead = true
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
	cancel      journal.InboxSeq // the number of the cancel request that waits, 0 for none: there is at most one
}

// note finds the cancel request among messages.
func (f *foreseeing) note(messages []journal.Message) {
	for i := range messages {
		if messages[i].Kind == journal.MessageCancel {
			f.cancel = messages[i].Number
		}
	}
}

// take lets the run consume messages, until its code waits for more. Where a generation ends, the
// next one gets what was carried over to it first. A run that has closed consumes nothing.
func (f *foreseeing) take(queue ...journal.Message) error {
	for {
		for len(queue) > 0 && !f.r.machine.Finished() {
			f.r.machine.CancelFollows(queue[0].Number < f.cancel)
			taken, err := replay.Foresee(f.r.machine, &queue[0], f.now)
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
		f.note(carried)
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
	return replay.ForeseeFirst(f.r.machine, next, f.now)
}

// explainedAhead is explained for code that runs ahead of the history.
func explainedAhead(err error) error {
	if _, undecided := errors.AsType[*replay.UndecidedError](err); undecided {
		return err
	}
	return explained(err)
}
