package actor

// A step's transaction may keep all other writes of the store waiting while it is open, see
// driver.ExclusiveTx. The turns of its own run are among them, and one of them has to end it. If
// another one were in flight when the body returns, neither could go on: the turn waits for the
// transaction, and the transaction for the turn.
//
// So before its first statement the attempt asks its run. The run says yes when nothing of it is in
// flight, and takes no turn from then on until the attempt has answered. Then the turn that commits
// the transaction is the next one: the outcome goes to the front of the inputs, and no timer goes
// before it. Nobody loses by that, since the store would write no turn meanwhile. Attempts of one
// run that ask at once get it one after the other; the second would else keep the turn waiting that
// ends the first.
//
// A run that gives up the attempt says so by the handoff.

// lends tells whether turns have to wait for an attempt, after it has said yes to one that asks. It
// is called when nothing is in flight.
func lends(r *run) bool {
	if r.inputs.borrowed() {
		return false
	}
	var asks *step
	for _, s := range r.steps.open {
		switch {
		case s.borrows:
			if s.asks != nil { // its first statement was given up before it had an answer
				close(s.asks)
				s.asks = nil
			}
			return true
		case s.asks != nil && asks == nil:
			asks = s
		}
	}
	if asks == nil {
		return false
	}
	close(asks.asks)
	asks.asks, asks.borrows = nil, true
	return true
}
