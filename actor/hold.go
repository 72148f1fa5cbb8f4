package actor

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// A run that an operator pauses starts no step from the moment when its owner hears of it (J11).
//
// The owner hears of it from the store alone: a load and the outcome of a commit say in which state
// the task is. A pause makes the task visible, so the next claim asks the owner to look; a commit
// that was on its way then makes it invisible again, and its outcome tells instead. A run has a
// load or a commit in flight, never both, so the answers come in the order in which the store has
// seen the task, and the newest is true.
//
// From then on
//
//   - no attempt starts: those that wait for a slot are withdrawn, and those that wait for their
//     transaction called off; a retry that is due stays due. Bodies that are executed end, and
//     their outcomes are turns;
//   - no timer fires and no message is read: they wait for the resume. What the run has read before
//     is still taken;
//   - the run answers with its next commit, which it makes at once: it parks, or it holds the task
//     while attempts are executed.
//
// A run is on hold too while it is in a scope that is paused, see System.Pause.
//
// A step that may not be tried again may pause its run as well, see exhaust.go. The owner starts no
// step from the moment when it asks for that: the run may be paused before the answer is there.
//
// Timers may have stood still while the run was paused. How long is in what a load or a claim says
// of the run (journal.Freezes), and not in the outcome of a commit. So a run that hears of a resume
// fires no timer before it has loaded, and a machine that knows of other freezes is made anew: see
// renewMachine. A run that has not heard of its pause when that is over has lost nothing: the store
// forgets a freeze that its owner has not answered.
//
// A resume makes the task visible too, and is heard in the same way. If it overtakes the answer, a
// run that is kept stays as it is, and the outcome says so; one that parks is visible, so that
// somebody claims it and looks.

// onHold tells whether the run is paused or to be paused, or in a scope that is, as far as its
// owner knows.
func onHold(r *run) bool { return r.task.State.OnHold() || r.paused != nil }

// unanswered tells whether the store waits for the owner's answer to a pause.
func unanswered(r *run) bool { return r.task.State > journal.Paused }

// renew gives the exhausted steps of a run that was resumed a new set of attempts.
func renew(r *run) {
	if !onHold(r) {
		r.steps.renew(r.now())
	}
}

// hear takes in what the store says of the task.
func hear(r *run, state journal.TaskState) {
	held := onHold(r)
	r.task.State = state
	takeHold(r, held)
}

// takeHold holds the run, or lets it go on if it was held.
func takeHold(r *run, held bool) {
	if !onHold(r) {
		r.inputs.news = r.inputs.news || held
		r.unthawed = r.unthawed || held
		renew(r)
		return
	}
	startNone(r, r.task.State == journal.Interrupting || r.paused != nil && r.paused.Interrupts)
}

// startNone keeps attempts from starting whose bodies have not been called, and interrupts the
// others if that is asked for.
func startNone(r *run, interrupts bool) {
	withdraw(r)
	for _, s := range r.steps.open {
		if s.running && !s.attempt.callOff(ErrPaused) && interrupts {
			s.interrupt(ErrPaused)
		}
	}
}

// lookForPause takes in which pause of a scope the run is in, if any.
func lookForPause(r *run) {
	held := onHold(r)
	r.paused = r.host.pauses.inScope(r.info)
	takeHold(r, held)
}

// noteFreezes takes in how long the timers of the run stood still, by what a load says.
func noteFreezes(r *run, freezes journal.Freezes) {
	r.unthawed = false
	if !freezes.Equal(r.info.Freezes) {
		info := *r.info // attempts and hooks may hold the one before
		info.Freezes = freezes
		r.info = &info
	}
}

// renewMachine gives up a machine that does not know how long the run's timers stood still, unless
// the run is on hold: then no timer fires, and there will be more to know. Attempts go on, as the
// machine that follows adopts them.
func renewMachine(r *run) {
	if r.machine != nil && !onHold(r) && !replay.Freezes(r.machine).Equal(r.info.Freezes) {
		r.machine.Close()
		r.machine = nil
	}
}
