package actor

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// steps are the steps of a run that have no outcome in the history. The machine decides which
// exist; this table adds what the machine must not know: attempts, clocks, goroutines.
//
// It is ahead of the journal by the turn in flight. That turn's steps are in the table and not
// durable, those that it drops are marked as dropped, and both are settled when the outcome is
// known: see run.carryOut, drop and run.undoTurn.
//
// It is a list and no map: a run has few steps at a time, nearly always one, and each turn looks
// through all of them several times.
type steps struct {
	open  []*step // sorted by Cmd, which is the order in which the code asked
	full  bool    // steps wait because too many are in retry, and that was reported
	dirty bool    // attempts have changed since the last commit, so a commit is worth it
	beats heartbeatSaver
}

// place is where a step is, or where it belongs if it is not there.
func (t *steps) place(cmd journal.Cmd) (int, bool) {
	return slices.BinarySearchFunc(t.open, cmd, func(s *step, cmd journal.Cmd) int { return cmp.Compare(s.Cmd, cmd) })
}

// get returns the step of a command, nil if it is not here.
func (t *steps) get(cmd journal.Cmd) *step {
	if i, ok := t.place(cmd); ok {
		return t.open[i]
	}
	return nil
}

// put adds a step, or replaces the one of its command.
func (t *steps) put(s *step) {
	i, ok := t.place(s.Cmd)
	if !ok {
		t.open = slices.Insert(t.open, i, nil)
	}
	t.open[i] = s
}

func (t *steps) remove(cmd journal.Cmd) {
	if i, ok := t.place(cmd); ok {
		t.open = slices.Delete(t.open, i, i+1)
	}
}

// undo forgets the steps of a turn that did not happen.
func (t *steps) undo() {
	t.open = slices.DeleteFunc(t.open, func(s *step) bool { return !s.durable })
}

// clear forgets every step.
func (t *steps) clear() {
	t.open, t.dirty = nil, false
	t.beats.stop()
}

// adopt aligns the table with what the machine has pending after a replay. Steps that are here
// already keep their attempts and get the code of the new machine; the others get what is stored of
// them. The time of all of them stands still in the freezes.
func (t *steps) adopt(pending []replay.Step, stored []journal.Attempt, freezes journal.Freezes) {
	for _, p := range pending {
		if s := t.get(p.Cmd); s != nil {
			s.Step.Body = p.Body
			s.Cancelled = s.Cancelled || p.Cancelled
			s.freezes = freezes
			continue
		}
		s := &step{Step: p, durable: true, freezes: freezes}
		s.recall(stored)
		t.put(s)
	}
}

// recall replaces what is known of all steps by what is stored of them.
func (t *steps) recall(stored []journal.Attempt) {
	for _, s := range t.open {
		s.recall(stored)
	}
}

// abandon gives up all attempts that are executed.
func (t *steps) abandon(exec *executor, cause error) {
	for _, s := range t.open {
		exec.rollback(s.abandon(cause))
	}
}

// drop gives up steps whose outcome nobody waits for any more, whether an attempt is executed or
// not: see replay.CancelMode. They become no event, so there is nothing that their transactions
// could commit with.
func (t *steps) drop(list []*step, exec *executor) {
	for _, s := range list {
		t.remove(s.Cmd)
		if s.running {
			exec.hung.watch(s.attempt)
		}
		exec.rollback(s.handoff.abandon())
	}
}

// running tells whether a body is executed.
func (t *steps) running() bool {
	return slices.ContainsFunc(t.open, func(s *step) bool { return s.running })
}

// onlyWait tells whether the steps have attempts that wait for slots, and none that has one.
func (t *steps) onlyWait() (waits bool) {
	for _, s := range t.open {
		if s.running && s.attempt.began.Load() {
			return false
		}
		waits = waits || s.running && !s.attempt.claim.waits()
	}
	return waits
}

// onlyLimited tells whether the steps have attempts that wait for claims of limits, and no others.
func (t *steps) onlyLimited() (waits bool) {
	for _, s := range t.open {
		if s.running && !s.attempt.claim.waits() {
			return false
		}
		waits = waits || s.running
	}
	return waits
}

// retry tells whether a step has failed and is to be tried again.
func (t *steps) retry() bool {
	return slices.ContainsFunc(t.open, func(s *step) bool { return s.made > 0 && s.waits() })
}

// room is how many steps may run that the journal keeps nothing of yet. The journal keeps the
// attempts of so many steps of a run (max) and refuses a turn with more. A step that began beyond
// that would fail without a trace, and be executed again and again, whatever its policy says. So it
// begins when another one has ended. Steps that are kept already need no room, so they get on, and
// make some.
func (t *steps) room(max int) int {
	for _, s := range t.open {
		if s.kept() {
			max--
		}
	}
	return max
}

// retries is how many steps have failed and are to be tried again.
func (t *steps) retries() (n int) {
	for _, s := range t.open {
		if s.made > 0 && s.kept() {
			n++
		}
	}
	return n
}

// take takes a place for a step that needs one, and tells whether the step may run.
func take(room *int, s *step, now time.Time) bool {
	if !s.needsRoom(now) {
		return true
	}
	*room--
	return *room >= 0
}

// count tells how many bodies run, and how many steps could start now. At most max steps are kept.
func (t *steps) count(now time.Time, max int) (running, startable int) {
	room := t.room(max)
	for _, s := range t.open {
		switch {
		case s.dropped:
		case s.running:
			running++
		case !s.ended && !s.exhausted && s.due(now) && take(&room, s, now):
			startable++
		}
	}
	return running, startable
}

// nextDue is the earlier one of at and the time when a step is due; zero means never. A step for
// which there is no room is due when it runs out of time.
func (t *steps) nextDue(at, now time.Time, max int) time.Time {
	room := t.room(max)
	for _, s := range t.open {
		if !s.waits() {
			continue
		}
		due := s.nextAt
		if !take(&room, s, now) {
			if due = s.deadline(); due.IsZero() {
				continue
			}
		}
		if at.IsZero() || due.Before(at) {
			at = due
		}
	}
	return at
}

// attempts is what must survive this actor of steps that have failed, heartbeat, are exhausted, or
// have a given result: until its event is stored, for a step that had none would be executed.
func (t *steps) attempts() []journal.Attempt {
	var list []journal.Attempt
	for _, s := range t.open {
		if (!s.ended || s.given != nil) && !s.dropped && s.remembers() {
			list = append(list, journal.Attempt{
				Cmd: s.Cmd, Name: s.Name, Made: s.made, Earlier: s.earlier, Panics: s.panics,
				NextAt: s.nextAt, Failure: s.failure, Heartbeat: s.heartbeat, Exhausted: s.exhausted, Since: s.since, Given: s.given,
			})
		}
	}
	return list
}
