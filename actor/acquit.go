package actor

import "github.com/reprise-run/reprise/journal/driver"

// onSurvived makes the next turn commit, although nothing may have happened. If a commit is in
// flight, it says the same. A run that is being loaded takes its turn after that.
func onSurvived(r *run) {
	if r.task.Strikes == 0 || !r.stalled.IsZero() || r.phase != ready && r.phase != loading {
		return
	}
	r.steps.dirty = true
	r.advance()
}

// acquit notes that a commit has wiped the strikes of a run out, and ends its trial.
func acquit(r *run) {
	if r.task.Strikes >= driver.SuspectStrikes && r.host.o.Hooks.Acquitted != nil {
		r.host.o.Hooks.Acquitted(r.info.ID)
	}
	r.task.Strikes = 0
	r.trial.stop()
}
