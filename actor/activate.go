package actor

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// onActivate takes a claimed task. If the actor is warm and nobody has committed since, it
// continues from where it stands: turn and generation prove that the machine is up to date.
func (r *run) onActivate(c *driver.Claimed, unconfirmed bool) {
	if r.info == nil || c.Run.ID != r.info.ID { // an actor without a run, or of another one that is gone
		*r = run{host: r.host, self: r.self, parent: r.parent, seen: r.seen, epoch: r.epoch, turn: r.turn}
	}
	if c.Task.Fence <= r.task.Fence { // delivered twice, or late: see driver.ClaimRequest.Reconcile
		r.host.released()
		r.advanceOrReport()
		return
	}
	if r.phase.owned() && !r.overtaken(c) {
		r.lose(journal.ErrFenced)
	}
	warm := r.machine != nil && r.task.Turn == c.Task.Turn && r.task.Generation == c.Task.Generation
	if warm {
		r.inputs.news = c.Task.InboxLast > r.inputs.got
	} else {
		r.discard(ErrRunLost)
		r.inputs.news = c.Task.InboxLast > 0
	}
	r.epoch++
	r.enter(ready)
	r.info, r.task, r.unconfirmed = &c.Run, c.Task, unconfirmed
	r.trouble.problem, r.trouble.stack = "", ""
	r.advance()
}

// overtaken tells whether the claim is of a task that this actor has just freed, and has overtaken
// the answer of the commit that freed it. Only the owner of a fence adds a turn under it, so the
// claim proves that the commit was written: its effect on this actor is made up for here, and the
// answer is ignored when it comes. Without this the run would count as lost, and be loaded again.
func (r *run) overtaken(c *driver.Claimed) bool {
	if !r.phase.inFlight() || c.Task.Fence != r.task.Fence+1 || c.Task.Turn != r.task.Turn+1 {
		return false
	}
	next := r.turn.commit.Next.Kind
	r.steps.drop(r.turn.drop, r.host.exec)
	r.enter(idle)
	r.uncommitted = nil
	r.task.Turn++
	if next != driver.NextPark || r.host.o.PassivateAlways {
		r.discard(ErrRunLost)
	}
	if next != driver.NextBlock {
		r.trouble.over()
	}
	r.host.released()
	return true
}
