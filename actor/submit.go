package actor

import (
	"github.com/reprise-run/reprise/journal/driver"
)

// submit gives the turn to the store. to is the phase in which the run waits for the outcome.
func (r *run) submit(t *turn, to phase) {
	c := &t.commit
	c.Run, c.Node, c.Generation = r.info.ID, r.host.o.Node, r.task.Generation
	c.Fence, c.Turn, c.Head = r.task.Fence, r.task.Turn, r.head // what the journal compares before it writes anything (J3)
	if to == blocking && r.trouble.blind {
		c.Head.Link = 0
	}
	c.AppendOnly = appendOnly(r, c)
	r.enter(to)
	r.steps.dirty = false
	r.alarm.stop()
	if c.Pause != "" {
		startNone(r, false)
	}
	// The answer comes on another goroutine, when this actor may serve another run.
	host, self, answer := r.host, r.self, &committed{epoch: r.epoch}
	host.o.Store.Submit(t.commit, func(o driver.Outcome) {
		answer.err, answer.inboxLast, answer.state = o.Err, o.InboxLast, o.State
		host.send(self, answer)
	})
}

// appendOnly tells whether the commit does nothing but add events, see driver.Commit.AppendOnly.
// Attempts are equal if neither the task nor the commit has any: nearly always.
func appendOnly(r *run, c *driver.Commit) bool {
	return r.proved && c.Next.Kind == driver.NextKeep && !c.Hold && len(c.Events) > 0 && len(c.Consumed) == 0 && c.Tx == nil && !c.HasEffects() &&
		len(c.Attempts) == 0 && len(r.task.Attempts) == 0
}

// submitBlock frees the task of a run that cannot continue, until its next attempt is due. The
// stored attempts of its steps stay as they are, see driver.Commit. If the commit fails it is
// submitted again after a while: if the node forgot a run that it owns, nobody would look at the
// run again while the node lives.
func (r *run) submitBlock() {
	delay := r.trouble.next(r.now(), r.host.o.WarmIdle)
	t := r.turn.reset()
	t.commit.Next = driver.Next{Kind: driver.NextBlock, At: r.now().Add(delay), Problem: r.trouble.problem}
	if r.host.o.Hooks.Blocked != nil {
		r.host.o.Hooks.Blocked(r.info, r.trouble.problem, r.trouble.stack, delay)
	}
	r.trouble.stack = "" // it is reported once, the commit may be repeated
	r.submit(t, blocking)
}
