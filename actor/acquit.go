package actor

import (
	"github.com/reprise-run/reprise/journal/driver"
)

// tryRun begins the trial of a run whose last owners died: if this node lives for driver.TrialTime,
// the run has not killed it, and a commit says so by wiping its strikes out. Without that a run
// that executes one long step, and commits nothing meanwhile, would answer for what others do.
func tryRun(r *run) {
	if r.task.Strikes == 0 {
		return
	}
	epoch := r.epoch
	r.trial.set(driver.TrialTime, func() { r.host.send(r.self, survived{epoch: epoch}) })
}

// onSurvived makes the next turn commit, although nothing may have happened. If a commit is in
// flight, it says the same. A run that is being loaded takes its turn after that.
func onSurvived(r *run) {
	if r.task.Strikes == 0 || r.phase != ready && r.phase != loading {
		return
	}
	r.steps.dirty = true
	r.advance()
}
