package actor

// onSurvived makes the next turn commit, although nothing may have happened. If a commit is in
// flight, it says the same. A run that is being loaded takes its turn after that.
func onSurvived(r *run) {
	if r.task.Strikes == 0 || !r.stalled.IsZero() || r.phase != ready && r.phase != loading {
		return
	}
	r.steps.dirty = true
	r.advance()
}
