package actor

import "time"

// advance continues as far as it can without waiting: it blocks a failed run, loads a run without a
// machine, reads new messages, takes turns. A message that finds something in flight changes
// nothing here; the answer that is awaited will advance the run.
//
// A run that never committed and has no messages has nothing to load: its start row came with the
// activation. If that is unconfirmed, the load is needed all the same, to learn whether the run is
// still ours, and if the claim had no room for all of the row. A full turn's worth of inputs is
// taken before more messages are read, because the inbox may be larger than memory. A step that has
// borrowed the store keeps the turns of its run waiting until its attempt has ended.
func (r *run) advance() {
	for {
		switch {
		case r.phase == failed:
			if rest := time.Until(r.trouble.until); rest > 0 {
				r.wakeIn(rest)
				return
			}
			r.submitBlock()
		case r.phase != ready:
			return
		case r.apart > 0:
			r.load(r.machine != nil)
		case r.machine == nil && r.task.Turn == 0 && !r.inputs.news && !r.unconfirmed:
			r.rebuild()
		case r.machine == nil:
			r.load(false)
		case r.inputs.news && !r.inputs.full():
			r.load(true)
		case lends(r):
			return
		case !r.takeTurn():
			return
		}
	}
}

// advanceOrReport handles a message from the shard that has no meaning for an idle run. If the node
// owns the run, it advances. If not, it reports idle again: the last report may have crossed this
// message, and the shard ignores a report whose seen is too low.
func (r *run) advanceOrReport() {
	if r.phase.owned() {
		r.advance()
	} else {
		r.reportIdle()
	}
}
