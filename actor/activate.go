package actor

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// onActivate takes a claimed task. If the actor is warm and the task was freed in the state that
// the machine has, it continues from where it stands: the link proves that, whatever the store has
// been through since, and numbers would not. It proves how far the inbox was read too, see
// staysWarm. It does not prove how often steps were tried: an owner between may have tried them,
// and have parked the run without an event. So that is always what the claim says.
//
// A claim that was told twice is recognised by its fence, which no other claim has. A smaller fence
// is no sign of that: a store that went back in time counts from there again. But an unconfirmed
// claim may be older than the one that the run lives by, and then says nothing. An idle run takes
// an unconfirmed claim under its last fence: the store may have gone back to before it was freed,
// and if it has not, the load finds another owner or none.
func (r *run) onActivate(m *activate) {
	c, unconfirmed := m.claimed, m.unconfirmed
	if r.info == nil || c.Run.ID != r.info.ID { // an actor without a run, or of another one that is gone
		*r = run{host: r.host, self: r.self, parent: r.parent, seen: r.seen, epoch: r.epoch, turn: r.turn}
	}
	owned := r.phase.owned()
	outdated := unconfirmed && owned && c.Task.Fence < r.task.Fence
	if outdated || c.Task.Fence == r.task.Fence && (owned || !unconfirmed) { // told twice: see driver.ClaimRequest.Reconcile
		m.newcomer.leave()
		r.host.released()
		r.advanceOrReport()
		return
	}
	if owned && !r.overtaken(c) {
		r.lose(journal.ErrFenced)
	}
	warm := r.machine != nil && c.Task.Link != 0 && r.head.Link == c.Task.Link && r.task.Generation == c.Task.Generation
	if warm {
		r.inputs.news = c.Task.InboxLast > r.inputs.got
		r.steps.recall(c.Task.Attempts)
	} else {
		r.discard(ErrRunLost)
		r.head = journal.Head{}
		r.inputs.news = c.Task.InboxLast > 0
	}
	r.epoch++
	r.enter(ready)
	r.info, r.task, r.unconfirmed, r.apart = &c.Run, c.Task, unconfirmed, c.Apart
	r.changed, r.proved = time.Now(), false
	r.newcomer, r.since, r.worked, r.rest, r.stalled = m.newcomer, r.changed, false, time.Time{}, time.Time{}
	r.trouble.problem, r.trouble.stack = "", ""
	r.unthawed = false // the claim says it
	lookForPause(r)
	renewMachine(r)
	if c.Run.Unreadable != nil { // warm or not: what stands in the row is newer than memory
		r.fail(c.Run.Unreadable)
	} else {
		tryRun(r)
	}
	r.advance()
}

// overtaken tells whether the claim is of a task that this actor has just freed, and has overtaken
// the answer of the commit that freed it. The task carries the link that this commit left, and the
// claim is the next one, so the claim proves that the commit was written: its effect on this actor
// is made up for here, and the answer is ignored when it comes. Without this the run would count as
// lost, and be loaded again.
func (r *run) overtaken(c *driver.Claimed) bool {
	commit := &r.turn.commit
	if !r.phase.inFlight() || c.Task.Fence.Count() != r.task.Fence.Count()+1 || c.Task.Turn != r.task.Turn+1 ||
		c.Task.Link != commit.NewHead().Link {
		return false
	}
	next := commit.Next.Kind
	r.head = commit.NewHead()
	r.turn.settle()
	r.steps.drop(r.turn.drop, r.host.exec)
	r.enter(idle)
	r.uncommitted = nil
	r.task.Turn++
	if next != driver.NextPark || !staysWarm(r) {
		r.discard(ErrRunLost)
	}
	if next != driver.NextBlock {
		r.trouble.over()
	}
	r.host.released()
	return true
}
