package actor

// Interrupt gives up every run that executes a step, and keeps further steps from starting until
// Resume: the node cannot tell any more whether its runs are still its own, and others may be about
// to take them. The contexts of the steps end with ErrRunLost, so their attempts do not count.
// cause is reported to Hooks.Lost. What the store still gives to this node afterwards is astray,
// see Compare, and is claimed anew.
func (s *System) Interrupt(cause error) {
	s.silent.Store(true)
	s.toAllShards(interrupt{cause: cause})
}

// Resume lets steps start again.
func (s *System) Resume() {
	s.silent.Store(false)
	s.toAllShards(interrupt{})
}

// onInterrupt gives up the run if it executes a step. One that only waits for the store may go on:
// its next commit proves its owner, and nothing that it does meanwhile shows. After Resume it
// starts what is due.
func onInterrupt(r *run, cause error) {
	if !r.phase.owned() {
		r.reportIdle()
		return
	}
	if running, _ := r.steps.count(r.now(), r.host.o.attemptsMax); cause != nil && running > 0 {
		r.giveUp(cause)
		return
	}
	if r.phase == ready {
		r.startDue()
	}
	r.advance()
}

// onPausesChanged lets a run that is live here hold, or go on.
func onPausesChanged(r *run) {
	if !r.phase.owned() {
		r.reportIdle()
		return
	}
	lookForPause(r)
	r.advance()
}
